// Servers: their life, their states and the record of what was done to them.
import { chooseHost } from './hosts.ts'
import { allocate, needs, release } from './placement.ts'
import type { ActionRecord, Flavor, Host, Instance, Person, StepRecord, World } from './world.ts'

export type NewInstance = { name: string; flavor: Flavor } & Person &
  Partial<Pick<Instance, 'id' | 'imageId' | 'zone' | 'metadata' | 'vmState' | 'powerState'>>

export function createInstance(world: World, given: NewInstance): Instance {
  const now = world.clock.now()
  const instance: Instance = {
    id: world.newId(),
    number: ++world.counters.instance,
    imageId: null,
    zone: null,
    metadata: {},
    vmState: 'building',
    taskState: 'scheduling',
    powerState: 0,
    host: null,
    locked: false,
    createdMs: now,
    updatedMs: now,
    launchedMs: null,
    fault: null,
    console: ['FAKE CONSOLE OUTPUT', `${given.name} login:`, 'LAST LINE'],
    actions: [],
    cellDown: false,
    ...given
  }
  world.instances.set(instance.id, instance)
  return instance
}

/** Puts a server on a host as if it had been there for long. */
export function settleInstance(world: World, instance: Instance, host: Host): void {
  place(world, instance, host)
  Object.assign(instance, { vmState: 'active', taskState: null, powerState: 1, launchedMs: world.clock.now() })
  tell(world, instance)
}

export function place(world: World, instance: Instance, host: Host): void {
  instance.host = host.name
  allocate(world, instance.id, instance, new Map([[host.id, needs(instance.flavor)]]))
}

/** Finds a host and builds the server there; `pinned` asks no scheduler but, as in Nova, still needs an enabled service. */
export function build(world: World, instance: Instance, wanted: string | null, requestId: string): void {
  const action = beginAction(world, instance, 'create', requestId)
  world.clock.after(world.pace.schedule, () => {
    const host = chooseHost(world, instance, wanted)
    if (!host) return failBuild(world, instance, action)
    place(world, instance, host)
    instance.taskState = 'spawning'
    world.clock.after(world.pace.build, () => {
      if (!world.instances.has(instance.id)) return
      Object.assign(instance, { vmState: 'active', taskState: null, powerState: 1, launchedMs: world.clock.now() })
      touch(world, instance)
      step(world, action, 'compute__do_build_and_run_instance', host.name)
    })
  })
}

function failBuild(world: World, instance: Instance, action: ActionRecord): void {
  const message = 'No valid host was found. '
  Object.assign(instance, { vmState: 'error', taskState: null, fault: { message, createdMs: world.clock.now() } })
  touch(world, instance)
  step(world, action, 'conductor_schedule_and_build_instances', 'controller', message)
}

export function removeInstance(world: World, instance: Instance, requestId: string): void {
  beginAction(world, instance, 'delete', requestId)
  instance.taskState = 'deleting'
  world.clock.after(instance.host === null ? 0 : world.pace.remove, () => {
    world.instances.delete(instance.id)
    world.deleted.set(instance.id, instance)
    world.migrations = world.migrations.filter(record => record.instance !== instance) // Nova hides a deleted server's records
    release(world, instance.id)
    instance.host = null
    tell(world, instance)
  })
}

export function touch(world: World, instance: Instance): void {
  instance.updatedMs = world.clock.now()
  tell(world, instance)
}

export function tell(world: World, instance: Instance): void {
  for (const watcher of world.watchers) watcher(instance)
}

export function beginAction(
  world: World,
  { actions, projectId, userId }: Instance,
  action: string,
  requestId: string
): ActionRecord {
  const now = world.clock.now()
  const record: ActionRecord = { requestId, action, userId, projectId, startedMs: now, updatedMs: now, message: null, steps: [] }
  actions.unshift(record) // the newest first, as Nova lists them
  return record
}

export function step(world: World, action: ActionRecord, event: string, host: string, error: string | null = null): void {
  const now = world.clock.now()
  const record: StepRecord = {
    event,
    result: error === null ? 'Success' : 'Error',
    host,
    details: error,
    startedMs: now,
    finishedMs: now
  }
  action.steps.unshift(record)
  action.updatedMs = now
  if (error !== null) action.message = 'Error'
}

// nova/api/openstack/common.py: what a user sees of vm_state and task_state
const shown: Readonly<Record<string, string>> = {
  active: 'ACTIVE',
  building: 'BUILD',
  stopped: 'SHUTOFF',
  resized: 'VERIFY_RESIZE',
  paused: 'PAUSED',
  suspended: 'SUSPENDED',
  rescued: 'RESCUE',
  error: 'ERROR',
  deleted: 'DELETED',
  'soft-delete': 'SOFT_DELETED',
  shelved: 'SHELVED',
  shelved_offloaded: 'SHELVED_OFFLOADED'
}
const busy: Readonly<Record<string, string>> = {
  rebooting: 'REBOOT',
  rebooting_hard: 'HARD_REBOOT',
  rebuilding: 'REBUILD',
  migrating: 'MIGRATING',
  resize_prep: 'RESIZE',
  resize_migrating: 'RESIZE',
  resize_migrated: 'RESIZE',
  resize_finish: 'RESIZE',
  resize_reverting: 'REVERT_RESIZE'
}

export function statusOf({ vmState, taskState, cellDown }: Instance): string {
  if (cellDown) return 'UNKNOWN'
  return (taskState && busy[taskState]) ?? shown[vmState] ?? 'UNKNOWN'
}
