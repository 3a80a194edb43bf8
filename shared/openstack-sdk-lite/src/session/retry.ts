// The one place where a request is repeated, and the one object that says how.
import { OpenStackError } from '../error.ts'
import type { Clock } from './clock.ts'

export interface RetryPolicy {
  /** how often a read is repeated after it failed */
  readonly repeats: number
  readonly firstWaitMs: number
  readonly factor: number
  readonly longestWaitMs: number
  /** the share of a wait that is left to chance, so that many clients do not come back together */
  readonly jitter: number
}

export const readPolicy: RetryPolicy = { repeats: 3, firstWaitMs: 200, factor: 3, longestWaitMs: 10_000, jitter: 0.5 }

// not CircuitOpen and RateLimited: they mean "do not ask now"; not TimedOut: the time for the whole call is over
const passing: ReadonlySet<string> = new Set(['TooManyRequests', 'ServiceFault', 'ConnectFailed', 'ConnectionLost'])

/** Repeats a read. A wait that would outlast the call's own deadline is not begun: the error is told at once. */
export async function retry<T>(
  attempt: (number: number) => Promise<T>,
  policy: RetryPolicy,
  clock: Clock,
  deadline: Deadline
): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number)
    } catch (err) {
      if (!(err instanceof OpenStackError) || !passing.has(err.code) || number > policy.repeats) throw err
      const waitMs = waitAfter(number, err.retryAfterMs, policy, clock.random())
      if (clock.now() + waitMs >= deadline.atMs) throw err
      await clock.sleep(waitMs, deadline.signal)
    }
  }
}

export interface Deadline {
  readonly atMs: number
  readonly signal: AbortSignal
}

/** The service's own Retry-After counts as the least wait; the back-off may ask for more. */
export function waitAfter(failures: number, retryAfterMs: number | undefined, policy: RetryPolicy, chance: number): number {
  const full = Math.min(policy.firstWaitMs * policy.factor ** (failures - 1), policy.longestWaitMs)
  return Math.max(full * (1 - policy.jitter * chance), retryAfterMs ?? 0)
}
