// Cold moves, which end only when somebody confirms or reverts them, and evacuations, whose old place stays booked until the source is back.
// Each step is the work of one nova-compute: of the source or of the destination. When that one dies, the move stays where it is.
import { cast, work } from './agents.ts'
import { chooseHost, refusesClaim } from './hosts.ts'
import { beginAction, place, setError, step, touch } from './instances.ts'
import { newRecord, setRecord } from './live-moves.ts'
import { allocate, needs, release, takeBack } from './placement.ts'
import type { ActionRecord, Host, Instance, MigrationRecord, World } from './world.ts'

export function startCold(world: World, instance: Instance, wanted: string | null, requestId: string): void {
  const action = beginAction(world, instance, 'migrate', requestId)
  const record = newRecord(world, instance, 'migration', 'pre-migrating')
  const source = world.hosts.get(record.source)
  const tried = new Set<string>()
  instance.taskState = 'resize_prep'
  const schedule = (): void => {
    const target = source && chooseHost(world, instance, wanted, tried)
    if (!target) return failCold(world, record, action)
    const held = needs(instance.flavor)
    allocate(world, record.uuid, instance, new Map([[source.id, held]]))
    allocate(world, instance.id, instance, new Map([[target.id, held]]))
    cast(target, () => {
      if (refusesClaim(world, target, instance)) {
        tried.add(target.name)
        release(world, record.uuid)
        place(world, instance, source)
        return schedule()
      }
      record.target = target.name
      cast(source, () => leave(world, record, action, source, target))
    })
  }
  world.clock.after(world.pace.schedule, schedule)
}

function failCold(world: World, record: MigrationRecord, action: ActionRecord): void {
  setRecord(world, record, 'error')
  record.instance.taskState = null
  const why = 'No valid host was found. No valid host found for cold migrate'
  step(world, action, 'cold_migrate', 'controller', why)
  step(world, action, 'conductor_migrate_server', 'controller', why)
}

/** `resize_instance` on the source, then `finish_resize` on the destination, which the server belongs to from then on. */
function leave(world: World, record: MigrationRecord, action: ActionRecord, source: Host, target: Host): void {
  const { instance } = record
  wasStopped.set(record, instance.vmState === 'stopped')
  setRecord(world, record, 'migrating')
  instance.taskState = 'resize_migrating'
  work(world, source, world.pace.coldMove, () => {
    Object.assign(instance, { host: target.name, taskState: 'resize_migrated' })
    setRecord(world, record, 'post-migrating')
    cast(target, () => {
      instance.taskState = 'resize_finish'
      work(world, target, world.pace.settle, () => {
        Object.assign(instance, { vmState: 'resized', taskState: null })
        setRecord(world, record, 'finished')
        touch(world, instance)
        step(world, action, 'compute_finish_resize', target.name)
      })
    })
  })
}

const wasStopped = new WeakMap<MigrationRecord, boolean>()
/** the source of a cold move that waits to be confirmed or reverted */
export const sourceOf = (world: World, instance: Instance): Host | undefined =>
  world.hosts.get(unconfirmed(world, instance)?.source ?? '')
const unconfirmed = (world: World, instance: Instance): MigrationRecord | undefined =>
  world.migrations.find(record => record.instance === instance && record.status === 'finished')

export function confirm(world: World, instance: Instance, requestId: string): void {
  const record = unconfirmed(world, instance)
  const source = record && world.hosts.get(record.source)
  if (!record || !source) return
  const action = beginAction(world, instance, 'confirmResize', requestId)
  setRecord(world, record, 'confirming')
  cast(source, () =>
    work(world, source, world.pace.power, () => {
      release(world, record.uuid)
      setRecord(world, record, 'confirmed')
      instance.vmState = wasStopped.get(record) ? 'stopped' : 'active'
      touch(world, instance)
      step(world, action, 'compute_confirm_resize', record.source)
    })
  )
}

export function revert(world: World, instance: Instance, requestId: string): void {
  const record = unconfirmed(world, instance)
  const source = record && world.hosts.get(record.source)
  if (!record || !source) return
  beginAction(world, instance, 'revertResize', requestId)
  instance.taskState = 'resize_reverting'
  setRecord(world, record, 'reverting')
  cast(source, () =>
    work(world, source, world.pace.coldMove, () => {
      release(world, record.uuid)
      place(world, instance, source)
      setRecord(world, record, 'reverted')
      Object.assign(instance, { vmState: wasStopped.get(record) ? 'stopped' : 'active', taskState: null })
      touch(world, instance)
    })
  )
}

export interface Evacuation {
  wanted: string | null
  /** from 2.95 on Nova leaves it so */
  stopped: boolean
  requestId: string
}

export function startEvacuation(world: World, instance: Instance, { wanted, stopped, requestId }: Evacuation): void {
  const action = beginAction(world, instance, 'evacuate', requestId)
  const record = newRecord(world, instance, 'evacuation', 'accepted')
  record.target = wanted
  const source = world.hosts.get(record.source)
  instance.taskState = 'rebuilding'
  world.clock.after(world.pace.schedule, () => {
    const target = chooseHost(world, instance, wanted)
    if (!target || !source) {
      const why = 'No valid host was found. There are not enough hosts available.'
      setRecord(world, record, 'error')
      setError(world, instance, why)
      return step(world, action, 'rebuild_server', 'controller', why)
    }
    const amount = needs(instance.flavor)
    const both = world.providers.has(source.id) ? [[source.id, amount] as const] : []
    allocate(world, instance.id, instance, new Map([...both, [target.id, amount]]))
    step(world, action, 'rebuild_server', 'controller')
    cast(target, () => rebuild(world, record, action, target, stopped))
  })
}

/** `rebuild_instance` on the destination. There is no second try: without a claim the record has failed and the server is as it was. */
function rebuild(world: World, record: MigrationRecord, action: ActionRecord, target: Host, leftStopped: boolean): void {
  const { instance } = record
  if (refusesClaim(world, target, instance)) {
    const message = `Build of instance ${instance.id} aborted: Insufficient compute resources: Requested instance cannot be claimed.`
    takeBack(world, instance.id, target.id)
    setRecord(world, record, 'failed')
    Object.assign(instance, { taskState: null, fault: { message, createdMs: world.clock.now() } })
    touch(world, instance)
    return step(world, action, 'compute_rebuild_instance', target.name, message)
  }
  const stopped = leftStopped || instance.vmState === 'stopped'
  record.target = target.name
  setRecord(world, record, 'pre-migrating')
  work(world, target, world.pace.evacuate, () => {
    if (!world.instances.has(instance.id)) return
    const state = stopped ? { vmState: 'stopped', powerState: 4 } : { vmState: 'active', powerState: 1 }
    Object.assign(instance, { host: target.name, taskState: null, fault: null, ...state })
    setRecord(world, record, 'done')
    touch(world, instance)
    step(world, action, 'compute_rebuild_instance', target.name)
  })
}
