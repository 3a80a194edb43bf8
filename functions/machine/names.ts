// Labels, owners and names of a Machine's children. Pure.
import { hash } from 'node:crypto'
import type { KubeObject, ObjectMeta, OwnerReference } from '../../shared/schema/kind.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'

export const manager = 'drover-machine'
export const finalizer = 'machine.vitistack.io/cleanup'
export const machineLabel = 'vitistack.io/machine'
export const managedLabel = 'vitistack.io/managed-by'
const clusterLabel = 'cluster.vitistack.io/cluster-name'

/** The value is the seed's, so that its debug commands find what Drover makes. */
export const managed: Readonly<Record<string, string>> = { [managedLabel]: 'kubevirt-operator' }
export const managedSelector = `${managedLabel}=kubevirt-operator`

export function labelsOf({ metadata }: Machine): Record<string, string> {
  const cluster = metadata.labels?.[clusterLabel]
  return { ...managed, [machineLabel]: metadata.name, ...(cluster !== undefined && { [clusterLabel]: cluster }) }
}

/** M2: exactly one controller. */
export const ownerOf = ({ metadata: { name, uid = '' } }: Machine): OwnerReference => ({
  apiVersion: 'vitistack.io/v1alpha1',
  kind: 'Machine',
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true
})

export function childMeta(machine: Machine, name: string): ObjectMeta {
  const { namespace } = machine.metadata
  return { name, ...(namespace !== undefined && { namespace }), labels: labelsOf(machine), ownerReferences: [ownerOf(machine)] }
}

/** S5: ours only with our label and our owner; a namesake is never adopted, and never touched. */
export const isOurs = ({ metadata }: KubeObject, machine: Machine): boolean =>
  metadata?.labels?.[machineLabel] === machine.metadata.name && ownedBy({ metadata }, machine.metadata.uid)

export const ownedBy = ({ metadata }: Pick<KubeObject, 'metadata'>, uid: string | undefined): boolean =>
  uid !== undefined && (metadata?.ownerReferences?.some(owner => owner.uid === uid) ?? false)

export const claimName = (machine: string, disk: string): string => `${machine}-${disk}`
export const secretName = (machine: string): string => `${machine}-cloudinit`

/** N3: a legal name that tells bridge and VLAN; where a character had to change, a print of the bridge keeps two bridges apart. */
export function attachmentName({ bridge = '', vlan = 0 }: NetworkConfiguration['spec']): string {
  const legal = bridge.toLowerCase().replaceAll(/[^a-z0-9.-]|^[.-]|[.](?=[.-]|$)|(?<=[.-])[.]/g, '-')
  const begun = legal.startsWith('-') ? `b${legal}` : legal
  const name = `${begun}-${vlan > 0 ? `vlan${vlan}` : 'untagged'}`
  return begun === bridge ? name : `${name}-${hash('sha256', bridge).slice(0, 8)}`
}

/** N4: the same names give the same address, on every cluster with the same seed. */
export function macAddress(machine: Pick<ObjectMeta, 'name' | 'namespace'>, nic: string, seed: string): string {
  const text = `${seed === '' ? '' : `${seed}/`}${machine.namespace}/${machine.name}/${nic}`
  const mac = macFrom(text)
  return mac === '02:00:00:00:00:00' ? macFrom(`${text}/1`) : mac
}

const macFrom = (text: string): string => {
  const digest = hash('sha256', text)
  return `02:${[0, 2, 4, 6, 8].map(at => digest.slice(at, at + 2)).join(':')}`
}
