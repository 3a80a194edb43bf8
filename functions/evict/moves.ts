// A server that moves or may be moved: how far it is, how its last move ended, when the next may begin. Pure.
import { durationMs } from './duration.ts'
import { asked, dueMs, failureOf, isNews, wasMoving } from './failure.ts'
import type { Judged, Say, Scene } from './judge.ts'
import { beganMs, canAbort, endMs, type MoveRecord } from './records.ts'
import type { Entry, Options, Seen } from './seen.ts'

const unseenMs = 30_000 // EV-10
/** EV-18 */
export const notConverging = 'NotConverging'
const sticky = new Set(['NotMigratable', 'CancelledElsewhere'])
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
      reason: 'NoRecord',
      message: 'Nova says that it is migrating and shows no record of it yet.'
    })
  const waits = record.status === 'queued' || record.status === 'accepted'
  const state = record.status === 'finished' || record.status === 'confirming' ? 'Confirming' : waits ? 'Queued' : 'Migrating'
  const startedAt = iso(beganMs(record))
  const entry = {
    state,
    startedAt,
    ...countedOf(before, record),
    ...(record.target && { destination: record.target }),
    ...(before?.reason === 'TimedOut' || before?.reason === 'Cancelled' ? { reason: before.reason } : pace(record, seen))
  } as const
  const overMs = beganMs(record) + (durationMs(timeoutPerInstance) ?? options.timeoutPerInstanceMs)
  if (cancel === 'Abort' && canAbort(record) && !isGivenUp('Cancelled', before)) {
    return say(
      { ...entry, reason: 'Cancelled' },
      { call: { do: 'abort', server: record.server, record: record.id, why: 'Cancelled' } }
    )
  }
  if (nowMs >= overMs && canAbort(record) && !isGivenUp('TimedOut', before)) {
    const how = onTimeout === 'forceComplete' && record.status === 'running' ? 'force' : 'abort'
    return say({ ...entry, reason: 'TimedOut' }, { call: { do: how, server: record.server, record: record.id, why: 'TimedOut' } })
  }
  return say(entry, nowMs < overMs ? { dueMs: overMs } : {})
}

/** A message beside it is Nova's refusal, or tells of an outage: then it is asked for again. */
const isGivenUp = (why: 'Cancelled' | 'TimedOut', before: Entry | undefined): boolean =>
  before?.reason === why && before.message === undefined

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
  const wasAsked = before?.state === 'Queued' && before.reason === asked
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
  if (before?.state === 'Failed') return say({ state: 'Failed', ...remembered })
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
