import { Node, PersistentVolumeClaim, Pod } from '../../shared/kube/kinds.ts'
import type { Kind, KubeObject } from '../../shared/schema/kind.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { Machine } from '../../shared/schema/machine.ts'
import { Migration } from '../../shared/schema/migration.ts'
import { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import { OVSNode } from '../../shared/schema/ovs-node.ts'

export interface Watched<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>
  /** Fields of the status that only say "still alive" or count: a change of these alone is not told. */
  readonly volatile: readonly string[]
  /** Whose events must keep their order: the hypervisor's name, or namespace/name of the Machine. */
  owner(object: T): string
  /** Facts worth keeping when the object is gone and nobody can read it again. */
  last?(object: T): object
}

const nameOf = ({ metadata }: KubeObject): string => metadata?.name ?? ''
const machineOf = ({ metadata }: KubeObject): string =>
  `${metadata?.namespace}/${metadata?.labels?.['vitistack.io/machine'] ?? metadata?.name}`

const watched = <T extends KubeObject>(
  kind: Kind<T>,
  rest: Omit<Watched<NoInfer<T>>, 'kind' | 'volatile'> & { volatile?: string[] }
): Watched => ({ volatile: [], ...rest, kind })

const kubevirt = { group: 'kubevirt.io', version: 'v1', namespaced: true }

export const nodes: readonly Watched[] = [
  watched(Node, { owner: nameOf, volatile: ['images', 'volumesInUse', 'volumesAttached'] }),
  watched(Hypervisor, {
    owner: nameOf,
    volatile: ['agent'],
    last: ({ status }) => ({
      numInstances: status?.numInstances ?? 0,
      instances: status?.instances?.slice(0, 200).map(({ id }) => id) ?? []
    })
  }),
  // the CRDs in use take an object without a spec, whatever the type says
  watched(Eviction, { owner: object => object.spec?.hypervisor ?? nameOf(object), volatile: ['eta'] }),
  watched(Migration, { owner: nameOf, volatile: ['stats'] }),
  watched(OVSNode, {
    owner: object => object.spec?.nodeRef?.name ?? nameOf(object),
    volatile: ['observedAt', 'metrics', 'flowStats']
  })
]

export const machines: readonly Watched[] = [
  watched(Machine, { owner: machineOf, volatile: ['lastUpdated'] }),
  watched(NetworkConfiguration, { owner: machineOf }),
  watched({ ...kubevirt, kind: 'VirtualMachine', plural: 'virtualmachines' }, { owner: machineOf }),
  watched({ ...kubevirt, kind: 'VirtualMachineInstance', plural: 'virtualmachineinstances' }, { owner: machineOf }),
  watched(PersistentVolumeClaim, { owner: machineOf }),
  watched(
    { group: 'cdi.kubevirt.io', version: 'v1beta1', kind: 'DataVolume', plural: 'datavolumes', namespaced: true },
    { owner: machineOf, volatile: ['progress'] }
  )
]

/** Pods are watched in the agents' namespaces alone: a cluster has many that concern nobody here. */
export const pods: Watched = watched(Pod, { owner: ({ spec, metadata }) => spec?.nodeName ?? metadata?.name ?? '' })
