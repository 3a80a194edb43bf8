// Everything that the fake knows. Each part of the API reads and changes this one value.
import type { WorldClock } from './clock.ts'
import type { Pace } from './pace.ts'

export interface Host {
  name: string
  hypervisorHostname: string
  /** of the hypervisor and of its resource provider */
  id: string
  serviceId: string | null
  /** nova-compute runs and reports */
  alive: boolean
  /** counts the starts and ends of nova-compute: what one had begun, the next does not go on with */
  run: number
  startedMs: number
  /** the last report of a nova-compute that is dead */
  reportedMs: number
  /** what was cast to a dead nova-compute: RabbitMQ keeps it for the next */
  inbox: (() => void)[]
  status: 'enabled' | 'disabled'
  disabledReason: string | null
  forcedDown: boolean
  /** the last change through the API; a report is newer most of the time */
  updatedMs: number
  capacity: Resources
  /** how long a live move away from here takes */
  liveMoveMs: number
  liveMoveFails: boolean
  /** live moves away from here at a time; the others queue. Nova's default is 1, 0 means no limit */
  liveMoveLimit: number
  /** the call that sets COMPUTE_STATUS_DISABLED gets lost; the next audit of nova-compute makes it good */
  traitCallFails: boolean
  /** the scheduler sees room, nova-compute finds none: somebody else was faster */
  claimsFail: boolean
  /** libvirt refuses to abort a move or to force it to its end */
  movesObeyNobody: boolean
}

export interface Resources {
  VCPU: number
  MEMORY_MB: number
  DISK_GB: number
}

export interface Flavor {
  id: string
  name: string
  vcpus: number
  ramMiB: number
  diskGiB: number
  requiredTraits: string[]
}

export interface Instance {
  id: string
  number: number
  name: string
  projectId: string
  userId: string
  flavor: Flavor
  imageId: string | null
  /** the zone it was asked for; moves stay inside it */
  zone: string | null
  metadata: Record<string, string>
  vmState: string
  taskState: string | null
  powerState: number
  host: string | null
  locked: boolean
  /** server groups that it is a member of */
  groups: string[]
  createdMs: number
  updatedMs: number
  launchedMs: number | null
  fault: { message: string; createdMs: number } | null
  console: string[]
  actions: ActionRecord[]
  /** its cell does not answer: only a few fields are shown */
  cellDown: boolean
}

export interface ActionRecord {
  requestId: string
  action: string
  userId: string | null
  projectId: string
  startedMs: number
  updatedMs: number
  message: string | null
  steps: StepRecord[]
}

export interface StepRecord {
  event: string
  result: 'Success' | 'Error' | null
  host: string
  details: string | null
  startedMs: number
  finishedMs: number | null
}

export interface MigrationRecord {
  id: number
  uuid: string
  instance: Instance
  type: 'live-migration' | 'migration' | 'evacuation'
  status: string
  source: string
  target: string | null
  createdMs: number
  updatedMs: number | null
  runningSinceMs: number | null
}

export interface ServerGroup {
  id: string
  name: string
  policy: string
}

export interface AggregateRecord {
  id: number
  uuid: string
  name: string
  hosts: string[]
  metadata: Record<string, string>
  createdMs: number
}

export interface InventoryRecord {
  total: number
  reserved: number
  min_unit: number
  max_unit: number
  step_size: number
  allocation_ratio: number
}

export interface ProviderRecord {
  id: string
  name: string
  generation: number
  traits: Set<string>
  inventories: Map<string, InventoryRecord>
  /** the sum of what consumers take, by resource class */
  used: Map<string, number>
}

export interface Consumer {
  projectId: string
  userId: string
  type: string
  generation: number
  /** by provider */
  allocations: Map<string, ReadonlyMap<string, number>>
}

export interface Person {
  userId: string
  projectId: string
}

export interface World {
  clock: WorldClock
  /** Told of every server that may have changed: its place, its state, a move of it. For a simulator of what runs below Nova. */
  watchers: Set<(instance: Instance) => void>
  newId: () => string
  pace: Pace
  hosts: Map<string, Host>
  flavors: Map<string, Flavor>
  instances: Map<string, Instance>
  /** what became of servers that are gone, as Nova keeps it */
  deleted: Map<string, Instance>
  migrations: MigrationRecord[]
  aggregates: AggregateRecord[]
  groups: Map<string, ServerGroup>
  providers: Map<string, ProviderRecord>
  traits: Set<string>
  consumers: Map<string, Consumer>
  images: { id: string; name: string }[]
  networks: { id: string; name: string; projectId: string; shared: boolean }[]
  counters: { instance: number; migration: number; aggregate: number }
}

export const smallFlavor: Flavor = { id: '1', name: 'm1.fake', vcpus: 1, ramMiB: 64, diskGiB: 1, requiredTraits: [] }

const standardTraits = [
  'COMPUTE_NODE',
  'COMPUTE_STATUS_DISABLED',
  'COMPUTE_TRUSTED_CERTS',
  'COMPUTE_VOLUME_EXTEND',
  'HW_CPU_X86_VMX',
  'HW_CPU_X86_AVX2'
]

export function createWorld(clock: WorldClock, newId: () => string, pace: Pace): World {
  return {
    clock,
    watchers: new Set(),
    newId,
    pace,
    hosts: new Map(),
    flavors: new Map([[smallFlavor.id, smallFlavor]]),
    instances: new Map(),
    deleted: new Map(),
    migrations: [],
    aggregates: [],
    groups: new Map(),
    providers: new Map(),
    traits: new Set(standardTraits),
    consumers: new Map(),
    images: [],
    networks: [],
    counters: { instance: 0, migration: 0, aggregate: 0 }
  }
}
