// Live moves: accepted → queued → preparing → running → completed, failed or cancelled; error when no host can take the server.
// While one is under way the migration holds the old place and the server the new one, as Nova books it in Placement.
import { chooseHost, isUp } from './hosts.ts'
import { beginAction, place, step, tell, touch } from './instances.ts'
import { allocate, needs, release } from './placement.ts'
import type { ActionRecord, Host, Instance, MigrationRecord, World } from './world.ts'

const running = new WeakMap<MigrationRecord, { finish: () => void; cancel: () => void }>()

export function newRecord(world: World, instance: Instance, type: MigrationRecord['type'], status: string): MigrationRecord {
  const record: MigrationRecord = {
    id: ++world.counters.migration,
    uuid: world.newId(),
    instance,
    type,
    status,
    source: instance.host ?? '',
    target: null,
    createdMs: world.clock.now(),
    updatedMs: null,
    runningSinceMs: null
  }
  world.migrations.unshift(record)
  return record
}

export function setRecord(world: World, record: MigrationRecord, status: string): void {
  record.status = status
  record.updatedMs = world.clock.now()
  tell(world, record.instance)
}

export function startLive(world: World, instance: Instance, wanted: string | null, requestId: string): void {
  const action = beginAction(world, instance, 'live-migration', requestId)
  const record = newRecord(world, instance, 'live-migration', 'accepted')
  instance.taskState = 'migrating'
  world.clock.after(world.pace.schedule, () => {
    const source = world.hosts.get(record.source)
    if (!source || !isUp(source))
      return refuse(world, record, action, `Compute service of ${record.source} is unavailable at this time.`)
    const target = chooseHost(world, instance, wanted)
    if (!target) return refuse(world, record, action, 'No valid host was found. There are not enough hosts available.')
    step(world, action, 'conductor_live_migrate_instance', 'controller')
    record.target = target.name
    allocate(world, record.uuid, instance, new Map([[source.id, needs(instance.flavor)]]))
    allocate(world, instance.id, instance, new Map([[target.id, needs(instance.flavor)]]))
    setRecord(world, record, 'queued')
    startNext(world, source)
  })
}

function refuse(world: World, record: MigrationRecord, action: ActionRecord, why: string): void {
  setRecord(world, record, 'error')
  record.instance.taskState = null
  touch(world, record.instance)
  step(world, action, 'conductor_live_migrate_instance', 'controller', why)
}

/** Starts as many of the host's queued moves as it may run at a time. */
function startNext(world: World, source: Host): void {
  const from = world.migrations.filter(record => record.type === 'live-migration' && record.source === source.name).reverse()
  let atWork = from.filter(record => running.has(record)).length
  for (const record of from) {
    if (record.status !== 'queued' || (source.liveMoveLimit > 0 && atWork >= source.liveMoveLimit)) continue
    run(world, record, source)
    atWork++
  }
}

function run(world: World, record: MigrationRecord, source: Host): void {
  setRecord(world, record, 'preparing')
  const end = (settle: () => void) => (): void => {
    stopTimer()
    running.delete(record)
    settle()
    startNext(world, source)
  }
  const finish = end(() => (source.liveMoveFails ? giveBack(world, record, source, 'failed') : arrive(world, record)))
  let stopTimer = world.clock.after(0, () => {
    setRecord(world, record, 'running')
    record.runningSinceMs = world.clock.now()
    stopTimer = world.clock.after(source.liveMoveMs, finish)
  })
  running.set(record, {
    finish: end(() => arrive(world, record)),
    cancel: end(() => giveBack(world, record, source, 'cancelled'))
  })
}

function arrive(world: World, record: MigrationRecord): void {
  const { instance } = record
  instance.host = record.target
  instance.taskState = null
  touch(world, instance)
  release(world, record.uuid)
  const action = instance.actions.find(({ action }) => action === 'live-migration')
  if (action) step(world, action, 'compute_post_live_migration_at_destination', record.target ?? '')
  world.clock.after(world.pace.settle, () => setRecord(world, record, 'completed')) // Nova's record, too, ends after the server has moved
}

function giveBack(world: World, record: MigrationRecord, source: Host, status: 'failed' | 'cancelled'): void {
  const { instance } = record
  release(world, record.uuid)
  place(world, instance, source)
  setRecord(world, record, status)
  instance.taskState = null
  touch(world, instance)
}

/** Whether the move was still in a state that can be left. */
export function abort(world: World, record: MigrationRecord): boolean {
  const source = world.hosts.get(record.source)
  if (record.status === 'queued' && source) giveBack(world, record, source, 'cancelled')
  else if (running.has(record)) running.get(record)?.cancel()
  else return false
  return true
}

export function forceComplete(record: MigrationRecord): boolean {
  if (record.status !== 'running' || !running.has(record)) return false
  running.get(record)?.finish()
  return true
}
