// Cold moves, which end only when somebody confirms or reverts them, and evacuations, whose old place stays booked until the source is back.
import { chooseHost } from './hosts.ts'
import { beginAction, place, step, touch } from './instances.ts'
import { newRecord, setRecord } from './live-moves.ts'
import { allocate, needs, release } from './placement.ts'
import type { Instance, MigrationRecord, World } from './world.ts'

export function startCold(world: World, instance: Instance, wanted: string | null, requestId: string): void {
  const action = beginAction(world, instance, 'migrate', requestId)
  const record = newRecord(world, instance, 'migration', 'pre-migrating')
  const source = world.hosts.get(record.source)
  instance.taskState = 'resize_prep'
  world.clock.after(world.pace.schedule, () => {
    const target = chooseHost(world, instance, wanted)
    if (!target || !source) {
      setRecord(world, record, 'error')
      instance.taskState = null
      const why = 'No valid host was found. No valid host found for cold migrate'
      step(world, action, 'cold_migrate', 'controller', why)
      step(world, action, 'conductor_migrate_server', 'controller', why)
      return
    }
    record.target = target.name
    allocate(world, record.uuid, instance, new Map([[source.id, needs(instance.flavor)]]))
    allocate(world, instance.id, instance, new Map([[target.id, needs(instance.flavor)]]))
    setRecord(world, record, 'migrating')
    instance.taskState = 'resize_migrating'
    world.clock.after(world.pace.coldMove, () => {
      wasStopped.set(record, instance.vmState === 'stopped')
      Object.assign(instance, { host: target.name, vmState: 'resized', taskState: null })
      setRecord(world, record, 'finished')
      touch(world, instance)
      step(world, action, 'compute_finish_resize', target.name)
    })
  })
}

const wasStopped = new WeakMap<MigrationRecord, boolean>()
const unconfirmed = (world: World, instance: Instance): MigrationRecord | undefined =>
  world.migrations.find(record => record.instance === instance && record.status === 'finished')

export function confirm(world: World, instance: Instance, requestId: string): void {
  const record = unconfirmed(world, instance)
  if (!record) return
  const action = beginAction(world, instance, 'confirmResize', requestId)
  setRecord(world, record, 'confirming')
  world.clock.after(world.pace.power, () => {
    release(world, record.uuid)
    setRecord(world, record, 'confirmed')
    instance.vmState = wasStopped.get(record) ? 'stopped' : 'active'
    touch(world, instance)
    step(world, action, 'compute_confirm_resize', record.source)
  })
}

export function revert(world: World, instance: Instance, requestId: string): void {
  const record = unconfirmed(world, instance)
  const source = record && world.hosts.get(record.source)
  if (!record || !source) return
  beginAction(world, instance, 'revertResize', requestId)
  instance.taskState = 'resize_reverting'
  setRecord(world, record, 'reverting')
  world.clock.after(world.pace.coldMove, () => {
    release(world, record.uuid)
    place(world, instance, source)
    setRecord(world, record, 'reverted')
    Object.assign(instance, { vmState: wasStopped.get(record) ? 'stopped' : 'active', taskState: null })
    touch(world, instance)
  })
}

export function startEvacuation(world: World, instance: Instance, wanted: string | null, requestId: string): void {
  const action = beginAction(world, instance, 'evacuate', requestId)
  const record = newRecord(world, instance, 'evacuation', 'accepted')
  const source = world.hosts.get(record.source)
  const stopped = instance.vmState === 'stopped'
  instance.taskState = 'rebuilding'
  world.clock.after(world.pace.schedule, () => {
    const target = chooseHost(world, instance, wanted)
    if (!target || !source) {
      setRecord(world, record, 'error')
      instance.taskState = null
      step(world, action, 'rebuild_server', 'controller', 'No valid host was found. There are not enough hosts available.')
      return
    }
    record.target = target.name
    setRecord(world, record, 'pre-migrating')
    const amount = needs(instance.flavor)
    const both = world.providers.has(source.id) ? [[source.id, amount] as const] : []
    allocate(world, instance.id, instance, new Map([...both, [target.id, amount]]))
    world.clock.after(world.pace.evacuate, () => {
      Object.assign(instance, {
        host: target.name,
        taskState: null,
        vmState: stopped ? 'stopped' : 'active',
        powerState: stopped ? 4 : 1,
        fault: null
      })
      setRecord(world, record, 'done')
      touch(world, instance)
      step(world, action, 'compute_rebuild_instance', target.name)
    })
  })
}
