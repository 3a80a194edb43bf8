// A server that moves or may be moved: how far it is, how its last move ended, when the next may begin. Pure.
import { durationMs } from './duration.ts'
import { asked, dueMs, failureOf, isNews, wasMoving } from './failure.ts'
import type { Judged, Say, Scene } from './judge.ts'
import { beganMs, canAbort, endMs, type MoveRecord } from './records.ts'
import type { Call, Entry, Options, Seen } from './seen.ts'

const unseenMs = 30_000 // EV-10
/** EV-18 */
export const notConverging = 'NotConverging'
const noRecord = 'NoRecord'
const sticky = new Set(['NotMigratable', 'CancelledElsewhere', 'Refused'])
export const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')

/** A record that is seen for the first time is one more started move. */
export const countedOf = (before: Entry | undefined, { id }: MoveRecord): { attempts: number; migrationId: string } => ({
  attempts: (before?.attempts ?? 0) + (id > Number(before?.migrationId ?? 0) ? 1 : 0),
  migrationId: String(id)
})

/** EV-18: a move under way, until it ends or its time is over. */
export function watch(
  record: MoveRecord | undefined,
  before: Entry | undefined,
  say: Say,
  seen: Seen,
  { nowMs }: Scene,
  options: Options
): Judged {
  const { timeoutPerInstance, onTimeout, cancel } = seen.eviction.spec
  if (!record)
    return say({
      state: 'Migrating',
      reason: noRecord,
      message: 'Nova says that it is migrating and shows no record of it yet.'
    })
  const waits = record.status === 'queued' || record.status === 'accepted'
  const state = record.status === 'finished' || record.status === 'confirming' ? 'Confirming' : waits ? 'Queued' : 'Migrating'
  const same = before?.migrationId === String(record.id) ? before : undefined
  const startedMs = waits || !same?.startedAt ? beganMs(record) : sinceMs(same, nowMs)
  const entry = {
    state,
    startedAt: iso(startedMs),
    ...countedOf(before, record),
    ...(same?.aborts && { aborts: same.aborts, ...(same.abortedAt && { abortedAt: same.abortedAt }) }),
    ...(record.target && { destination: record.target }),
    ...(before?.reason === 'TimedOut' || before?.reason === 'Cancelled' ? { reason: before.reason } : pace(record, seen))
  } as const
  const overMs = waits ? Infinity : startedMs + (durationMs(timeoutPerInstance) ?? options.timeoutPerInstanceMs)
  const isCancelled = cancel === 'Abort' || (cancel === 'Finish' && isOfMaintenance(seen) && !hasBegun(record))
  const why = isCancelled ? 'Cancelled' : nowMs >= overMs ? 'TimedOut' : undefined
  if (why === undefined || !canAbort(record)) return say(entry, nowMs < overMs && !waits ? { dueMs: overMs } : {})
  const how = why === 'TimedOut' && onTimeout === 'forceComplete' && record.status === 'running' ? 'force' : 'abort'
  return giveUp({ ...entry, reason: why }, { do: how, server: record.server, record: record.id, why }, say, nowMs)
}

/** Time in Nova's queue is not time of the move. */
const sinceMs = ({ state, startedAt = '' }: Entry, nowMs: number): number => (state === 'Queued' ? nowMs : Date.parse(startedAt))

/** HV-47: when its maintenance is over, what has not begun to copy is given up. */
const isOfMaintenance = ({ eviction: { metadata } }: Seen): boolean =>
  metadata.ownerReferences?.some(({ kind, controller }) => kind === 'Hypervisor' && controller) ?? false
const hasBegun = ({ status }: MoveRecord): boolean => status !== 'queued' && status !== 'preparing'

const mostAborts = 3
const abortAgainMs = 60_000

/** EV-12a: Nova takes the order with a 202 and may still not carry it out. */
function giveUp(entry: Partial<Entry> & Pick<Entry, 'state'>, call: Call, say: Say, nowMs: number): Judged {
  const { aborts = 0, abortedAt } = entry
  if (aborts >= mostAborts)
    return say({
      ...entry,
      message: `Nova was asked ${mostAborts} times to give the move up, and has not; its end is waited for.`
    })
  const againMs = abortedAt === undefined ? 0 : Date.parse(abortedAt) + abortAgainMs
  if (nowMs < againMs) return say(entry, { dueMs: againMs })
  return say({ ...entry, aborts: aborts + 1, abortedAt: iso(nowMs) }, { call })
}

/** How far it is, in Nova's word; or that it gets no further. */
const pace = ({ status, server }: MoveRecord, { stalled }: Seen): { reason: string; message?: string } =>
  stalled.has(server)
    ? { reason: notConverging, message: 'The guest writes its memory as fast as it is copied; the move may not end by itself.' }
    : { reason: status.replace(/\W+(\w)/g, (_, c: string) => c.toUpperCase()) }

export function movable(
  how: 'live' | 'cold' | 'evacuate',
  before: Entry | undefined,
  last: MoveRecord | undefined,
  say: Say,
  seen: Seen,
  scene: Scene,
  options: Options
): Judged {
  if (last && isNews(last, before)) return failed(how, last, before, say, seen, options)
  // also one whose task a restart of nova-compute has cleared before its record could be seen
  const wasAsked = before?.reason === asked || (before?.state === 'Migrating' && before.reason === noRecord)
  const { nowMs } = scene
  if (wasAsked && before?.startedAt && nowMs - Date.parse(before.startedAt) < unseenMs) {
    return say(
      { state: 'Queued', reason: asked, message: 'Asked for; Nova does not show it yet.' },
      { dueMs: Date.parse(before.startedAt) + unseenMs }
    )
  }
  const strategy = before?.strategy === 'resume' ? 'resume' : how
  const same = before?.strategy === undefined || before.strategy === strategy
  const remembered = {
    strategy,
    ...(before?.reason && { reason: before.reason }),
    ...(before?.message && { message: before.message })
  }
  if (before?.state === 'Failed') return tiredOf(before, how, remembered, say, nowMs)
  if (before?.state === 'Blocked' && before.reason && sticky.has(before.reason) && same)
    return say({ state: 'Blocked', ...remembered })
  const due = before && !wasAsked && !wasMoving(before) ? dueMs(before, scene.lastSuccessMs, scene.lastFullMs) : 0
  const backingOff = before?.state === 'Waiting' && before.finishedAt !== undefined
  const entry = {
    state: 'Waiting' as const,
    ...(backingOff ? remembered : { strategy, reason: before ? 'Next' : arrival(seen) })
  }
  return due > nowMs ? say(entry, { dueMs: due }) : say(entry, { candidate: how })
}

const tryAgainMs = 15 * 60_000

/** EV-12: out of attempts; the cause may be gone by now. */
function tiredOf(
  before: Entry,
  how: NonNullable<Judged['candidate']>,
  remembered: Partial<Entry>,
  say: Say,
  nowMs: number
): Judged {
  const due = Date.parse(before.finishedAt ?? '') + tryAgainMs
  if (!(nowMs >= due)) return say({ state: 'Failed', ...remembered }, Number.isNaN(due) ? {} : { dueMs: due })
  return say({ state: 'Waiting', ...remembered }, { candidate: how })
}

/** EV-22: it was not there when the drain began. */
const arrival = ({ eviction }: Seen): string =>
  eviction.status?.phase === 'Draining' || eviction.status?.phase === 'Verifying' ? 'Arrived' : 'Next'

/** EV-11, EV-12: its reason is kept in the pass that saw it. */
function failed(
  how: 'live' | 'cold' | 'evacuate',
  last: MoveRecord,
  before: Entry | undefined,
  say: Say,
  seen: Seen,
  options: Options
): Judged {
  const words = seen.words.get(last.id)
  if (words === undefined && last.status !== 'cancelled')
    return say({
      state: before?.state ?? 'Waiting',
      reason: 'MoveFailed',
      message: 'The move failed; Nova could not be asked why.'
    })
  const { kind, counted, message } = failureOf(last, words, before)
  const counting = countedOf(before, last)
  const attempts = counting.attempts - (counted ? 0 : 1)
  const entry = {
    strategy: before?.strategy === 'resume' ? 'resume' : how,
    ...counting,
    attempts,
    reason: kind,
    message,
    finishedAt: iso(endMs(last))
  }
  if (kind === 'NotMigratable' || (kind === 'CancelledElsewhere' && attempts > 1)) return say({ state: 'Blocked', ...entry })
  if (counted && attempts >= (seen.eviction.spec.maxAttempts ?? options.maxAttempts)) return say({ state: 'Failed', ...entry })
  const due = dueMs({ id: last.server, state: 'Waiting', ...entry }, 0)
  return say({ state: 'Waiting', ...entry }, { dueMs: due })
}
