// What a host says of its maintenance. Pure.
import { conditionSet, timestamp, type Verdict } from '../../shared/kube/conditions.ts'
import { historyAfter, type Action } from '../../shared/openstack/audit.ts'
import { verdictOf } from '../../shared/openstack/eviction-verdict.ts'
import { driftEntries, type Finding } from '../../shared/openstack/drift.ts'
import type { Eviction } from '../../shared/schema/eviction.ts'
import type { HypervisorCondition } from '../../shared/schema/hypervisor-conditions.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { manager, type Seen, type Step } from './decide.ts'

type Status = NonNullable<Hypervisor['status']>
type Told = HypervisorCondition & { message: string }

export interface Outcome {
  /** the service as it is now; undefined when Nova has none or could not be asked */
  service: Seen['service']
  eviction: Eviction | undefined
  /** why something could not be done */
  problem?: string
  findings: readonly Finding[]
  /** what was changed, for the record (HV-67) */
  actions: readonly Action[]
}

export function reflect(
  { hypervisor }: Seen,
  step: Step,
  { service, eviction: found, problem, findings, actions }: Outcome,
  now: Date,
  extended: boolean
): Partial<Status> {
  const { mode, sinceMs, waitingFor } = step
  const eviction = mode === '' && !waitingFor ? undefined : found // a person's own is nothing to tell of here (EV-2)
  const told: Verdict[] = [
    ...disabledVerdict(hypervisor, step, service, problem),
    ...(mode === '' && !eviction ? [] : evictingVerdict(step, eviction))
  ]
  const evicted = told.some(({ type, status }) => type === 'Evicting' && status === 'False')
  const drift = driftEntries(hypervisor.status?.drift, ['service'], findings, now)
  const history = historyAfter(hypervisor.status?.history, manager, actions, now)
  return {
    evicted,
    conditions: conditionSet(hypervisor.status?.conditions, told, now, hypervisor.metadata.generation),
    ...(extended && {
      ...(service && { nova: novaOf(service, hypervisor, now) }),
      maintenance: {
        mode,
        since: timestamp(new Date(sinceMs)),
        ...(hypervisor.spec.maintenanceReason && mode !== '' && { reason: hypervisor.spec.maintenanceReason }),
        ...(eviction && {
          evictionRef: {
            name: eviction.metadata.name,
            ...(eviction.metadata.uid && { uid: eviction.metadata.uid }),
            ...(eviction.status?.verdict && { verdict: eviction.status.verdict })
          }
        })
      },
      ...(history.length > 0 && { history }),
      ...(drift.length > 0 && { drift })
    })
  }
}

/** `host` and `hypervisorHostname` are the onboarding's. The time moves only with what was read, or every status would be news. */
function novaOf(
  { status, state, forcedDown, disabledReason }: NonNullable<Seen['service']>,
  { status: before }: Hypervisor,
  now: Date
): NonNullable<Status['nova']> {
  const read = { status, state, forcedDown, ...(disabledReason !== null && { disabledReason }) }
  const { nova } = before ?? {}
  const same =
    nova?.status === status &&
    nova.state === state &&
    nova.forcedDown === forcedDown &&
    (nova.disabledReason ?? null) === disabledReason
  return { ...read, checkedAt: same && nova.checkedAt ? nova.checkedAt : timestamp(now) }
}

function disabledVerdict(
  hypervisor: Hypervisor,
  { mode, service: { do: done } }: Step,
  service: Seen['service'],
  problem: string | undefined
): Verdict[] {
  const type = 'HypervisorDisabled'
  if (!service) {
    // an outage of Nova takes back nothing that was true before
    const before = hypervisor.status?.conditions?.find(known => known.type === type)
    const message = problem ?? 'Nova has no compute service of this host.'
    if (before) return [{ type, status: before.status, reason: before.reason, message }]
    return mode === '' ? [] : [{ type, status: 'Unknown', reason: 'Drift', message }]
  }
  if (service.forcedDown && mode === '') {
    const message = problem ?? 'Somebody forced the compute service down: Nova places no servers here, and it is left so.'
    return [{ type, status: 'Unknown', reason: 'Drift', message }]
  }
  const disabled = service.status === 'disabled'
  const why = disabled ? `Disabled: ${service.disabledReason ?? 'no reason given'}` : 'The compute service takes servers.'
  const wanted = mode !== ''
  if (wanted === disabled || done === 'leave')
    return [{ type, status: disabled ? 'True' : 'False', reason: 'Succeeded', message: problem ?? why }]
  return [{ type, status: 'Unknown', reason: 'Drift', message: problem ?? `${why}; not as wanted, and left so.` }]
}

/** HV-45: False, and `evicted`, only of a host that was verified empty. */
function evictingVerdict({ waitingFor, appeared }: Step, eviction: Eviction | undefined): Told[] {
  const type = 'Evicting'
  const { progress, waitingFor: awaited } = eviction?.status ?? {}
  const verdict = eviction && verdictOf(eviction)
  const running = (message: string): Told[] => [{ type, status: 'True', reason: 'Running', message }]
  if (waitingFor) return running(`Maintenance is over; waiting for ${waitingFor}.`)
  if (appeared) return running(`Server ${appeared} appeared on the drained host.`)
  const stale = (eviction?.status?.retryToken ?? '') !== (eviction?.spec.retryToken ?? '')
  if (verdict === undefined || stale) {
    const counts = progress
      ? `${progress.done ?? 0} of ${progress.total ?? 0} servers left the host`
      : 'Servers are to leave the host'
    return running(awaited ? `${counts}; waiting for ${awaited}.` : `${counts}.`)
  }
  if (verdict === 'Succeeded') return [{ type, status: 'False', reason: 'Succeeded', message: 'The host is empty.' }]
  if (verdict === 'SucceededWithExclusions' || verdict === 'Cancelled' || verdict === 'Planned') {
    return [
      { type, status: 'True', reason: 'Blocked', message: `The Eviction ended as ${verdict}: servers are still on the host.` }
    ]
  }
  return [
    {
      type,
      status: 'True',
      reason: 'Failed',
      message: `The Eviction ended as ${verdict}${awaited ? `; waiting for ${awaited}` : ''}.`
    }
  ]
}
