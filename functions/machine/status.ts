// What the status of a Machine says (spec/machine.md §2.3, §5.6, §7). Pure.
import { isDeepStrictEqual } from 'node:util'
import { conditionSet, timestamp, type Verdict } from '../../shared/kube/conditions.ts'
import type { Machine, MachineCondition } from '../../shared/schema/machine.ts'
import { addresses } from './addresses.ts'
import { errorTypes, isErrorType, type Problem } from './errors.ts'
import type { VirtualMachine } from './kubevirt.ts'
import { failureOf, isBroken, isUnschedulable, phase, restartRequired, type Phase } from './phase.ts'
import type { Seen } from './seen.ts'
import { storageState } from './storage-state.ts'

export type Status = NonNullable<Machine['status']>

export interface Reflected extends Pick<Seen, 'machine' | 'vm' | 'vmi' | 'claims' | 'dataVolumes'> {
  problems: readonly Problem[]
  /** The children are being made, or are there. */
  begun: boolean
  /** The VM was written in this pass. */
  acted: boolean
}

export const restartNote = 'a restart is needed for the last change to take effect'

export function reflect(seen: Reflected, now: Date, graceMs: number): Status {
  const { machine, vm, vmi, acted } = seen
  const before = machine.status ?? {}
  const unschedulableSince = isUnschedulable(vm) ? (before.unschedulableSince ?? timestamp(now)) : undefined
  const graceOver = unschedulableSince !== undefined && now.getTime() - Date.parse(unschedulableSince) >= graceMs
  const current = phaseNow(seen, before, graceOver)
  const firstRunningAt = before.firstRunningAt ?? (current === 'Running' ? timestamp(now) : undefined)
  const ips = vmi ? addresses(machine, vm, vmi) : []
  const version = acted || before.resourceVersion === undefined ? vm?.metadata.resourceVersion : before.resourceVersion
  const verdicts = conditions(seen, current) satisfies MachineCondition[]
  const status: Status = {
    phase: current,
    conditions: conditionSet(before.conditions, verdicts, now, machine.metadata.generation),
    ...(vm && { vmName: vm.metadata.name }),
    ...(vmi && { vmiName: vmi.metadata.name }),
    ...(ips.length > 0 && { ipAddresses: ips }),
    ...(vmi?.status?.nodeName && { nodeName: vmi.status.nodeName }),
    ...(version !== undefined && { resourceVersion: version }),
    ...(machine.metadata.generation !== undefined && { observedGeneration: machine.metadata.generation }),
    ...(firstRunningAt !== undefined && { firstRunningAt }),
    ...(unschedulableSince !== undefined && { unschedulableSince })
  }
  return { ...status, lastUpdated: movedAt(before, status, now) }
}

function phaseNow({ vm, problems, begun }: Reflected, before: Status, graceOver: boolean): Phase {
  const found = phase({
    before: before.phase,
    ranBefore: before.firstRunningAt !== undefined,
    refused: problems.some(({ final }) => final),
    vm,
    graceOver
  })
  return found === 'Pending' && begun ? 'Creating' : found
}

/** Moves only when another field did. Conditions of others are none of ours. */
function movedAt(
  { lastUpdated, conditions: told = [], ...before }: Status,
  { conditions = [], ...after }: Status,
  now: Date
): string {
  const own = conditions.map(({ type }) => told.find(condition => condition.type === type))
  const same = lastUpdated !== undefined && isDeepStrictEqual(before, after) && isDeepStrictEqual(own, conditions)
  return same ? lastUpdated : timestamp(now)
}

type Told = MachineCondition & Verdict

function conditions(seen: Reflected, now: Phase): Told[] {
  const others = [vmCondition(seen), storageCondition(seen), networkCondition(seen)]
  return [readyCondition(seen, now, others), ...others]
}

const about = ({ problems }: Reflected, what: Problem['about']): Problem | undefined =>
  problems.find(problem => problem.about === what)

function vmCondition(seen: Reflected): Told {
  const type = 'VirtualMachineReady'
  const problem = about(seen, 'vm')
  if (problem?.type === 'NameConflict') return { type, status: 'False', reason: 'NameConflict', message: problem.message }
  if (problem) return { type, status: 'False', reason: 'VMFailed', message: problem.message }
  const { vm } = seen
  if (!vm) return { type, status: 'Unknown', reason: 'Pending', message: 'the virtual machine is not there yet' }
  if (isBroken(vm)) return { type, status: 'False', reason: 'VMFailed', message: brokenMessage(vm) }
  return {
    type,
    status: 'True',
    reason: 'VMCreated',
    message: `the virtual machine is ${vm.status?.printableStatus ?? 'created'}`
  }
}

function brokenMessage(vm: VirtualMachine): string {
  const why = failureOf(vm) ?? vm.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False')
  const state = vm.status?.printableStatus ?? 'Failure'
  return `the virtual machine ${vm.metadata.name} is in ${state}${why?.message ? `: ${why.message}` : ''}`
}

function storageCondition(seen: Reflected): Told {
  const type = 'StorageReady'
  const problem = about(seen, 'storage')
  if (problem?.type === 'StorageClassNotFound' || problem?.type === 'NameConflict') {
    return { type, status: 'False', reason: problem.type, message: problem.message }
  }
  if (problem) return { type, status: 'False', reason: 'PVCPending', message: problem.message }
  const { pending, total } = storageState(seen)
  if (!seen.begun && pending.length > 0) return { type, status: 'Unknown', reason: 'Pending', message: 'no claim was made yet' }
  if (pending.length === 0)
    return { type, status: 'True', reason: 'PVCBound', message: total === 0 ? 'no claim is needed' : 'all claims are bound' }
  return { type, status: 'False', reason: 'PVCPending', message: `waiting for ${pending.join(', ')}` }
}

function networkCondition(seen: Reflected): Told {
  const type = 'NetworkReady'
  const problem = about(seen, 'network')
  if (problem?.type === 'NameConflict') return { type, status: 'False', reason: 'NameConflict', message: problem.message }
  if (problem) return { type, status: 'False', reason: 'NetworkFailed', message: problem.message }
  if (!seen.begun) return { type, status: 'Unknown', reason: 'Pending', message: 'the networks were not looked at yet' }
  return { type, status: 'True', reason: 'NetworkConfigured', message: 'all networks are there' }
}

/** E8: several errors are told by their conditions; here the first of the table. */
export const firstError = (problems: readonly Problem[]): Problem | undefined =>
  errorTypes.flatMap(type => problems.filter(problem => problem.type === type))[0]

function readyCondition(seen: Reflected, now: Phase, others: readonly Told[]): Told {
  const { problems, vm } = seen
  const restart = restartRequired(vm) ? `; ${restartNote}` : ''
  const not = (reason: Extract<Told, { type: 'Ready'; status: 'False' }>['reason'], message: string): Told => ({
    type: 'Ready',
    status: 'False',
    reason,
    message: `${message}${restart}`
  })
  const error = firstError(problems)
  const waiting = problems.find(({ type }) => !isErrorType(type))
  const state = vm?.status?.printableStatus
  if (error && isErrorType(error.type) && !(now === 'Running' && vm && error.about === 'network'))
    return not(error.type, error.message)
  if (isUnschedulable(vm))
    return not(
      'InsufficientResources',
      `no node has room for the virtual machine${readyMessage(vm)}: add capacity or lower its resources`
    )
  if (isBroken(vm) && vm) return not('KubeVirtApiError', brokenMessage(vm))
  if (waiting) return not('CloudInitSecretNotFound', waiting.message)
  if (error && isErrorType(error.type)) return not(error.type, error.message)
  if (state === 'Paused') return not('Paused', 'the virtual machine is paused')
  if (now === 'Running') {
    const unready = others.find(({ status }) => status !== 'True')
    if (unready) return not('Provisioning', unready.message)
    return { type: 'Ready', status: 'True', reason: 'MachineRunning', message: `the machine runs${restart}` }
  }
  if (now === 'Stopped' && vm && (state === 'Stopped' || state === 'Stopping'))
    return not('Stopped', 'the virtual machine is stopped')
  if (state === 'Starting') return not('Starting', 'the virtual machine is starting')
  if (now === 'Stopped' && !vm) return not('Provisioning', 'the virtual machine is being made again')
  const pending = others.find(({ status }) => status !== 'True')
  return not('Provisioning', pending?.message ?? `the virtual machine is ${state ?? 'being made'}`)
}

function readyMessage(vm: VirtualMachine | undefined): string {
  const message = vm?.status?.conditions?.find(({ type }) => type === 'PodScheduled' || type === 'Ready')?.message
  return message ? ` (${message})` : ''
}
