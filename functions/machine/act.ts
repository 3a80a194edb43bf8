import { KubeError, PersistentVolumeClaim, Secret } from '../../shared/kube/index.ts'
import { Machine } from '../../shared/schema/machine.ts'
import type { Action } from './decide.ts'
import type { Deps } from './deps.ts'
import { isTransport, writeProblem, type Problem } from './errors.ts'
import { DataVolume, NetworkAttachment, VirtualMachine } from './kubevirt.ts'
import { printOf } from './look.ts'
import { finalizer } from './names.ts'
import type { Seen } from './seen.ts'

/** What became of the actions: the world as it is now, and what is worth a Kubernetes Event. */
export interface Outcome {
  seen: Seen
  made: string[]
  vm: 'made' | 'changed' | 'written' | 'same'
  problem?: Problem
}

/** In order, up to the first failure. What says that the world has moved is thrown, for the pass to begin again. */
export async function act(seen: Seen, actions: readonly Action[], deps: Deps): Promise<Outcome> {
  const outcome: Outcome = { seen: { ...seen }, made: [], vm: 'same' }
  for (const action of actions) {
    try {
      await carryOut(action, outcome, deps)
    } catch (err) {
      if (!(err instanceof KubeError) || isTransport(err) || isMoved(err)) throw err
      return { ...outcome, problem: problemOf(action, err, seen.machine) }
    }
  }
  return outcome
}

/** Somebody wrote at the same time: look again. */
export const isMoved = ({ code }: KubeError): boolean => code === 'Conflict' || code === 'AlreadyExists'

function problemOf(action: Action, err: KubeError, machine: Machine): Problem {
  switch (action.do) {
    case 'claim':
      return writeProblem(err, 'storage', `the claim ${action.claim.metadata.name}`)
    case 'fill':
      return writeProblem(err, 'storage', `the DataVolume ${action.dataVolume.metadata.name}`)
    case 'grow':
      return writeProblem(err, 'storage', `the growth of the claim ${action.claim.metadata?.name}`)
    case 'attach':
      return writeProblem(err, 'network', `the NetworkAttachmentDefinition ${action.attachment.metadata.name}`)
    case 'keep-secret':
      // the server's words may repeat what was sent
      return writeProblem(new KubeError(err.code, err.code), 'vm', `the Secret ${action.secret.metadata?.name}`)
    default:
      return writeProblem(err, 'vm', `the VirtualMachine ${machine.metadata.name}`)
  }
}

async function carryOut(action: Action, outcome: Outcome, deps: Deps): Promise<void> {
  const { kube, stores } = deps
  const { seen } = outcome
  switch (action.do) {
    case 'hold':
      seen.machine = await hold(seen.machine, deps)
      return
    case 'attach': {
      const { attachment, live } = action
      const written = await kube.apply(NetworkAttachment, attachment, live ? { live } : { force: false })
      stores.attachments.put(written)
      return
    }
    case 'keep-secret': {
      const { secret, live } = action
      await kube.apply(Secret, secret, live ? { live } : { force: false })
      deps.secrets.set(seen.machine.metadata.uid ?? '', { print: printOf(secret), until: deps.clock().getTime() + deps.resyncMs })
      return
    }
    case 'discard-secret': {
      const { name = '', namespace, uid } = action.secret.metadata ?? {}
      await kube.delete(Secret, { name, namespace, uid })
      deps.secrets.delete(seen.machine.metadata.uid ?? '')
      return
    }
    case 'claim': {
      const claim = await kube.create(PersistentVolumeClaim, action.claim) // never an apply: that would adopt a namesake
      stores.claims.put(claim)
      seen.claims = [...seen.claims, claim]
      outcome.made.push(action.claim.metadata.name)
      return
    }
    case 'grow': {
      const { name = '', namespace, resourceVersion } = action.claim.metadata ?? {}
      const body = { metadata: { resourceVersion }, spec: { resources: { requests: { storage: action.size } } } }
      stores.claims.put(await kube.patch(PersistentVolumeClaim, { name, namespace }, body))
      return
    }
    case 'fill': {
      const dataVolume = await kube.apply(DataVolume, action.dataVolume, { force: false })
      stores.dataVolumes.put(dataVolume)
      seen.dataVolumes = [...seen.dataVolumes, dataVolume]
      outcome.made.push(action.dataVolume.metadata.name)
      return
    }
    case 'keep-vm':
      return keepVm(action, outcome, deps)
    case 'discard': {
      for (const [kind, object] of [
        [DataVolume, action.dataVolume],
        [PersistentVolumeClaim, action.claim]
      ] as const) {
        const { name, namespace, uid } = object?.metadata ?? {}
        if (name !== undefined) await kube.delete(kind, { name, namespace, uid })
      }
    }
  }
}

async function keepVm({ vm, live }: Extract<Action, { do: 'keep-vm' }>, outcome: Outcome, { kube, stores }: Deps): Promise<void> {
  const base = live && (await withoutRunning(live, vm, kube))
  const { resourceVersion } = base?.metadata ?? {}
  const wanted = { ...vm, metadata: { ...vm.metadata, ...(resourceVersion !== undefined && { resourceVersion }) } }
  const written = await kube.apply(VirtualMachine, wanted, base ? { live: base } : { force: false })
  stores.vms.put(written)
  outcome.seen.vm = written
  outcome.vm = !live
    ? 'made'
    : written === live
      ? 'same'
      : written.metadata.generation === live.metadata.generation
        ? 'written'
        : 'changed'
}

/** K1: KubeVirt takes one of the two; somebody wrote the old one, and an apply would not remove what is not ours. */
async function withoutRunning(live: VirtualMachine, { spec }: VirtualMachine, kube: Deps['kube']): Promise<VirtualMachine> {
  if (live.spec.running === undefined) return live
  const { name, namespace, resourceVersion } = live.metadata
  return kube.patch(
    VirtualMachine,
    { name, namespace },
    { metadata: { resourceVersion }, spec: { running: null, runStrategy: spec.runStrategy } }
  )
}

/** F1: with the version that was seen, so that none is added to a Machine that is being deleted meanwhile. */
async function hold({ metadata }: Machine, { kube, stores }: Deps): Promise<Machine> {
  const { name, namespace, resourceVersion, finalizers = [] } = metadata
  const held = await kube.patch(
    Machine,
    { name, namespace },
    { metadata: { resourceVersion, finalizers: [...finalizers, finalizer] } }
  )
  stores.machines.put(held)
  return held
}
