// What one pass decided, before anything was asked of Nova.
import type { Preflight } from './checks.ts'
import type { Judged } from './judge.ts'
import type { Start, Traffic } from './plan.ts'
import type { Call, Incoming, Status, Verdict } from './seen.ts'

// EV-14: the back-stop behind events
export const pollMovingMs = 15_000
export const pollWaitingMs = 60_000
/** Nova's clock is not ours. */
export const skewMs = 120_000

export interface Step {
  phase: NonNullable<Status['phase']>
  verdict?: Verdict
  /** a changed retryToken, or a server on a host that was called empty: budgets and verdict begin anew */
  anew: boolean
  startedMs: number
  preflight: Preflight
  incoming: Incoming[]
  judged: Judged[]
  calls: Call[]
  /** in order; the first `free` of them that may really go are started */
  starts: Start[]
  free: number
  moving: Traffic['moving']
  waitingFor?: string
  emptySinceMs?: number
  /** milliseconds from now */
  nextCheckMs: number
}
