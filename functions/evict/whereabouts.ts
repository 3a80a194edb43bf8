import { type Cloud, OpenStackError, type Server } from 'openstack-sdk-lite'

/** EV-9: one server that Nova cannot show is unknown, and holds up nobody else. */
export async function whereabouts(id: string, { servers }: Cloud): Promise<Server | undefined> {
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
