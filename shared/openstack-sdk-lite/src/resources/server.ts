// A server as Nova shows it. What a service may leave out is null, never undefined.
import {
  child,
  childOrNull,
  dictionary,
  flagOrNull,
  number,
  numberOrNull,
  type Row,
  rows,
  text,
  textOrNull,
  texts
} from '../decode.ts'

export interface Server {
  id: string
  name: string | null
  /** ACTIVE, SHUTOFF, MIGRATING, VERIFY_RESIZE, ERROR, …; UNKNOWN when its cell does not answer */
  status: string
  vmState: string | null
  taskState: string | null
  /** 0 none, 1 running, 3 paused, 4 shut down, 6 crashed, 7 suspended */
  powerState: number | null
  /** the compute service it lives on; null means unknown or nowhere, never "elsewhere" */
  host: string | null
  hypervisorHostname: string | null
  instanceName: string | null
  zone: string | null
  projectId: string | null
  userId: string | null
  created: string | null
  updated: string | null
  launchedAt: string | null
  flavor: ServerFlavor | null
  imageId: string | null
  metadata: Record<string, string>
  tags: string[]
  /** anti-affinity and affinity groups; only shown for a single server */
  groups: string[]
  volumes: string[]
  locked: boolean | null
  hostStatus: string | null
  fault: ServerFault | null
  /** its cell is down: only id, status and a few more fields are known */
  partial: boolean
}

export interface ServerFlavor {
  name: string
  vcpus: number
  ramMiB: number
  diskGiB: number
  extraSpecs: Record<string, string>
}

export interface ServerFault {
  code: number
  message: string
  created: string | null
}

export function decodeServer(from: Row): Server {
  const has = (key: string): boolean => from[key] !== undefined
  const image = typeof from['image'] === 'object' ? childOrNull(from, 'image') : null // "" for a server that boots from a volume
  return {
    id: text(from, 'id'),
    name: textOrNull(from, 'name'),
    status: text(from, 'status'),
    vmState: textOrNull(from, 'OS-EXT-STS:vm_state'),
    taskState: textOrNull(from, 'OS-EXT-STS:task_state'),
    powerState: numberOrNull(from, 'OS-EXT-STS:power_state'),
    host: textOrNull(from, 'OS-EXT-SRV-ATTR:host') || null,
    hypervisorHostname: textOrNull(from, 'OS-EXT-SRV-ATTR:hypervisor_hostname') || null,
    instanceName: textOrNull(from, 'OS-EXT-SRV-ATTR:instance_name'),
    zone: textOrNull(from, 'OS-EXT-AZ:availability_zone') || null,
    projectId: textOrNull(from, 'tenant_id'),
    userId: textOrNull(from, 'user_id'),
    created: textOrNull(from, 'created'),
    updated: textOrNull(from, 'updated'),
    launchedAt: textOrNull(from, 'OS-SRV-USG:launched_at'),
    flavor: has('flavor') ? decodeFlavor(child(from, 'flavor')) : null,
    imageId: image && text(image, 'id'),
    metadata: has('metadata') ? dictionary(from, 'metadata', text) : {},
    tags: has('tags') ? texts(from, 'tags') : [],
    groups: has('server_groups') ? texts(from, 'server_groups') : [],
    volumes: has('os-extended-volumes:volumes_attached')
      ? rows(from, 'os-extended-volumes:volumes_attached').map(v => text(v, 'id'))
      : [],
    locked: flagOrNull(from, 'locked'),
    hostStatus: textOrNull(from, 'host_status'),
    fault: has('fault') ? decodeFault(child(from, 'fault')) : null,
    partial: !has('OS-EXT-STS:vm_state')
  }
}

const decodeFlavor = (from: Row): ServerFlavor => ({
  name: text(from, 'original_name'),
  vcpus: number(from, 'vcpus'),
  ramMiB: number(from, 'ram'),
  diskGiB: number(from, 'disk'),
  extraSpecs: from['extra_specs'] === undefined ? {} : dictionary(from, 'extra_specs', text) // hidden from those who may not see them
})

const decodeFault = (from: Row): ServerFault => ({
  code: number(from, 'code'),
  message: text(from, 'message'),
  created: textOrNull(from, 'created')
})
