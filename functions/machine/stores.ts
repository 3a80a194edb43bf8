import { PersistentVolumeClaim } from '../../shared/kube/kinds.ts'
import type { Kube } from '../../shared/kube/index.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import type { Kind, KubeObject } from '../../shared/schema/kind.ts'
import { Machine } from '../../shared/schema/machine.ts'
import { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import { DataVolume, NetworkAttachment, StorageClass, VirtualMachine, VirtualMachineInstance } from './kubevirt.ts'
import { machineLabel, managedSelector } from './names.ts'
import { store } from './store.ts'

/** What a pass may look at without asking. Of children only what bears our label: a cluster has many claims that concern nobody here. */
export function openStores(kube: Kube, signal: AbortSignal, log: Logger) {
  const ofMachine = ({ metadata }: KubeObject): string => machineKey(metadata?.namespace, metadata?.labels?.[machineLabel] ?? '')
  const ofNamespace = ({ metadata }: KubeObject): string => metadata?.namespace ?? ''
  const own = <T extends KubeObject>(kind: Kind<T>) => store(kube, kind, { group: ofNamespace, required: true, signal, log })
  const child = <T extends KubeObject>(kind: Kind<T>) =>
    store(kube, kind, { group: ofMachine, labelSelector: managedSelector, signal, log })
  const other = <T extends KubeObject>(kind: Kind<T>) => store(kube, kind, { group: ofNamespace, signal, log })
  return {
    machines: own(Machine),
    networks: own(NetworkConfiguration),
    vms: child(VirtualMachine),
    vmis: child(VirtualMachineInstance),
    claims: child(PersistentVolumeClaim),
    dataVolumes: child(DataVolume),
    attachments: other(NetworkAttachment),
    classes: other(StorageClass)
  }
}
export type Stores = ReturnType<typeof openStores>

export const machineKey = (namespace = '', name: string): string => `${namespace}/${name}`
