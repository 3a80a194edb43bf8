// The status that an Eviction gets after a pass: a function of what was seen, decided and answered. Pure.
import { plural } from '../../shared/view/time.ts'
import { conditionSet, timestamp, type Verdict as Told } from '../../shared/kube/conditions.ts'
import type { EvictionCondition } from '../../shared/schema/eviction.ts'
import { isMovingAny } from './decide.ts'
import type { Step } from './step.ts'
import { estimate, type Progress } from './eta.ts'
import type { Judged } from './judge.ts'
import { kept } from './kept.ts'
import type { Entry, Incoming, Outcome, Seen, Status, Verdict } from './seen.ts'

/** What became of the calls, by server; `host` for the compute service. */
export interface Answers {
  started: ReadonlyMap<string, Outcome>
  called: ReadonlyMap<string, Outcome>
  host?: Outcome
}

const ends = new Set<Entry['state']>(['Done', 'Gone'])
/** After so many in a row it is for a person to read Nova's words. */
const mostRefusals = 5

export function reflect(
  seen: Seen,
  step: Step,
  answers: Answers,
  now: Date,
  live: ReadonlyMap<string, Progress> = new Map()
): Status {
  const { eviction, hypervisor, service } = seen
  const before = eviction.status ?? {}
  const entries = step.judged.map(judged => afterAct(judged, step, answers, now))
  const left = entries.filter(entry => !ends.has(entry.state) && entry.state !== 'Excluded')
  const denied = [...answers.started.values(), ...answers.called.values()].find(answer => !answer.ok && answer.kind === 'Denied')
  const waitingFor = denied && !denied.ok ? `rights in OpenStack: ${denied.message}` : step.waitingFor
  const open = step.verdict === undefined
  const eta =
    open || step.verdict === 'Planned' ? estimate(entries, Math.max(step.free + step.moving.length, 1), now, live) : undefined
  const due = step.verdict === undefined || step.verdict === 'Incomplete' || step.verdict === 'HostMissing'
  return {
    ...(service && { hypervisorServiceId: service.id }),
    ...(hypervisor?.status?.hypervisorId && { hypervisorId: hypervisor.status.hypervisorId }),
    outstandingRamMb: left.reduce((sum, { ramMb = 0 }) => sum + ramMb, 0),
    outstandingInstances: outstanding(left, step),
    conditions: conditionSet(
      before.conditions,
      conditions(seen, step, entries, answers, waitingFor),
      now,
      eviction.metadata.generation
    ),
    observedGeneration: eviction.metadata.generation ?? 0,
    phase: step.phase,
    ...(step.verdict && { verdict: step.verdict }),
    startedAt: timestamp(new Date(step.startedMs)),
    ...(step.verdict && {
      finishedAt: step.anew || before.verdict !== step.verdict || !before.finishedAt ? timestamp(now) : before.finishedAt
    }),
    preflight: step.preflight.checks,
    ...(step.incoming.length > 0 && { incoming: step.incoming.map(one => afterAbort(one, answers)) }),
    instances: kept(entries),
    progress: progress(entries, before, step),
    ...(waitingFor && due && { waitingFor }),
    ...(due && { nextCheckAt: timestamp(new Date(now.getTime() + step.nextCheckMs)) }),
    ...(step.emptySinceMs !== undefined && { emptySince: new Date(step.emptySinceMs).toISOString() }),
    ...(eviction.spec.retryToken && { retryToken: eviction.spec.retryToken }),
    ...(eta && { eta: timestamp(eta.eta), etaConfidence: eta.confidence })
  }
}

/** The entry of a server once Nova has answered. */
function afterAct({ entry }: Judged, { starts }: Step, { started, called }: Answers, now: Date): Entry {
  const start = started.get(entry.id)
  const call = called.get(entry.id)
  if (call && !call.ok && entry.state === 'Confirming' && entry.reason === 'Confirming') {
    return { ...entry, confirmFailures: (entry.confirmFailures ?? 0) + 1, message: call.message, finishedAt: timestamp(now) }
  }
  if (call && !call.ok) return { ...(call.kind === 'Transient' ? unasked(entry) : entry), message: call.message }
  if (!start) return entry
  const { message: _, finishedAt: __, destination: ___, ...rest } = entry
  const how = starts.find(({ server }) => server === entry.id)?.how
  const strategy = entry.strategy === 'resume' || !how ? (entry.strategy ?? 'live') : how
  if (start.ok || start.maybeDone) {
    const message = start.ok ? 'Asked for; Nova does not show it yet.' : `Asked for, but the answer was lost: ${start.message}`
    const { refusals: ____, ...begun } = rest
    return { ...begun, state: 'Queued', strategy, reason: 'Asked', message, startedAt: now.toISOString() }
  }
  const refused = { ...rest, strategy, reason: start.kind, message: start.message, finishedAt: timestamp(now) }
  if (start.kind !== 'Refused') return { ...refused, state: start.kind === 'NotMigratable' ? 'Blocked' : 'Waiting' }
  const refusals = (entry.refusals ?? 0) + 1
  return { ...refused, refusals, state: refusals >= mostRefusals ? 'Blocked' : 'Waiting' }
}

/** An outage is no answer: it is asked again, and does not count. */
function unasked(entry: Entry): Entry {
  const { aborts = 0, abortedAt: _, ...rest } = entry
  return aborts > 1 ? { ...rest, aborts: aborts - 1 } : rest
}

/** Not given up yet: it is asked for again, which does no harm if Nova had heard it. */
function afterAbort(incoming: Incoming, { called }: Answers): Incoming {
  const answer = called.get(incoming.serverId ?? '')
  return answer && !answer.ok ? { ...incoming, action: 'wait' } : incoming
}

/** The last one is next (C). */
function outstanding(left: readonly Entry[], { starts }: Step): string[] {
  const next = starts.map(({ server }) => server)
  const ids = left.map(({ id }) => id)
  return [...ids.filter(id => !next.includes(id)), ...next.filter(id => ids.includes(id)).toReversed()]
}

function progress(
  entries: readonly Entry[],
  { progress: before, instances: listed = [] }: Status,
  { anew }: Step
): NonNullable<Status['progress']> {
  const count = (...states: Entry['state'][]) => entries.filter(({ state }) => states.includes(state)).length
  const bytes = (some: readonly Entry[]) => some.reduce((sum, { bytes, ramMb = 0 }) => sum + (bytes ?? ramMb * 2 ** 20), 0)
  const droppedBefore = anew ? 0 : Math.max(0, (before?.done ?? 0) - listed.filter(({ state }) => ends.has(state)).length)
  const done = count('Done', 'Gone') + droppedBefore
  return {
    total: entries.length + droppedBefore,
    done,
    running: count('Queued', 'Migrating', 'Confirming'),
    waiting: count('Waiting'),
    failed: count('Failed'),
    blocked: count('Blocked'),
    excluded: count('Excluded'),
    bytesTotal: bytes(entries),
    bytesDone: bytes(entries.filter(({ state }) => ends.has(state)))
  }
}

const evicting: Record<Verdict, { reason: 'Succeeded' | 'Failed' | 'Cancelled'; message: string }> = {
  Succeeded: { reason: 'Succeeded', message: 'The host is empty: two lists, and no migration to or from it.' },
  SucceededWithExclusions: { reason: 'Succeeded', message: 'Only the servers that were to be left alone are still on the host.' },
  Incomplete: { reason: 'Failed', message: 'Servers are left that cannot be moved; status.instances says why.' },
  Cancelled: { reason: 'Cancelled', message: 'Cancelled; status.instances says where each server is.' },
  Failed: { reason: 'Failed', message: 'HostDown: a dead host cannot be drained.' },
  HostMissing: { reason: 'Failed', message: 'Nova has no such host.' },
  Planned: { reason: 'Cancelled', message: 'Plan only: nothing was moved.' }
}

function conditions(
  { eviction }: Seen,
  step: Step,
  entries: readonly Entry[],
  answers: Answers,
  waitingFor: string | undefined
): Told[] {
  const { verdict, preflight, incoming, phase } = step
  const told: Array<EvictionCondition & { message: string }> = []
  if (verdict) {
    const { reason, message } = evicting[verdict]
    told.push({
      type: 'Evicting',
      status: 'False',
      reason,
      message: waitingFor ? `${message} Waiting for ${waitingFor}.` : message
    })
  } else
    told.push({
      type: 'Evicting',
      status: 'True',
      reason: 'Running',
      message: waitingFor ? `Waiting for ${waitingFor}.` : 'At work.'
    })
  const { blocking } = preflight
  if (blocking && !(blocking.check === 'disabled' && answers.host?.ok)) {
    told.push({
      type: 'PreflightChecksSucceeded',
      status: 'False',
      reason: 'Failed',
      message: blocking.message ?? blocking.check
    })
  } else told.push({ type: 'PreflightChecksSucceeded', status: 'True', reason: 'Succeeded', message: 'Every check passed.' })
  if (phase === 'Settling') {
    const reason = incoming.some(({ action }) => action === 'abort')
      ? 'AbortingIncomingMigrations'
      : 'WaitingForIncomingMigrations'
    told.push({ type: 'IncomingMigrationsSettled', status: 'False', reason, message: waitingFor ?? '' })
  } else if (incoming.length > 0) {
    const message = `Goes on all the same, with ${plural(incoming.length, 'move')} to this host under way.`
    told.push({ type: 'IncomingMigrationsSettled', status: 'False', reason: 'WaitingForIncomingMigrations', message })
  } else if (phase !== 'Preflight' && verdict !== 'Planned') {
    told.push({
      type: 'IncomingMigrationsSettled',
      status: 'True',
      reason: 'Settled',
      message: 'Nothing is on its way to the host.'
    })
  }
  const failed = entries.find(({ state, finishedAt }) => state === 'Failed' || (state === 'Waiting' && finishedAt !== undefined))
  if (isMovingAny(step.judged) || answers.started.size > 0)
    told.push({ type: 'MigratingInstance', status: 'True', reason: 'Running', message: waitingFor ?? 'Moves are under way.' })
  else if (failed)
    told.push({
      type: 'MigratingInstance',
      status: 'False',
      reason: 'Failed',
      message: `${failed.id}: ${failed.message ?? failed.reason ?? ''}`
    })
  else if (entries.some(({ state }) => state === 'Done'))
    told.push({ type: 'MigratingInstance', status: 'False', reason: 'Succeeded', message: 'The last move ended well.' })
  const { host } = answers
  if (eviction.spec.reenable && verdict && host) {
    told.push(
      host.ok
        ? { type: 'HypervisorReEnabled', status: 'True', reason: 'Succeeded', message: 'The host takes servers again.' }
        : { type: 'HypervisorReEnabled', status: 'False', reason: 'Failed', message: host.message }
    )
  }
  return told
}
