// Who is told of what changed: Kubernetes Events (V1), CloudEvents (V2), metrics (MT3). By the pass whose status write changed it, once.
import type { Happening } from '../../shared/kube/index.ts'
import { machineDeleted } from '../../shared/events/objects.ts'
import { machineCreated, machineFailed, machineRecovered, machineStarted, machineStopped } from '../../shared/events/workflow.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { Outcome } from './act.ts'
import type { Deps } from './deps.ts'
import { isErrorType, type Problem } from './errors.ts'
import { merge } from '../../shared/rules/merge.ts'
import { restartNote, type Status } from './status.ts'

const action = 'Reconcile'
const normal = (reason: string, note: string): Happening => ({ type: 'Normal', reason, action, note })
const warning = (reason: string, note: string): Happening => ({ type: 'Warning', reason, action, note })

const conditionOf = (status: Status | undefined, type: string) => status?.conditions?.find(condition => condition.type === type)
const turnedTrue = (type: string, before: Status | undefined, after: Status): boolean =>
  conditionOf(after, type)?.status === 'True' && conditionOf(before, type)?.status !== 'True'

export function happenings(
  before: Status | undefined,
  after: Status,
  { made, vm }: Pick<Outcome, 'made' | 'vm'>,
  problems: readonly Problem[]
): Happening[] {
  const known = new Set(before?.conditions?.map(({ message }) => message))
  const ready = conditionOf(after, 'Ready')
  const needsRestart = ready?.message.includes(restartNote) && !conditionOf(before, 'Ready')?.message.includes(restartNote)
  const name = after.vmName ?? ''
  return [
    ...(made.length > 0 ? [normal('PVCCreated', `Created ${made.join(', ')}`)] : []),
    ...(vm === 'made' ? [normal('VirtualMachineCreated', `Created the VirtualMachine ${name}`)] : []),
    ...(vm === 'changed' ? [normal('VirtualMachineUpdated', `Updated the VirtualMachine ${name}`)] : []),
    ...(turnedTrue('NetworkReady', before, after) ? [normal('NetworkConfigured', 'All networks are there')] : []),
    ...problems
      .filter(({ type, message }) => isErrorType(type) && !known.has(message))
      .map(({ type, message }) => warning(type, message)),
    ...(after.phase === 'Failed' && before?.phase !== 'Failed' && problems.length === 0
      ? [warning(ready?.reason ?? 'KubeVirtApiError', ready?.message ?? '')]
      : []),
    ...(needsRestart
      ? [warning('RestartRequired', 'The last change counts from the next restart, which Drover leaves to you')]
      : [])
  ]
}

/** V2: which of the five a change of phase is. */
export function transitions(before: Status | undefined, after: Status) {
  if (before?.phase === after.phase) return []
  return [
    ...(before?.vmName === undefined && after.vmName !== undefined ? [machineCreated] : []),
    ...(before?.phase === 'Failed' ? [machineRecovered] : []),
    ...(after.phase === 'Running' ? [machineStarted] : []),
    ...(after.phase === 'Stopped' && before?.phase === 'Running' ? [machineStopped] : []),
    ...(after.phase === 'Failed' ? [machineFailed] : [])
  ]
}

export async function tell(
  machine: Machine,
  after: Status,
  outcome: Outcome,
  problems: readonly Problem[],
  deps: Deps
): Promise<void> {
  const { status: before } = machine
  const about = { apiVersion: 'vitistack.io/v1alpha1', kind: 'Machine', metadata: machine.metadata }
  const told = happenings(before, after, outcome, problems).map(happening => deps.kube.event(about, happening))
  const emitted = transitions(before, after).map(kind => {
    const { name, namespace, uid = '', generation = 0 } = machine.metadata
    const subject = `${namespace}/${name}`
    const data = {
      uid,
      generation,
      after: after.phase ?? '',
      reason: conditionOf(after, 'Ready')?.reason ?? '',
      ...(before?.phase && { before: before.phase }),
      ...(after.nodeName && { nodeName: after.nodeName })
    }
    return deps.emit({ kind, id: `${uid}/${kind.type}/${after.lastUpdated}`, subject, partitionkey: subject, data })
  })
  await untroubled([...told, ...emitted], machine, deps)
  if (turnedTrue('StorageReady', before, after)) observeProvisioning(machine, outcome, deps)
}

export async function tellDeleted(machine: Machine, deps: Deps): Promise<void> {
  const { name, namespace, uid = '', generation = 0 } = machine.metadata
  const about = { apiVersion: 'vitistack.io/v1alpha1', kind: 'Machine', metadata: machine.metadata }
  const subject = `${namespace}/${name}`
  const data = {
    apiVersion: about.apiVersion,
    kind: about.kind,
    name,
    ...(namespace !== undefined && { namespace }),
    uid,
    generation,
    reason: 'CleanupCompleted',
    ...(machine.status?.phase && { before: machine.status.phase })
  }
  const told = deps.kube.event(about, normal('CleanupCompleted', 'The virtual machine, its claims and its Secret are gone'))
  const emitted = deps.emit({ kind: machineDeleted, id: `${uid}/deleted`, subject, partitionkey: subject, data })
  await untroubled([told, emitted], machine, deps)
}

/** The status is the truth and is written: that somebody could not be told must not repeat the whole pass. */
async function untroubled(telling: readonly Promise<void>[], { metadata }: Machine, { log }: Deps): Promise<void> {
  for (const result of await Promise.allSettled(telling)) {
    if (result.status === 'fulfilled') continue
    log.warn(
      { controller: 'Machine', machine: metadata.name, namespace: metadata.namespace, err: result.reason },
      'could not be told'
    )
  }
}

/** MT3: once, by the pass that saw the last claim bound. */
function observeProvisioning(machine: Machine, { seen: { claims } }: Outcome, { clock, metrics }: Deps): void {
  const classes = new Set(merge(machine.spec).disks.map(({ storageClass }) => storageClass))
  const now = clock().getTime()
  for (const { metadata, spec } of claims) {
    const created = Date.parse(metadata?.creationTimestamp ?? '')
    if (Number.isNaN(created)) continue
    const name = spec?.storageClassName ?? 'default'
    metrics.provisioned(classes.has(name) ? name : 'default', Math.max(0, now - created) / 1000)
  }
}
