// Everything that a decision needs, read anew: the objects of the host, Nova for the servers that are due, the fleet when many fail at once.
import { OpenStackError, type Server } from 'openstack-sdk-lite'
import { isTrue } from '../../shared/kube/conditions.ts'
import type { Kube } from '../../shared/kube/connect.ts'
import { KubeError } from '../../shared/kube/errors.ts'
import { Node } from '../../shared/kube/kinds.ts'
import { isObserved } from '../../shared/kube/observe.ts'
import type { Cloud } from '../../shared/openstack/connect.ts'
import { novaHost } from '../../shared/openstack/host.ts'
import { whole } from '../../shared/openstack/host-function.ts'
import type { Listings } from '../../shared/openstack/listings.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { OVSNode } from '../../shared/schema/ovs-node.ts'
import { lastAsked } from './attempts.ts'
import { maybeUnfinished } from './requests.ts'
import { mayCorrelate } from './correlate.ts'
import { dueServers, incidentsOf, selfOf } from './decide.ts'
import type { Fleet } from './fleet.ts'
import type { Policy } from './policy.ts'
import type { Heard } from './heard.ts'
import type { Evidence, Incident, NodeView, Parts, Seen } from './seen.ts'
import { signalsOf } from './signals.ts'

export interface Eyes {
  kube: Kube
  cloud: Cloud
  listings: Listings
  ovsNamespace: string
  observe: boolean
  policy: () => Promise<Policy>
  /** one reading serves all hosts of a storm */
  fleet: () => Promise<Fleet>
}

const atOnce = 8

/** Without Nova it is quick, whatever state Nova is in: enough to write down what was heard. */
export async function look(
  name: string,
  heard: readonly Heard[],
  nowMs: number,
  eyes: Eyes,
  { nova = true, parts }: { nova?: boolean; parts?: Parts | undefined } = {}
): Promise<Seen | undefined> {
  const read = parts ?? (await partsOf(name, eyes))
  if (!read) return undefined
  const first: Seen = {
    ...read,
    heard,
    nova,
    askedMs: nowMs,
    evidence: new Map(),
    outage: undefined,
    service: undefined,
    fleet: [],
    policy: await eyes.policy(),
    observed: isObserved(read.hypervisor, eyes)
  }
  const fleet = await fleetFor(first, nowMs, eyes)
  return { ...first, fleet, ...(nova && (await askNova({ ...first, fleet }, nowMs, eyes))) }
}

async function partsOf(name: string, { kube, ovsNamespace }: Eyes): Promise<Parts | undefined> {
  const [found, ovsNode, node] = await Promise.all([
    kube.find(Hypervisor, name),
    kube.find(OVSNode, name, ovsNamespace).catch(ifNoSuchKind),
    kube.find(Node, name)
  ])
  if (!found) return undefined
  const hypervisor = whole(found)
  const ref = hypervisor.status?.ha?.evictionRef?.name
  const eviction = ref === undefined ? undefined : await kube.find(Eviction, ref)
  return { hypervisor, ovsNode, node: node && nodeView(node), eviction }
}

/** Written by somebody else meanwhile: the object anew, what Nova said stays. */
export async function lookAgainAt(seen: Seen, { kube }: Pick<Eyes, 'kube'>): Promise<Seen | undefined> {
  const found = await kube.find(Hypervisor, seen.hypervisor.metadata.name)
  return found && { ...seen, hypervisor: whole(found) }
}

/** A cluster without Open vSwitch needs no OVSNode. */
function ifNoSuchKind(error: unknown): undefined {
  if (!(error instanceof KubeError && error.code === 'NotFound')) throw error
}

export function nodeView(node: Node): NodeView {
  const conditions = (node as { status?: { conditions?: { type: string; status: string; lastTransitionTime?: string }[] } })
    .status?.conditions
  const ready = conditions?.find(({ type }) => type === 'Ready')
  const pressed = conditions?.find(({ type, status }) => /^(Disk|Memory|PID)Pressure$/.test(type) && status === 'True')
  return {
    ready: ready && ready.status === 'True',
    since: ready?.lastTransitionTime,
    pressure: pressed && { type: pressed.type, since: pressed.lastTransitionTime ?? '' }
  }
}

async function fleetFor(seen: Seen, nowMs: number, { fleet }: Eyes): Promise<Fleet> {
  const { ovsNode, policy } = seen
  const cutOff = ovsNode?.status?.issues?.some(({ type }) => type === 'OvnControllerDisconnected') ?? false
  return cutOff || mayCorrelate(selfOf(seen, incidentsOf(seen, nowMs)), policy, nowMs) ? fleet() : []
}

/** An outage of Nova is no failure of ours: what it would have said is waited for. */
async function askNova(seen: Seen, nowMs: number, eyes: Eyes): Promise<Pick<Seen, 'evidence' | 'outage' | 'service'>> {
  const due = dueServers(seen, nowMs)
  const evidence = new Map<string, Evidence>()
  try {
    const listed = await serversOf(seen, due, eyes)
    const waiting = due.values()
    const worker = async (): Promise<void> => {
      for (const incident of waiting) {
        const server = listed.get(incident.server) ?? (await eyes.cloud.servers.get(incident.server))
        evidence.set(incident.server, await evidenceOf(incident, server, seen.policy, eyes.cloud))
      }
    }
    await Promise.all(Array.from({ length: Math.min(atOnce, due.length) }, worker))
    return { evidence, outage: undefined, service: await serviceOf(seen, nowMs, eyes) }
  } catch (err) {
    if (!(err instanceof OpenStackError)) throw err
    return { evidence, outage: err.words ?? err.code, service: undefined }
  }
}

const many = 8

/** Of many at once one request asks for all; who is not among them was moved or deleted, and is asked for alone. */
async function serversOf({ hypervisor }: Seen, due: readonly Incident[], { cloud }: Eyes): Promise<ReadonlyMap<string, Server>> {
  const host = novaHost(hypervisor)
  if (due.length < many || host === undefined) return new Map()
  const found = await cloud.servers.list({ host, allProjects: true })
  return new Map(found.map(server => [server.id, server]))
}

async function evidenceOf(
  incident: Incident,
  server: Server | undefined,
  policy: Policy,
  { instanceActions }: Cloud
): Promise<Evidence> {
  const { server: id } = incident
  if (!server) return { server, actions: [], steps: new Map() }
  const actions = await instanceActions.list(id)
  const last = lastAsked(incident, actions, policy)
  const failed = last && last.message !== null ? [last] : []
  const steps = await Promise.all(
    [...maybeUnfinished(incident, actions, policy), ...failed].map(
      async ({ requestId }) => [requestId, (await instanceActions.get(id, requestId)).steps] as const
    )
  )
  return { server, actions, steps: new Map(steps) }
}

/** Asked for only when a signal is there, or was: most looks are about a server. */
async function serviceOf(seen: Seen, nowMs: number, { listings }: Eyes): Promise<Seen['service']> {
  const { hypervisor } = seen
  const { state } = hypervisor.status?.ha ?? {}
  const concerned =
    state === 'Unschedulable' || state === 'Healing' || signalsOf(seen, [], nowMs).length > 0 || seen.fleet.length > 0
  const host = novaHost(hypervisor)
  if (!concerned || host === undefined || isTrue(hypervisor, 'Onboarding')) return undefined
  const { serviceId } = hypervisor.status ?? {}
  const all = await listings.services()
  return all.find(({ id }) => id === serviceId) ?? all.find(service => service.host === host)
}
