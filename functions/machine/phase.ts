// The phase of a Machine: the whole table of §5.6. Pure.
import type { Machine } from '../../shared/schema/machine.ts'
import type { VirtualMachine } from './kubevirt.ts'

export type Phase = NonNullable<NonNullable<Machine['status']>['phase']>

export interface PhaseFacts {
  before: Phase | undefined
  ranBefore: boolean
  /** Nothing but a change of the spec mends it (T1, E6, a denial of E5). */
  refused: boolean
  vm: VirtualMachine | undefined
  /** P2: unschedulable for longer than the grace. */
  graceOver: boolean
}

const broken = new Set(['CrashLoopBackOff', 'DataVolumeError', 'ErrorPvcNotFound', 'ErrImagePull', 'ImagePullBackOff'])

/** K12: the CRD's default reads Stopped before any controller saw the VM. */
const isObserved = ({ status }: VirtualMachine): boolean =>
  status?.created !== undefined || status?.observedGeneration !== undefined || (status?.conditions?.length ?? 0) > 0

const condition = ({ status }: VirtualMachine, type: string) => status?.conditions?.find(found => found.type === type)
export const failureOf = (vm: VirtualMachine | undefined) => {
  const failure = vm && condition(vm, 'Failure')
  return failure?.status === 'True' ? failure : undefined
}
export const restartRequired = (vm: VirtualMachine | undefined): boolean =>
  vm !== undefined && condition(vm, 'RestartRequired')?.status === 'True'

export const isBroken = (vm: VirtualMachine | undefined): boolean =>
  failureOf(vm) !== undefined || broken.has(vm?.status?.printableStatus ?? '')
export const isUnschedulable = (vm: VirtualMachine | undefined): boolean => vm?.status?.printableStatus === 'ErrorUnschedulable'

export function phase({ before, ranBefore, refused, vm, graceOver }: PhaseFacts): Phase {
  if (refused) return 'Failed'
  if (!vm) return ranBefore ? 'Stopped' : before === 'Creating' ? 'Creating' : 'Pending'
  if (isBroken(vm)) return 'Failed'
  const starting = ranBefore ? 'Stopped' : 'Creating'
  switch (vm.status?.printableStatus) {
    case 'Running':
    case 'Migrating':
    case 'Paused':
      return 'Running'
    case 'ErrorUnschedulable':
      return graceOver ? 'Failed' : starting
    case 'Stopping':
    case 'Stopped':
      return ranBefore || isObserved(vm) ? 'Stopped' : 'Creating'
    case undefined: // nobody has said anything yet
    case 'Provisioning':
    case 'Starting':
    case 'WaitingForVolumeBinding':
      return starting
    default: // Terminating, Unknown, WaitingForReceiver
      return before === undefined || before === 'Pending' ? starting : before
  }
}
