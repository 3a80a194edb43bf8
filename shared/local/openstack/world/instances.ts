// Servers: their life, their states and the record of what was done to them.
import { cast, isUp, work } from './agents.ts'
import { chooseHost, refusesClaim } from './hosts.ts'
import { allocate, needs, release } from './placement.ts'
import type { ActionRecord, Flavor, Host, Instance, Person, StepRecord, World } from './world.ts'

export type NewInstance = { name: string; flavor: Flavor } & Person &
  Partial<Pick<Instance, 'id' | 'imageId' | 'zone' | 'metadata' | 'vmState' | 'powerState' | 'groups'>>

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
    groups: [],
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

/**
 * Finds a host and builds the server there. It is on the host only when nova-compute has taken it: until then it has a booking there and
 * no host, as long as nova-compute does not answer.
 */
export function build(world: World, instance: Instance, wanted: string | null, requestId: string): void {
  const action = beginAction(world, instance, 'create', requestId)
  const tried = new Set<string>()
  const schedule = (): void => {
    if (!world.instances.has(instance.id)) return
    const host = chooseHost(world, instance, wanted, tried)
    if (!host) return failBuild(world, instance, action, tried)
    allocate(world, instance.id, instance, new Map([[host.id, needs(instance.flavor)]]))
    cast(host, () => {
      if (!world.instances.has(instance.id)) return
      if (refusesClaim(world, host, instance)) {
        release(world, instance.id)
        tried.add(host.name)
        return schedule()
      }
      Object.assign(instance, { host: host.name, vmState: 'building', taskState: 'spawning' })
      work(world, host, world.pace.build, () => {
        if (!world.instances.has(instance.id)) return
        Object.assign(instance, { vmState: 'active', taskState: null, powerState: 1, launchedMs: world.clock.now() })
        touch(world, instance)
        step(world, action, 'compute__do_build_and_run_instance', host.name)
      })
    })
  }
  world.clock.after(world.pace.schedule, schedule)
}

function failBuild(world: World, instance: Instance, action: ActionRecord, tried: ReadonlySet<string>): void {
  const retries = `Exceeded maximum number of retries. Exhausted all hosts available for retrying build failures for instance ${instance.id}.`
  const message = tried.size > 0 ? retries : 'No valid host was found. '
  setError(world, instance, message)
  step(world, action, 'conductor_schedule_and_build_instances', 'controller', message)
}

export function setError(world: World, instance: Instance, message: string | null): void {
  Object.assign(instance, { vmState: 'error', taskState: null })
  if (message !== null) instance.fault = { message, createdMs: world.clock.now() }
  touch(world, instance)
}

/** What a server's nova-compute was asked to do and has not finished; see init-host.ts. */
const unfinished = new WeakMap<Instance, () => void>()

export function repeatUnfinished(instance: Instance): void {
  unfinished.get(instance)?.()
}

/** Has the server's nova-compute do something that takes its time. */
export function atHost(world: World, instance: Instance, ms: number, done: () => void): void {
  const host = world.hosts.get(instance.host ?? '')
  const begin = (): void => {
    if (!host) return
    work(world, host, ms, () => {
      unfinished.delete(instance)
      done()
    })
  }
  if (!host) return void world.clock.after(ms, done)
  unfinished.set(instance, begin)
  cast(host, begin)
}

/** Where nova-compute is down, the API deletes by itself: "local delete". */
export function removeInstance(world: World, instance: Instance, requestId: string): void {
  beginAction(world, instance, 'delete', requestId)
  instance.taskState = 'deleting'
  const host = world.hosts.get(instance.host ?? '')
  const remove = (): void => {
    world.instances.delete(instance.id)
    world.deleted.set(instance.id, instance)
    world.migrations = world.migrations.filter(record => record.instance !== instance) // Nova hides a deleted server's records
    release(world, instance.id)
    instance.host = null
    tell(world, instance)
  }
  if (host && isUp(world, host)) atHost(world, instance, world.pace.remove, remove)
  else world.clock.after(0, remove)
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
