// What a Node says about its Hypervisor (spec/hypervisor.md §2). Pure.
import type { Node } from '../../shared/kube/kinds.ts'
import type { ObjectMeta } from '../../shared/schema/kind.ts'

const virtDriver = 'nova.openstack.cloud.sap/virt-driver'
const lifecycle = 'cobaltcore.cloud.sap/node-hypervisor-lifecycle'
const zone = 'topology.kubernetes.io/zone'
const aggregates = 'nova.openstack.cloud.sap/aggregates'
const customTraits = 'nova.openstack.cloud.sap/custom-traits'
const offboarding = 'kvm.cloud.sap/offboarding'

export const hypervisorSelector = virtDriver

const copied = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/region',
  zone,
  'kubernetes.metal.cloud.sap/bb',
  'kubernetes.metal.cloud.sap/cluster',
  'kubernetes.metal.cloud.sap/name',
  'kubernetes.metal.cloud.sap/type',
  'worker.garden.sapcloud.io/group',
  'worker.gardener.cloud/pool'
]

const labelsOf = ({ metadata }: Node): Record<string, string> => metadata?.labels ?? {}

export const isHypervisor = (node: Node): boolean => virtDriver in labelsOf(node)

export function copiedLabels(node: Node, shardKeys: readonly string[]): Record<string, string> {
  const labels = labelsOf(node)
  return Object.fromEntries([...copied, ...shardKeys].flatMap(key => (labels[key] === undefined ? [] : [[key, labels[key]]])))
}

/** The node's own words on the lifecycle; undefined when it says nothing. */
export function lifecycleOf(node: Node): { lifecycleEnabled: true; skipTests: boolean } | undefined {
  const value = labelsOf(node)[lifecycle]
  return value === undefined ? undefined : { lifecycleEnabled: true, skipTests: value === 'skip-tests' }
}

/** HV-21: trimmed, without empties and duplicates, sorted. */
const list = (...items: string[]): string[] => [...new Set(items.map(item => item.trim()).filter(item => item !== ''))].sort()

export function aggregatesOf(node: Node): string[] | undefined {
  const wanted = node.metadata?.annotations?.[aggregates]
  return wanted === undefined ? undefined : list(...wanted.split(','), labelsOf(node)[zone] ?? '')
}

export function traitsOf(node: Node): string[] | undefined {
  const wanted = node.metadata?.annotations?.[customTraits]
  return wanted === undefined ? undefined : list(...wanted.split(','))
}

export function isTerminating(node: Node): boolean {
  if (node.metadata?.deletionTimestamp !== undefined) return true
  return node.status?.conditions?.some(({ type, status }) => type === 'Terminating' && status === 'True') ?? false
}

export const isBeingOffboarded = (node: Node): boolean =>
  node.spec?.taints?.some(({ key, effect }) => key === offboarding && effect === 'NoExecute') ?? false

/** Not a controller reference: the object goes with its Node, but nobody's controller owns it. */
export const ownerReference = (node: Node): NonNullable<ObjectMeta['ownerReferences']>[number] => ({
  apiVersion: 'v1',
  kind: 'Node',
  name: node.metadata?.name ?? '',
  uid: node.metadata?.uid ?? '',
  blockOwnerDeletion: true
})
