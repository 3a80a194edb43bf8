import { Type, type TSchema } from 'typebox'
import { event, ObjectRef, type EventKind } from './kind.ts'

const withArticle = (kind: string): string => (/^[AEIO]/.test(kind) ? `an ${kind}` : `a ${kind}`)

/** `kvm.cloud.sap` → `sap.cloud.kvm`; the core group is `io.k8s`. */
export const reversed = (group: string): string => (group === '' ? 'io.k8s' : group.split('.').toReversed().join('.'))

export const objectType = (group: string, kind: string, verb: 'changed' | 'deleted'): string =>
  `${reversed(group)}.${kind.toLowerCase()}.${verb}.v1`

interface Watched {
  group: string
  kind: string
  reactedBy: readonly string[]
}

function changed({ group, kind, reactedBy }: Watched): EventKind<typeof ObjectRef> {
  return event({
    type: objectType(group, kind, 'changed'),
    data: ObjectRef,
    source: '/cluster-agent',
    emittedBy: 'agents/cluster',
    reactedBy,
    summary: `${withArticle(kind)} was made or altered; the attribute \`changed\` says where`
  })
}

function deleted<S extends TSchema>({ group, kind, reactedBy }: Watched, data: S): EventKind<S> {
  return event({
    type: objectType(group, kind, 'deleted'),
    data,
    source: '/cluster-agent',
    emittedBy: 'agents/cluster',
    reactedBy,
    summary: `${withArticle(kind)} is gone`
  })
}

const node = { group: '', kind: 'Node', reactedBy: ['hypervisor', 'node-release', 'certificate', 'ha'] }
const pod = { group: '', kind: 'Pod', reactedBy: ['hypervisor', 'offboarding'] }
const claim = { group: '', kind: 'PersistentVolumeClaim', reactedBy: ['machine'] }
const hypervisor = {
  group: 'kvm.cloud.sap',
  kind: 'Hypervisor',
  reactedBy: [
    'hypervisor',
    'onboarding',
    'maintenance',
    'aggregates',
    'traits',
    'offboarding',
    'node-release',
    'certificate',
    'ha'
  ]
}
const eviction = { group: 'kvm.cloud.sap', kind: 'Eviction', reactedBy: ['evict', 'maintenance'] }
const migration = { group: 'kvm.cloud.sap', kind: 'Migration', reactedBy: [] }
const ovsNode = { group: 'ovs.c5c3.io', kind: 'OVSNode', reactedBy: ['hypervisor', 'ha'] }
const machine = { group: 'vitistack.io', kind: 'Machine', reactedBy: ['machine'] }
const network = { group: 'vitistack.io', kind: 'NetworkConfiguration', reactedBy: ['machine'] }
const vm = { group: 'kubevirt.io', kind: 'VirtualMachine', reactedBy: ['machine'] }
const vmi = { group: 'kubevirt.io', kind: 'VirtualMachineInstance', reactedBy: ['machine'] }
const dataVolume = { group: 'cdi.kubevirt.io', kind: 'DataVolume', reactedBy: ['machine'] }

export const nodeChanged = changed(node)
export const nodeDeleted = deleted(node, ObjectRef)
export const podChanged = changed(pod)
export const podDeleted = deleted(pod, ObjectRef)
export const claimChanged = changed(claim)
export const claimDeleted = deleted(claim, ObjectRef)
export const hypervisorChanged = changed(hypervisor)
// What was last known goes with it, since nobody can read it again (HV-26).
export const hypervisorDeleted = deleted(
  hypervisor,
  Type.Object({
    ...ObjectRef.properties,
    last: Type.Optional(Type.Object({ numInstances: Type.Integer(), instances: Type.Array(Type.String()) }))
  })
)
export const evictionChanged = changed(eviction)
export const evictionDeleted = deleted({ ...eviction, reactedBy: ['maintenance'] }, ObjectRef)
export const migrationChanged = changed(migration)
export const migrationDeleted = deleted(migration, ObjectRef)
export const ovsNodeChanged = changed(ovsNode)
export const ovsNodeDeleted = deleted(ovsNode, ObjectRef)
export const machineChanged = changed(machine)
// The cluster agent and the machine function both say it (spec V2 gives it the same name): the fact is one, the function knows more.
export const machineDeleted = deleted(
  machine,
  Type.Object({
    ...ObjectRef.properties,
    generation: Type.Optional(Type.Integer()),
    before: Type.Optional(Type.String()),
    after: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    nodeName: Type.Optional(Type.String())
  })
)
export const networkChanged = changed(network)
export const networkDeleted = deleted(network, ObjectRef)
export const vmChanged = changed(vm)
export const vmDeleted = deleted(vm, ObjectRef)
export const vmiChanged = changed(vmi)
export const vmiDeleted = deleted(vmi, ObjectRef)
export const dataVolumeChanged = changed(dataVolume)
export const dataVolumeDeleted = deleted(dataVolume, ObjectRef)
