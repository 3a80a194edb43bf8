// Deletion in the order of §8. Every step looks at fresh facts, may be repeated, and takes "not there" for done.
import { KubeError, PersistentVolumeClaim, Secret, timestamp, conditionSet } from '../../shared/kube/index.ts'
import type { Kind, KubeObject } from '../../shared/schema/kind.ts'
import { Machine } from '../../shared/schema/machine.ts'
import type { Deps } from './deps.ts'
import { DataVolume, VirtualMachine, VirtualMachineInstance } from './kubevirt.ts'
import { findOrAbsent } from './look.ts'
import { finalizer, isOurs, machineLabel, ownedBy, secretName } from './names.ts'
import { orGone, settleNetwork, sweepAttachments } from './networks.ts'
import { tellDeleted } from './tell.ts'

interface Waiting {
  step: string
  objects: string[]
}

/** True when the Machine is let go. */
export async function remove(machine: Machine, deps: Deps): Promise<boolean> {
  if (!machine.metadata.finalizers?.includes(finalizer)) return true
  const waiting = (await removeVm(machine, deps)) ?? (await removeStorage(machine, deps))
  if (waiting) {
    await tellWaiting(machine, waiting, deps)
    return false
  }
  await leaveNetworks(machine, deps)
  return letGo(machine, deps)
}

/** F2: both must answer 404. Claims would only hang on pvc-protection before that. */
async function removeVm(machine: Machine, deps: Deps): Promise<Waiting | undefined> {
  const { name, namespace = '' } = machine.metadata
  const [vm, vmi] = await Promise.all([
    findOrAbsent(deps, VirtualMachine, { name, namespace }),
    findOrAbsent(deps, VirtualMachineInstance, { name, namespace })
  ])
  const ours = vm && isOurs(vm, machine) ? vm : undefined
  if (ours && ours.metadata.deletionTimestamp === undefined) await deleteSeen(deps, VirtualMachine, ours)
  const instance = vmi?.metadata.labels?.[machineLabel] === name && !(vm && !ours) ? vmi : undefined
  const objects = [...(ours ? [`VirtualMachine ${name}`] : []), ...(instance ? [`VirtualMachineInstance ${name}`] : [])]
  return objects.length > 0 ? { step: 'deleting the virtual machine', objects } : undefined
}

/** F3: by label and owner. Of a claim that CDI made the owner is the DataVolume. */
async function removeStorage(machine: Machine, deps: Deps): Promise<Waiting | undefined> {
  const { name, namespace = '', uid } = machine.metadata
  const selector = { namespace, labelSelector: `${machineLabel}=${name}` }
  const [claims, volumes, secret] = await Promise.all([
    deps.kube.list(PersistentVolumeClaim, selector).then(({ items }) => items),
    deps.kube.list(DataVolume, selector).then(
      ({ items }) => items,
      err => orGone(err) ?? []
    ),
    deps.kube.find(Secret, secretName(name), namespace)
  ])
  const ownVolumes = volumes.filter(volume => isOurs(volume, machine))
  const ownClaims = claims.filter(claim => ownedBy(claim, uid) || ownVolumes.some(volume => ownedBy(claim, volume.metadata.uid)))
  for (const volume of ownVolumes) await deleteSeen(deps, DataVolume, volume)
  for (const claim of ownClaims) await deleteSeen(deps, PersistentVolumeClaim, claim)
  if (secret && ownedBy(secret, uid)) await deleteSeen(deps, Secret, secret)
  deps.secrets.delete(uid ?? '')
  // what a finalizer holds is still there, and told; what is gone at once needs no second pass
  const left = await Promise.all([
    ...ownVolumes.map(volume => stillThere(deps, DataVolume, volume)),
    ...ownClaims.map(claim => stillThere(deps, PersistentVolumeClaim, claim))
  ])
  const objects = left.filter(found => found !== undefined)
  return objects.length > 0 ? { step: 'deleting the storage', objects } : undefined
}

async function deleteSeen(deps: Deps, kind: Kind, { metadata }: KubeObject): Promise<void> {
  const { name = '', namespace, uid, deletionTimestamp } = metadata ?? {}
  if (deletionTimestamp !== undefined) return
  await deps.kube.delete(kind, { name, namespace, uid }).catch(orReplaced)
}

/** Another object has taken its place: the one that was seen is gone. */
const orReplaced = (err: unknown): void => {
  if (!(err instanceof KubeError) || (err.code !== 'Conflict' && err.code !== 'NotFound')) throw err
}

async function stillThere<T extends KubeObject>(deps: Deps, kind: Kind<T>, { metadata }: T): Promise<string | undefined> {
  const { name = '', namespace = '', uid } = metadata ?? {}
  const found = await findOrAbsent(deps, kind, { name, namespace })
  return found?.metadata?.uid === uid && found ? `${kind.kind} ${name}` : undefined
}

/** F4, F6: bookkeeping, which never holds a deletion up. */
async function leaveNetworks({ metadata, spec }: Machine, deps: Deps): Promise<void> {
  const { name, namespace = '' } = metadata
  const names = new Set(spec.networks?.map(({ networkName }) => networkName))
  for (const network of names) await settleNetwork({ namespace, name: network }, deps, name)
  await sweepAttachments(namespace, deps, name).catch(orGone)
}

/** F5, F8: after one more look, since a pass that began before the deletion may have made the VM anew. */
async function letGo(machine: Machine, deps: Deps): Promise<boolean> {
  const { kube, stores } = deps
  const { name, namespace = '', resourceVersion, finalizers = [] } = machine.metadata
  if (await removeVm(machine, deps)) return false
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter(entry => entry !== finalizer) } }
  const released = await kube.patch(Machine, { name, namespace }, body).catch(orGone)
  if (released === undefined) return true // another delivery was faster
  stores.machines.drop(name, namespace)
  await tellDeleted(machine, deps)
  return true
}

/** F7 */
async function tellWaiting(machine: Machine, { step, objects }: Waiting, { kube, clock, stores }: Deps): Promise<void> {
  const { name, namespace, generation } = machine.metadata
  const message = `${step}: waiting for ${objects.join(', ')}`
  const { lastUpdated: _last, conditions: _all, ...before } = machine.status ?? {}
  const now = clock()
  const others = machine.status?.conditions?.filter(({ type }) => type !== 'Ready') ?? []
  const [ready] = conditionSet(
    machine.status?.conditions,
    [{ type: 'Ready', status: 'False', reason: 'Deleting', message }],
    now,
    generation
  )
  const told = machine.status?.conditions?.find(({ type }) => type === 'Ready')
  const same = told?.reason === 'Deleting' && told.message === message
  const conditions = ready ? [ready, ...others] : others
  const lastUpdated = same && machine.status?.lastUpdated ? machine.status.lastUpdated : timestamp(now)
  const status = { ...before, conditions, lastUpdated }
  const written = await kube
    .applyStatus(Machine, { metadata: { name, ...(namespace && { namespace }) }, status }, { live: machine })
    .catch(orGone)
  if (written) stores.machines.put(written)
}
