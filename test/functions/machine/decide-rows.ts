// What was seen of the Machine `m`, from a few words, and what is decided about it in lines.
import { decide, type Action } from '../../../functions/machine/decide.ts'
import type { DataVolume } from '../../../functions/machine/kubevirt.ts'
import { childMeta, finalizer } from '../../../functions/machine/names.ts'
import type { Options } from '../../../functions/machine/options.ts'
import type { Seen } from '../../../functions/machine/seen.ts'
import type { PersistentVolumeClaim } from '../../../shared/kube/kinds.ts'
import type { ObjectMeta } from '../../../shared/schema/kind.ts'
import { machine, network, type Spec } from './fixtures.ts'

export const clusterOptions: Options = {
  architecture: 'amd64',
  macSeed: '',
  cniVersion: '1.0.0',
  allowI440fx: false,
  unschedulableGraceMs: 300_000
}

/** The metadata of a child of `m`. */
export const ours = (name: string, uid?: string): ObjectMeta => ({
  ...childMeta(machine({}), name),
  ...(uid !== undefined && { uid })
})
/** Of the same name, and of somebody else. */
export const foreign = (name: string, uid?: string): ObjectMeta => ({
  name,
  namespace: 'default',
  ...(uid !== undefined && { uid })
})
/** CDI made it: it belongs to the DataVolume. */
export const ofVolume = (name: string, uid: string): ObjectMeta => ({
  ...foreign(name),
  ownerReferences: [{ apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', name, uid }]
})
export const claim = (metadata: ObjectMeta, storage?: string, phase = 'Bound'): PersistentVolumeClaim => ({
  metadata,
  spec: { ...(storage !== undefined && { resources: { requests: { storage } } }) },
  status: { phase }
})
export const volume = (metadata: ObjectMeta): DataVolume => ({ metadata, spec: {} })

export function seen(spec: Spec, more: Partial<Seen> = {}, metadata: Partial<ObjectMeta> = {}): Seen {
  return {
    machine: machine(spec, { finalizers: [finalizer], ...metadata }),
    vm: undefined,
    vmi: undefined,
    claims: [],
    dataVolumes: [],
    networks: [
      network('pod', { podNetwork: true }),
      network('prod', { bridge: 'br0', vlan: 2101 }),
      network('store', { bridge: 'br1' })
    ],
    attachments: [],
    classes: new Set(['fast']),
    source: undefined,
    own: undefined,
    absent: new Set(),
    ...more
  }
}

function line(action: Action): string {
  switch (action.do) {
    case 'attach':
      return `attach ${action.attachment.metadata.name}`
    case 'keep-secret':
    case 'discard-secret':
      return `${action.do} ${action.secret.metadata?.name}`
    case 'claim':
      return `claim ${action.claim.metadata.name}`
    case 'grow':
      return `grow ${action.claim.metadata?.name} to ${action.size}`
    case 'fill':
      return `fill ${action.dataVolume.metadata.name}`
    case 'keep-vm':
      return `keep-vm ${action.vm.metadata.name}`
    case 'discard':
      return ['discard', action.claim && 'claim', action.dataVolume && 'volume'].filter(Boolean).join(' ')
    default:
      return action.do
  }
}

export const actionsOf = (given: Seen): string[] => decide(given, clusterOptions).actions.map(line)

export const problemsOf = (given: Seen): string[] =>
  decide(given, clusterOptions).problems.map(
    ({ type, about, message, final }) => `${type} (${about}${final ? ', final' : ''}): ${message}`
  )
