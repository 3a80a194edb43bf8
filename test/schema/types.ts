// Never run: the compiler proves what the kinds' types say.
import type { Hypervisor, HypervisorCondition } from '../../shared/schema/hypervisor.ts'
import type { Kind } from '../../shared/schema/kind.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { OVSNode } from '../../shared/schema/ovs-node.ts'
import { Hypervisor as HypervisorKind } from '../../shared/schema/hypervisor.ts'

type Same<A, B> = [A, B] extends [B, A] ? true : never
type Disk = NonNullable<Machine['spec']['disks']>[number]
type Table = NonNullable<NonNullable<OVSNode['status']>['flowStats']>

export const proofs: [
  Same<Hypervisor['spec']['maintenance'], '' | 'manual' | 'auto' | 'ha' | 'termination' | undefined>,
  Same<Hypervisor['spec']['reboot'], boolean>,
  Same<Disk['name'], string>,
  Same<Disk['size'], string | number | undefined>,
  Same<NonNullable<Table['flowsPerTable']>[number]['table'], number>,
  HypervisorCondition extends { type: string; status: string; reason: string } ? true : never,
  { type: 'Evicting'; status: 'False'; reason: 'Failed' } extends HypervisorCondition ? never : true // VMs left, never False
] = [true, true, true, true, true, true, true]

export const addressed: Kind<Hypervisor> = HypervisorKind
