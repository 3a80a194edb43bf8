// Where servers are that were on the host before.
import { type Cloud, OpenStackError, type Server } from 'openstack-sdk-lite'
import { atMost } from './at-most.ts'

export interface Wanted {
  id: string
  /** where its move went, by Nova's record */
  target: string | undefined
}

const parallel = 8

/** Several that went to one host are read in one listing of it (EV-14: no call for each server); the rest one by one. Undefined: 404. */
export async function whereabouts(wanted: readonly Wanted[], cloud: Cloud): Promise<Map<string, Server | undefined>> {
  const targets = Map.groupBy(wanted, ({ target }) => target)
  const shared = [...targets].flatMap(([target, some]) => (target !== undefined && some.length > 1 ? [target] : []))
  const listed = (await atMost(parallel, shared, target => onTarget(target, cloud))).flat()
  const found = new Map<string, Server | undefined>()
  const ids = new Set(wanted.map(({ id }) => id))
  for (const server of listed) if (ids.has(server.id)) found.set(server.id, server)
  const rest = wanted.filter(({ id }) => !found.has(id))
  for (const [id, server] of await atMost(parallel, rest, async ({ id }) => [id, await one(id, cloud)] as const))
    found.set(id, server)
  return found
}

/** A listing that fails tells nothing of anybody: each is then asked for itself. */
async function onTarget(host: string, { servers }: Cloud): Promise<Server[]> {
  try {
    return await servers.list({ host, allProjects: true })
  } catch (err) {
    if (!(err instanceof OpenStackError)) throw err
    return []
  }
}

/** EV-9: one server that Nova cannot show is unknown, and holds up nobody else. */
async function one(id: string, { servers }: Cloud): Promise<Server | undefined> {
  try {
    return await servers.get(id)
  } catch (err) {
    if (!(err instanceof OpenStackError)) throw err
    return { ...nobody, id }
  }
}

const nobody: Omit<Server, 'id'> = {
  name: null,
  status: 'UNKNOWN',
  vmState: null,
  taskState: null,
  powerState: null,
  host: null,
  hypervisorHostname: null,
  instanceName: null,
  zone: null,
  projectId: null,
  userId: null,
  created: null,
  updated: null,
  launchedAt: null,
  flavor: null,
  imageId: null,
  metadata: {},
  tags: [],
  groups: [],
  volumes: [],
  locked: null,
  hostStatus: null,
  fault: null,
  partial: true
}
