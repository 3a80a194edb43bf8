// Live moves: accepted → queued → preparing → running → completed, failed or cancelled; error when no host can take the server.
// While one is under way the migration holds the old place and the server the new one, as Nova books it in Placement.
// The conductor finds the destination, nova-compute of the source does the rest: when it dies, the record stays as it is.
import { call, cast, isUp, work } from './agents.ts'
import { chooseHost, refusesClaim } from './hosts.ts'
import { beginAction, place, setError, step, tell, touch } from './instances.ts'
import { allocate, needs, release } from './placement.ts'
import type { ActionRecord, Host, Instance, MigrationRecord, World } from './world.ts'

/** What queues and what runs, each in one run of its nova-compute: the next knows nothing of it. */
const queued = new WeakMap<MigrationRecord, number>()
const running = new WeakMap<
  MigrationRecord,
  { run: number; finish: () => void; turnBack: (status: 'failed' | 'cancelled') => void }
>()
const atWork = (record: MigrationRecord, source: Host) => {
  const found = running.get(record)
  return source.alive && found?.run === source.run ? found : undefined
}
/** A host that becomes slower or faster does so for the moves that run, too; seen so often. */
const paceMs = 1000
const waits = (record: MigrationRecord, { run }: Host): boolean => record.status === 'queued' && queued.get(record) === run

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
  const source = world.hosts.get(record.source)
  const tried = new Set<string>()
  instance.taskState = 'migrating'
  const find = (): void => {
    if (!source || !isUp(world, source))
      return refuse(world, record, action, `Compute service of ${record.source} is unavailable at this time.`)
    const target = chooseHost(world, instance, wanted, tried)
    if (!target) return refuse(world, record, action, 'No valid host was found. There are not enough hosts available.')
    allocate(world, record.uuid, instance, new Map([[source.id, needs(instance.flavor)]]))
    allocate(world, instance.id, instance, new Map([[target.id, needs(instance.flavor)]]))
    const next = (): void => {
      tried.add(target.name)
      find()
    }
    call(world, target, () => (refusesClaim(world, target, instance) ? next() : check(source, target)), next)
  }
  // the destination asks the source; what the conductor gets when that call times out is none of the errors that it knows
  const check = (source: Host, target: Host): void =>
    call(
      world,
      source,
      () => {
        step(world, action, 'conductor_live_migrate_instance', 'controller')
        record.target = target.name
        cast(source, () => {
          setRecord(world, record, 'queued')
          queued.set(record, source.run)
          startNext(world, source)
        })
      },
      () => {
        refuse(world, record, action, 'Migration error: Remote error: MessagingTimeout')
        setError(world, instance, 'Migration error: Remote error: MessagingTimeout')
      }
    )
  world.clock.after(world.pace.schedule, find)
}

function refuse(world: World, record: MigrationRecord, action: ActionRecord, why: string): void {
  const { instance } = record
  bookBack(world, record)
  setRecord(world, record, 'error')
  instance.taskState = null
  touch(world, instance)
  step(world, action, 'conductor_live_migrate_instance', 'controller', why)
}

function bookBack(world: World, { uuid, instance, source }: MigrationRecord): void {
  const host = world.hosts.get(source)
  if (!world.consumers.has(uuid) || !host) return
  release(world, uuid)
  place(world, instance, host)
}

/** Starts as many of the host's queued moves as it may run at a time. */
function startNext(world: World, source: Host): void {
  const from = world.migrations.filter(record => record.type === 'live-migration' && record.source === source.name).reverse()
  let busy = from.filter(record => atWork(record, source)).length
  for (const record of from) {
    if (!waits(record, source)) continue
    if (source.liveMoveLimit > 0 && busy >= source.liveMoveLimit) continue
    run(world, record, source)
    busy++
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
  const fail = end(() => giveBack(world, record, source, 'error'))
  const finish = end(() => (source.liveMoveFails ? giveBack(world, record, source, 'failed') : arrive(world, record, source)))
  const copy = (): void => {
    setRecord(world, record, 'running')
    const sinceMs = (record.runningSinceMs = world.clock.now())
    const goOn = (): void => {
      const leftMs = sinceMs + source.liveMoveMs - world.clock.now()
      if (leftMs <= 0) finish()
      else stopTimer = work(world, source, Math.min(leftMs, paceMs), goOn)
    }
    stopTimer = work(world, source, Math.min(source.liveMoveMs, paceMs), goOn)
  }
  let stopTimer = work(world, source, 0, () => {
    const target = world.hosts.get(record.target ?? '')
    if (target?.alive) copy()
    else stopTimer = work(world, source, world.pace.call, fail) // pre_live_migration has no answer
  })
  running.set(record, {
    run: source.run,
    finish: end(() => arrive(world, record, source)),
    turnBack: status => end(() => giveBack(world, record, source, status))()
  })
}

function arrive(world: World, record: MigrationRecord, source: Host): void {
  const { instance, target } = record
  const action = instance.actions.find(({ action }) => action === 'live-migration')
  const host = world.hosts.get(target ?? '')
  if (host && !host.alive) return void work(world, source, world.pace.call, () => strand(world, record))
  if (instance.taskState !== 'migrating') return strand(world, record)
  instance.host = target
  instance.taskState = null
  touch(world, instance)
  release(world, record.uuid)
  if (action) step(world, action, 'compute_post_live_migration_at_destination', target ?? '')
  work(world, source, world.pace.settle, () => setRecord(world, record, 'completed')) // Nova's record, too, ends after the server has moved
}

/** The guest is at its destination, whose nova-compute is dead or finds another task: ERROR (`_post_live_migration_update_host`, 2023.1). */
function strand(world: World, record: MigrationRecord): void {
  record.instance.host = record.target
  setRecord(world, record, 'error')
  setError(world, record.instance, 'Timed out waiting for a reply')
}

function giveBack(world: World, record: MigrationRecord, source: Host, status: 'failed' | 'cancelled' | 'error'): void {
  const { instance } = record
  release(world, record.uuid)
  if (!world.instances.has(instance.id)) return
  place(world, instance, source)
  setRecord(world, record, status)
  instance.taskState = null
  touch(world, instance)
}

/** The connection between the two hosts breaks: the source goes on with the guest. */
export function breakMove(world: World, record: MigrationRecord): void {
  const source = world.hosts.get(record.source)
  if (source) atWork(record, source)?.turnBack('failed')
}

/** What is asked of nova-compute with a 202, and what it says later: it may be dead, the move may be over, libvirt may refuse. */
function ask(world: World, record: MigrationRecord, action: ActionRecord, event: string, obey: (source: Host) => boolean): void {
  const source = world.hosts.get(record.source)
  if (!source) return
  cast(source, () =>
    work(world, source, world.pace.obey, () => {
      const done = !source.movesObeyNobody && obey(source)
      const why = source.movesObeyNobody ? 'Requested operation is not valid' : `Migration ${record.id} is ${record.status}`
      step(world, action, `compute_${event}`, source.name, done ? null : why)
    })
  )
}

export function abort(world: World, record: MigrationRecord, action: ActionRecord): void {
  ask(world, record, action, 'live_migration_abort', source => {
    if (waits(record, source)) giveBack(world, record, source, 'cancelled')
    else atWork(record, source)?.turnBack('cancelled')
    return record.status === 'cancelled'
  })
}

export function forceComplete(world: World, record: MigrationRecord, action: ActionRecord): void {
  ask(world, record, action, 'live_migration_force_complete', source => {
    const move = record.status === 'running' ? atWork(record, source) : undefined
    move?.finish()
    return move !== undefined
  })
}

/** nova-compute ends in an orderly way: what still queues is cancelled, its server stays `migrating` (`_cleanup_live_migrations_in_pool`). */
export function cancelQueued(world: World, source: Host): void {
  for (const record of world.migrations)
    if (record.type === 'live-migration' && record.source === source.name && record.status === 'queued')
      setRecord(world, record, 'cancelled')
}
