// Why a move did not happen (spec/hypervisor.md §4.3), and when it may be tried again (EV-12). Pure.
import type { Entry, Outcome, Refusal } from './seen.ts'
import { hasFailed, type MoveRecord } from './records.ts'

export type FailureClass =
  | 'Transient'
  | 'NoCapacity'
  | 'NotMigratable'
  | 'TimedOut'
  | 'Cancelled'
  | 'CancelledElsewhere'
  | 'MoveFailed'

export interface Failure {
  kind: FailureClass
  /** whether it uses up one of the attempts */
  counted: boolean
  message: string
}

// Nova says why in words only; they are matched here and nowhere else.
const noHost = /no valid host|not enough hosts|NoValidHost/i
const passing = /timed? ?out|timeout|unavailable at this time|connection|rabbit|messaging|try again|deadlock/i
const impossible =
  /pre-?check|unacceptable cpu|cpu doesn't have compat|not on (?:shared|local) storage|shared storage|cannot be migrated|not supported|unsupported|passthrough|vgpu|vtpm|hypervisor too old/i

/** EV-11: a record that ended without a move. `entry` tells whether Drover itself had given it up. */
export function failureOf({ status }: MoveRecord, words: string | undefined, entry: Entry | undefined): Failure {
  const message = words || `Nova ended the move as ${status} without a reason.`
  if (status === 'cancelled') {
    if (entry?.reason === 'TimedOut')
      return { kind: 'TimedOut', counted: true, message: 'The move took too long and was given up.' }
    if (entry?.reason === 'Cancelled') return { kind: 'Cancelled', counted: false, message: 'The move was given up, as asked.' }
    return { kind: 'CancelledElsewhere', counted: true, message: 'Somebody else cancelled the move.' }
  }
  if (noHost.test(message)) return { kind: 'NoCapacity', counted: false, message }
  if (impossible.test(message)) return { kind: 'NotMigratable', counted: true, message }
  if (status === 'error' && passing.test(message)) return { kind: 'Transient', counted: false, message }
  return { kind: 'MoveFailed', counted: true, message }
}

/** Ordered by Drover, and not yet shown by Nova. */
export const asked = 'Asked'

export const wasMoving = (entry: Entry | undefined): boolean =>
  entry?.state === 'Migrating' || entry?.state === 'Confirming' || (entry?.state === 'Queued' && entry.reason !== asked)

/** A failed move that the entry does not tell of yet. */
export function isNews(last: MoveRecord, entry: Entry | undefined): boolean {
  const known = Number(entry?.migrationId ?? 0)
  return hasFailed(last) && (last.id > known || (last.id === known && wasMoving(entry)))
}

interface Refused {
  code: string
  status?: number | undefined
  words?: string | undefined
  message: string
  maybeDone: boolean
}

/** Nova did not take the order. An answer that was lost may have been one that took it. */
export function refusalOf({ code, status, words, message, maybeDone }: Refused): Extract<Outcome, { ok: false }> {
  const said = words ?? message
  const refused = (kind: Refusal) => ({ ok: false as const, kind, message: said, maybeDone })
  if (status === 404) return refused('Gone')
  if (code === 'Unauthorized' || code === 'Forbidden') return refused('Denied')
  if (noHost.test(said)) return refused('NoCapacity')
  if (status === 400) return refused('NotMigratable')
  // 409: a state or a share of it stands in the way; 500: Nova's own fault with this one. Others are up to the whole service.
  return refused(status === 409 || status === 500 ? 'Refused' : 'Transient')
}

const secondMs = 1000
const waitsMs = [15 * secondMs, 60 * secondMs, 240 * secondMs]

/** 0.8 to 1.2, the same for a server in every pass and every process: what is not stored cannot be random. */
function jitter(id: string): number {
  let hash = 0
  for (const char of id) hash = (hash * 31 + char.charCodeAt(0)) >>> 0
  return 0.8 + (hash % 401) / 1000
}

/** The earliest time of the next try; 0 at once. `lastFullMs`: when Nova or Placement last found no room for any of them. */
export function dueMs(
  { id, reason, attempts = 0, refusals = 0, finishedAt }: Entry,
  lastSuccessMs: number,
  lastFullMs = 0
): number {
  if (finishedAt === undefined) return 0
  const endMs = Date.parse(finishedAt)
  // one of them asks for all: a full cloud is not asked once for each server; when one has found room, all may try
  if (reason === 'NoCapacity') return lastSuccessMs > endMs ? 0 : Math.max(endMs, lastFullMs) + 60 * secondMs
  if (reason === 'Transient' || reason === 'Gone') return endMs + 5 * secondMs
  if (reason === 'Refused') return endMs + waitAfter(refusals) * jitter(id)
  if (reason === 'Cancelled') return 0
  return endMs + waitAfter(attempts) * jitter(id)
}

const waitAfter = (times: number): number => waitsMs[Math.min(times, waitsMs.length) - 1] ?? 0
