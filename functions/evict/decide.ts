// What to do next for one Eviction, from what was seen (spec/hypervisor.md §4). Pure.
import { findCondition } from '../../shared/kube/conditions.ts'
import { plural } from '../../shared/view/time.ts'
import { deadRecords, leftovers, limitsCheck, planCheck, preflight, type Preflight } from './checks.ts'
import { durationMs } from './duration.ts'
import type { Judged, Scene } from './judge.ts'
import { judgeAll, newestEnd } from './judge-all.ts'
import { foretold } from './foretell.ts'
import { isEmergency, plan, room, traffic, type Candidate, type Traffic } from './plan.ts'
import { endMs, isOpen } from './records.ts'
import type { Call, Check, Entry, Options, Seen, Verdict } from './seen.ts'
import { incomingOf, settle } from './settle.ts'
import { pollMovingMs, pollWaitingMs, skewMs, type Step } from './step.ts'

export const manager = 'drover-evict'

const finalVerdicts = new Set<Verdict>(['Succeeded', 'SucceededWithExclusions', 'Cancelled', 'Failed', 'Planned'])
const recheckMs = 30_000
const abandonedMs = 15 * 60_000

/** Ended, and nothing but a new order opens it again. */
export const isFinal = (eviction: Seen['eviction']): boolean => {
  const verdict = eviction.status?.verdict
  return (verdict === undefined ? endedElsewhere(eviction) : finalVerdicts.has(verdict)) && !isAnew(eviction)
}

/** EV-12b: another operator has finished it, and its verdict is none of ours. */
const endedElsewhere = (eviction: Seen['eviction']): boolean =>
  eviction.status?.verdict === undefined && findCondition(eviction, 'Evicting')?.status === 'False'

/** A changed token; or what had ended it was taken back: the plan is to be carried out, the cancelled one is wanted after all. */
const isAnew = (eviction: Seen['eviction']): boolean => {
  const { spec, status } = eviction
  if (status?.verdict === undefined && !endedElsewhere(eviction)) return false
  if (status?.verdict === 'Planned' && !spec.dryRun) return true
  return (status?.retryToken ?? '') !== (spec.retryToken ?? '') || (status?.verdict === 'Cancelled' && !spec.cancel)
}

/** In the reason for which Nova's service is disabled. */
export const markOf = ({ metadata }: Seen['eviction']): string => `eviction=${metadata.name}:`

/** HV-46: somebody is on a host that was called empty and is still held back for this very Eviction. */
const hasReturned = ({ eviction, hypervisor, service, servers }: Seen): boolean =>
  eviction.status?.verdict === 'Succeeded' &&
  servers.length > 0 &&
  service?.status === 'disabled' &&
  (Boolean(service.disabledReason?.includes(markOf(eviction))) ||
    (eviction.metadata.name === eviction.spec.hypervisor && (Boolean(hypervisor?.spec?.maintenance) || isEmergency(eviction))))

export function decide(seen: Seen, nowMs: number, options: Options): Step {
  const { eviction } = seen
  const returned = hasReturned(seen)
  const anew = isAnew(eviction) || returned
  const startedMs = anew || !eviction.status?.startedAt ? nowMs : Date.parse(eviction.status.startedAt)
  const checked = preflight(seen, nowMs, options)
  const step: Step = {
    phase: 'Preflight',
    anew,
    startedMs,
    preflight: checked,
    incoming: [],
    judged: [],
    calls: [],
    starts: [],
    free: 0,
    moving: [],
    nextCheckMs: recheckMs
  }
  const over = isFinal(eviction) && !returned ? eviction.status?.verdict : undefined
  if (!seen.host || !seen.service) return over ? { ...step, phase: 'Done', verdict: over } : missing(seen, step, nowMs, options)
  const scene: Scene = {
    host: seen.host,
    nowMs,
    sinceMs: startedMs - skewMs,
    lastSuccessMs: newestEnd(eviction.status, ({ state }) => state === 'Done'),
    lastFullMs: newestEnd(eviction.status, ({ state, reason }) => state === 'Waiting' && reason === 'NoCapacity')
  }
  const judged = judgeAll(seen, scene, anew, options)
  const all: Step = { ...step, judged, preflight: { ...checked, checks: [...checked.checks, ...outlook(seen, judged, options)] } }
  if (over) return { ...all, phase: 'Done', verdict: over }
  if (eviction.spec.dryRun) return planned(seen, all, options)
  if (checked.blocking && !(eviction.spec.cancel && !isMovingAny(judged))) return blocked(seen, all, checked.blocking)
  const settling = settle(seen, all, scene, options)
  if (settling) return settling
  // EV-5: what still comes after the limit is told; EV-22 adds whoever arrives
  return drain(seen, { ...all, incoming: incomingOf(scene.host, seen) }, scene, options)
}

/** EV-1: the host may be about to register; after a while it is said to be missing. A host that Nova never had, and that runs nothing, is empty. */
function missing(seen: Seen, step: Step, nowMs: number, { hostMissingMs }: Options): Step {
  const { hypervisor, eviction, alike } = seen
  const { serviceId, hypervisorId, nova, numInstances = 0, instances = [] } = hypervisor?.status ?? {}
  const everKnown = [serviceId, hypervisorId, nova?.host, eviction.status?.hypervisorServiceId].some(id => id !== undefined)
  const maybeSomebody = alike.length > 0 || numInstances > 0 || instances.length > 0
  if (hypervisor && !everKnown && !maybeSomebody) return { ...step, phase: 'Done', verdict: 'Succeeded' }
  const waitingFor = step.preflight.blocking ? awaitedBy(step.preflight.blocking) : 'the host'
  if (nowMs - step.startedMs < hostMissingMs) return { ...step, waitingFor, nextCheckMs: recheckMs }
  return { ...step, phase: 'Done', verdict: 'HostMissing', waitingFor }
}

const nobodyMoves: Traffic = { moving: [], queued: 0 }

/** EV-3: only told. */
function planned(seen: Seen, step: Step, options: Options): Step {
  const { free } = room(seen, nobodyMoves, options)
  return { ...step, judged: step.judged.map(one => foretold(one, seen)), phase: 'Done', verdict: 'Planned', free }
}

/** What stands in no one's way, but tells what to expect. */
const outlook = (seen: Seen, judged: readonly Judged[], options: Options): Check[] => [
  planCheck(judged),
  ...leftovers(seen),
  ...deadRecords(seen),
  limitsCheck(room(seen, nobodyMoves, options))
]

const movingStates = new Set<Entry['state']>(['Queued', 'Migrating', 'Confirming'])
export const isMovingAny = (judged: readonly Judged[]): boolean => judged.some(({ entry }) => movingStates.has(entry.state))

const missed: Readonly<Record<string, string>> = {
  ids: 'a compute service in Nova',
  turn: 'its turn',
  disabled: 'the compute service to be disabled',
  alive: 'the host to be as it must be',
  inventory: 'Nova to know every server',
  capacity: 'room elsewhere'
}

/** Reads after "waits for": what is missing, and the words of the check that found it. */
const awaitedBy = ({ check, message }: { check: string; message?: string | undefined }): string =>
  [missed[check] ?? `the check ${check}`, message?.replace(/\.$/, '')].filter(Boolean).join(': ')

/** A check stands in the way: nothing new is started; what is under way is still watched (EV-20). */
function blocked(seen: Seen, step: Step, { check, message }: NonNullable<Preflight['blocking']>): Step {
  const { eviction, service } = seen
  const phase = eviction.status?.phase === 'Draining' || eviction.status?.phase === 'Verifying' ? 'Draining' : 'Preflight'
  const waiting: Step = {
    ...step,
    phase,
    calls: step.judged.flatMap(({ call }) =>
      call && (call.do === 'confirm' || (call.do === 'abort' && eviction.spec.cancel)) ? [call] : []
    ),
    waitingFor: awaitedBy({ check, message }),
    nextCheckMs: isMovingAny(step.judged) ? pollMovingMs : recheckMs
  }
  if (check === 'disabled' && service?.status === 'enabled' && !eviction.spec.cancel)
    return { ...waiting, calls: [...waiting.calls, { do: 'disable' }], nextCheckMs: 0 }
  if (step.preflight.rescued) return { ...waiting, phase: 'Done', verdict: 'Failed' } // EV-20
  return waiting
}

function drain(seen: Seen, step: Step, scene: Scene, options: Options): Step {
  const { eviction } = seen
  const { cancel, paused, timeout } = eviction.spec
  const { nowMs, host } = scene
  const { judged } = step
  const asked = judged
    .filter(({ entry }) => entry.state === 'Queued' || (entry.state === 'Migrating' && entry.reason === 'NoRecord'))
    .map(({ entry }) => entry.id)
  const now = traffic(seen.records, host, asked)
  const timedOut = timeout !== undefined && nowMs - step.startedMs >= (durationMs(timeout) ?? Number.POSITIVE_INFINITY)
  const stopping = Boolean(cancel) || timedOut
  const candidates = stopping || paused ? [] : judged.flatMap(toCandidate)
  const { free, limit } = room(seen, now, options)
  const starts = plan(candidates, seen, now, options)
  const own = judged.flatMap(({ call }) =>
    call && (!stopping || call.do === 'confirm' || call.do === 'suspend' || call.do === 'abort') ? [call] : []
  )
  const draining: Step = {
    ...step,
    phase: 'Draining',
    calls: own,
    starts,
    free,
    moving: now.moving,
    nextCheckMs: nextLook(judged, nowMs)
  }
  const busy = isMovingAny(judged) || own.length > 0
  const waits = judged.filter(({ entry }) => entry.state === 'Waiting')
  if (stopping && busy) return { ...draining, waitingFor: 'moves under way to end' }
  if (cancel) return ended(draining, 'Cancelled')
  // EV-24: nobody left is nobody left, whenever it came to be
  if (timedOut && waits.length > 0)
    return ended({ ...draining, waitingFor: `${plural(waits.length, 'server')} to leave; its time is over` }, 'Incomplete')
  if (paused && waits.length > 0) return { ...draining, waitingFor: 'the pause to end' }
  if (busy || waits.length > 0) return { ...draining, waitingFor: awaited(judged, Math.min(starts.length, free), limit) }
  const stuck = judged.filter(
    ({ entry }) => (entry.state === 'Blocked' || entry.state === 'Failed') && entry.reason !== 'Disagreement'
  )
  if (stuck.length > 0)
    return ended(
      { ...draining, waitingFor: `a person: ${plural(stuck.length, 'server')} cannot be moved`, nextCheckMs: pollWaitingMs },
      'Incomplete'
    )
  return verify(seen, draining, scene, options)
}

const toCandidate = ({ server, candidate, entry }: Judged): Candidate[] =>
  server && candidate ? [{ server, how: candidate, entry, noCapacity: entry.reason === 'NoCapacity' }] : []

const ended = (step: Step, verdict: Verdict): Step => ({ ...step, phase: 'Done', verdict, starts: [] })

function awaited(judged: readonly Judged[], starting: number, limit: string): string {
  const count = (states: readonly Entry['state'][]) => judged.filter(({ entry }) => states.includes(entry.state)).length
  const moving = count(['Queued', 'Migrating', 'Confirming']) + starting
  const waiting = judged.filter(({ entry }) => entry.state === 'Waiting')
  const why = [...new Set(waiting.map(({ entry }) => entry.reason ?? 'Next'))]
    .filter(reason => reason !== 'Next' && reason !== 'Arrived')
    .toSorted()
  return [
    moving > 0 && `${plural(moving, 'move')} under way`,
    waiting.length > starting &&
      `${plural(waiting.length - starting, 'server')} to begin${why.length > 0 ? ` (${why.join(', ')})` : ''}; the limit is ${limit}`
  ]
    .filter(Boolean)
    .join('; ')
}

function nextLook(judged: readonly Judged[], nowMs: number): number {
  const due = judged.flatMap(({ dueMs }) => (dueMs !== undefined && dueMs > nowMs ? [dueMs - nowMs] : []))
  return Math.min(isMovingAny(judged) ? pollMovingMs : pollWaitingMs, ...due)
}

/** EV-23: nobody on the host, nothing on its way to or from it, and both still so a while later. */
function verify({ eviction, records }: Seen, step: Step, { nowMs }: Scene, { verifyGapMs }: Options): Step {
  const open = records.filter(isOpen)
  if (open.length > 0) {
    const names = open.slice(0, 5).map(({ id, server, status }) => `${id} of ${server} (${status})`)
    const waiting = { ...step, waitingFor: `migration records to end: ${names.join(', ')}`, nextCheckMs: pollMovingMs }
    // Nova can leave a record open for good when a host dies in the middle; a person has to look at it
    const abandoned = open.every(record => nowMs - endMs(record) > abandonedMs)
    return abandoned ? ended({ ...waiting, nextCheckMs: pollWaitingMs }, 'Incomplete') : waiting
  }
  const since = step.anew ? undefined : eviction.status?.emptySince
  const emptySinceMs = since === undefined ? nowMs : Date.parse(since)
  const restMs = emptySinceMs + verifyGapMs - nowMs
  if (since === undefined || restMs > 0) {
    return {
      ...step,
      phase: 'Verifying',
      emptySinceMs,
      waitingFor: 'a second look at the empty host',
      nextCheckMs: since === undefined ? verifyGapMs : restMs
    }
  }
  const excluded = step.judged.some(({ entry }) => entry.state === 'Excluded')
  const enable: Call[] = eviction.spec.reenable ? [{ do: 'enable' }] : []
  return { ...ended(step, excluded ? 'SucceededWithExclusions' : 'Succeeded'), emptySinceMs, calls: enable }
}
