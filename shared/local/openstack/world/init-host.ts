// What a nova-compute does before it takes its first message (nova/compute/manager.py, init_host): some of what the one before it left
// is settled, the rest stays as it is for ever.
import { killAgent } from './agents.ts'
import { addProvider, isOpen, serversOn, syncTrait } from './hosts.ts'
import { repeatUnfinished, setError, touch } from './instances.ts'
import { cancelQueued, setRecord } from './live-moves.ts'
import { takeBack } from './placement.ts'
import type { Host, Instance, World } from './world.ts'

export function stopAgent(world: World, host: Host): void {
  if (host.alive) cancelQueued(world, host)
  killAgent(world, host)
}

export function startAgent(world: World, host: Host): void {
  if (host.alive) stopAgent(world, host) // one that runs is restarted
  const now = world.clock.now()
  Object.assign(host, {
    alive: true,
    run: host.run + 1,
    startedMs: now,
    updatedMs: now,
    serviceId: host.serviceId ?? world.newId()
  })
  const evacuated = settleEvacuations(world, host)
  for (const instance of serversOn(world, host.name)) if (!evacuated.has(instance)) settleInstance(world, instance)
  settleBuilds(world, host)
  if (world.providers.has(host.id)) syncTrait(world, host)
  else addProvider(world, host)
  for (const take of host.inbox.splice(0)) take()
}

/** Guests that were evacuated, or whose evacuation has only begun, are destroyed here and their bookings go (`_destroy_evacuated_instances`). */
function settleEvacuations(world: World, host: Host): Set<Instance> {
  const records = world.migrations.filter(
    ({ type, source, status }) =>
      type === 'evacuation' && source === host.name && ['accepted', 'pre-migrating', 'done'].includes(status)
  )
  for (const record of records) {
    setRecord(world, record, 'completed')
    takeBack(world, record.instance.id, host.id)
  }
  return new Set(records.map(({ instance }) => instance))
}

const building = new Set(['scheduling', 'block_device_mapping', 'networking', 'spawning'])
const rebuilding = new Set(['rebuilding', 'rebuild_block_device_mapping', 'rebuild_spawning'])
const repeated = new Set(['deleting', 'powering-off', 'powering-on', 'rebooting_hard', 'rebooting'])
const cleared = new Set([
  'resize_prep',
  'resize_migrating',
  'migrating',
  'image_snapshot',
  'image_uploading',
  'pausing',
  'unpausing'
])

/** `_init_instance`. A live move ends only if its record says `running`; its bookings stay double. Other tasks stay as they are. */
function settleInstance(world: World, instance: Instance): void {
  const { vmState, taskState } = instance
  const task = taskState ?? ''
  if (vmState === 'error' && task !== 'resize_migrating' && task !== 'deleting') return
  if (vmState === 'building' || building.has(task)) return setError(world, instance, null)
  if ((vmState === 'active' || vmState === 'stopped') && rebuilding.has(task)) return setError(world, instance, null)
  if (repeated.has(task)) return repeatUnfinished(instance)
  if (!cleared.has(task)) return
  if (task === 'migrating') {
    const record = world.migrations.find(record => record.instance === instance && record.status === 'running')
    if (record) setRecord(world, record, 'error')
  }
  instance.taskState = null
  touch(world, instance)
}

/** Servers that are booked here and that no nova-compute had taken yet (`_error_out_instances_whose_build_was_interrupted`). */
function settleBuilds(world: World, { id }: Host): void {
  for (const [consumer, { allocations }] of world.consumers) {
    const instance = allocations.has(id) ? world.instances.get(consumer) : undefined
    if (instance?.vmState === 'building') setError(world, instance, null)
  }
}

/** Whether DELETE /os-services must wait: a live move counts only once its destination is known, since it has no `source_node` before. */
export const hasOpenMoves = (world: World, { name }: Host): boolean =>
  world.migrations.some(
    ({ type, source, target, status }) =>
      isOpen(status) && (target === name || (source === name && (type !== 'live-migration' || target !== null)))
  )
