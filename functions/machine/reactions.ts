import type { ObjectRef } from '../../shared/events/kind.ts'
import type { Received } from '../../shared/runtime/function.ts'
import { traceId } from '../../shared/runtime/log.ts'
import type { Deps, Ref } from './deps.ts'
import { settleNetwork, sweepAttachments } from './networks.ts'
import { settle } from './pass.ts'
import type { Store } from './store.ts'
import type { KubeObject } from '../../shared/schema/kind.ts'
import { findOrAbsent } from './look.ts'
import { machineLabel } from './names.ts'

type Told = Received<ObjectRef>

export const keyOf = ({ partitionkey, data }: Told): string => partitionkey ?? `${data.namespace}/${data.name}`

const refOf = (key: string): Ref => {
  const [namespace = '', name = ''] = key.split('/')
  return { namespace, name }
}

/** L1: what is logged on behalf of an event names it. */
const onBehalf = ({ id, traceparent }: Received, deps: Deps): Deps => ({
  ...deps,
  log: deps.log.child({ event_id: id, ...(traceparent !== undefined && { trace_id: traceId(traceparent) }) })
})

export const onMachine = (event: Told, deps: Deps): Promise<void> => settle(refOf(keyOf(event)), onBehalf(event, deps))

/** A VM, its instance, a claim or a DataVolume: the Machine that its label names is looked at again. */
export async function onChild(event: Told, deps: Deps): Promise<void> {
  const { kind, namespace = '', name, resourceVersion } = event.data
  const store = storeOf(kind, deps)
  const gone = event.type.endsWith('.deleted.v1')
  const seen = store?.get(name, namespace)
  if (gone) dropOlder(store, event.data)
  else if (store && seen?.metadata?.resourceVersion !== resourceVersion) await readAgain(store, { namespace, name }, deps)
  const machine = seen?.metadata?.labels?.[machineLabel] ?? store?.get(name, namespace)?.metadata?.labels?.[machineLabel]
  const ref = machine === undefined ? refOf(keyOf(event)) : { namespace, name: machine }
  if (!deps.stores.machines.get(ref.name, ref.namespace)) return // somebody else's, or the Machine's own event is still to come
  await settle(ref, onBehalf(event, deps))
}

function storeOf(kind: string, { stores }: Deps): Store<KubeObject> | undefined {
  const all: Record<string, unknown> = {
    VirtualMachine: stores.vms,
    VirtualMachineInstance: stores.vmis,
    PersistentVolumeClaim: stores.claims,
    DataVolume: stores.dataVolumes
  }
  return all[kind] as Store<KubeObject> | undefined
}

/** The event may be ahead of our own watch. */
async function readAgain(store: Store<KubeObject>, ref: Ref, deps: Deps): Promise<void> {
  if (!deps.stores.machines.group(ref.namespace).length) return
  const found = await findOrAbsent(deps, store.kind, ref)
  if (found?.metadata?.labels?.[machineLabel] !== undefined) store.put(found)
  else if (!found) store.drop(ref.name, ref.namespace)
}

function dropOlder(store: Store<KubeObject> | undefined, { name, namespace, uid }: ObjectRef): void {
  const known = store?.get(name, namespace)
  if (known && (uid === undefined || known.metadata?.uid === uid)) store?.drop(name, namespace)
}

/** Its own status, and every Machine that refers to it: one may have waited for it (N2). */
export async function onNetwork(event: Told, deps: Deps): Promise<void> {
  const { namespace = '', name } = event.data
  const { stores } = deps
  const network = await findOrAbsent(deps, stores.networks.kind, { namespace, name })
  if (network) stores.networks.put(network)
  else stores.networks.drop(name, namespace)
  const users = stores.machines
    .group(namespace)
    .filter(({ spec }) => spec.networks?.some(({ networkName }) => networkName === name))
  await inParallel(
    users.map(({ metadata }) => ({ namespace, name: metadata.name })),
    onBehalf(event, deps)
  )
  await deps.networks({ namespace, name }, () => settleNetwork({ namespace, name }, deps))
  if (!network) await sweepAttachments(namespace, deps)
}

/** Every RECONCILE_INTERVAL all Machines as the watches know them; with the slow tick each is read anew, and what is unused goes. */
export async function onTick({ data }: Received<{ tick: 'fast' | 'slow' }>, deps: Deps): Promise<void> {
  const slow = data.tick === 'slow'
  const now = deps.clock().getTime()
  if (!slow && now - deps.resynced.at < deps.resyncMs - 1000) return // ticks come every ten seconds, a little early or late
  deps.resynced.at = now
  const { machines, networks, attachments } = deps.stores
  const refOfObject = ({ metadata: { name, namespace = '' } }: { metadata: { name: string; namespace?: string } }): Ref => ({
    namespace,
    name
  })
  await inParallel(machines.all().map(refOfObject), deps, slow)
  for (const ref of networks.all().map(refOfObject)) await deps.networks(ref, () => settleNetwork(ref, deps))
  if (!slow) return
  for (const namespace of new Set(attachments.all().map(({ metadata }) => metadata.namespace ?? '')))
    await sweepAttachments(namespace, deps)
}

/** All of them, some at a time; one that fails holds up none of the others. */
async function inParallel(refs: readonly Ref[], deps: Deps, fresh = true): Promise<void> {
  const queue = [...refs]
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    for (let ref = queue.shift(); ref; ref = queue.shift())
      await settle(ref, deps, fresh).catch((err: unknown) => failures.push(err))
  }
  await Promise.all(Array.from({ length: Math.min(deps.concurrency, refs.length) }, work))
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${refs.length} Machines could not be settled`)
}
