// Everything that the fake knows. Each part of the API reads and changes this one value.
import type { WorldClock } from './clock.ts'

export interface Host {
  name: string
  hypervisorHostname: string
  /** of the hypervisor and of its resource provider */
  id: string
  serviceId: string | null
  /** nova-compute runs and reports */
  alive: boolean
  status: 'enabled' | 'disabled'
  disabledReason: string | null
  forcedDown: boolean
  updatedMs: number
  capacity: Resources
  /** how long a live move away from here takes */
  liveMoveMs: number
  liveMoveFails: boolean
  /** live moves away from here at a time; the others queue. Nova's default is 1, 0 means no limit */
  liveMoveLimit: number
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
  groups?: string[]
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

/** How long things take, in milliseconds. */
export interface Pace {
  schedule: number
  build: number
  /** stop, start, reboot, suspend, … */
  power: number
  coldMove: number
  evacuate: number
  /** between a server's arrival and the end of its migration record */
  settle: number
  remove: number
  /** until a running agent makes a deleted provider anew */
  audit: number
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
  providers: Map<string, ProviderRecord>
  traits: Set<string>
  consumers: Map<string, Consumer>
  images: { id: string; name: string }[]
  networks: { id: string; name: string; projectId: string; shared: boolean }[]
  counters: { instance: number; migration: number; aggregate: number }
}

export const quickPace: Pace = {
  schedule: 5,
  build: 10,
  power: 5,
  coldMove: 20,
  evacuate: 20,
  settle: 5,
  remove: 5,
  audit: 60_000
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
    providers: new Map(),
    traits: new Set(standardTraits),
    consumers: new Map(),
    images: [],
    networks: [],
    counters: { instance: 0, migration: 0, aggregate: 0 }
  }
}
