import type { PersistentVolumeClaim, Secret } from '../../shared/kube/kinds.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import type { DataVolume, NetworkAttachment, VirtualMachine, VirtualMachineInstance } from './kubevirt.ts'

/** All that a pass knows of one Machine. Lists hold what bears its label, and namesakes of what it wants. */
export interface Seen {
  machine: Machine
  vm: VirtualMachine | undefined
  vmi: VirtualMachineInstance | undefined
  claims: readonly PersistentVolumeClaim[]
  dataVolumes: readonly DataVolume[]
  /** Those of the namespace. */
  networks: readonly NetworkConfiguration[]
  attachments: readonly NetworkAttachment[]
  /** Names of StorageClasses. */
  classes: ReadonlySet<string>
  /** The Secret that the Machine refers to. */
  source: Secret | undefined
  /** The generated Secret; `unasked` while it is known to be right. */
  own: Secret | undefined | 'unasked'
  /** Parts of the cluster that are not installed. */
  absent: ReadonlySet<'KubeVirt' | 'CDI' | 'Multus'>
}
