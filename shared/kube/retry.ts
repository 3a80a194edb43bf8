import { setTimeout } from 'node:timers/promises'
import type { KubeError } from './errors.ts'
import { fromThrown, isRefused } from './errors.ts'

/** How time passes between tries; tests bring their own. */
export interface Pace {
  delay(ms: number, signal?: AbortSignal): Promise<void>
  random: () => number
}

export const realPace: Pace = {
  delay: (ms, signal) => setTimeout(ms, undefined, signal && { signal }),
  random: Math.random
}

export interface Backoff {
  firstMs: number
  longestMs: number
}

export interface RetryPolicy extends Backoff {
  tries: number
  retries(error: KubeError): boolean
}

/** A read may be repeated whatever happened to it. */
export const reads: RetryPolicy = {
  tries: 3,
  firstMs: 100,
  longestMs: 2_000,
  retries: error => error.retryable
}

/** A write only when the server certainly did not begin with it. */
export const writes: RetryPolicy = {
  tries: 3,
  firstMs: 100,
  longestMs: 2_000,
  retries: error => error.code === 'TooManyRequests' || isRefused(error)
}

/** Doubles with each failure; the upper half is random, so that many clients do not come back in step. */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff, random: () => number): number {
  const full = Math.min(longestMs, firstMs * 2 ** (failures - 1))
  return full / 2 + (full / 2) * random()
}

export async function retry<T>(policy: RetryPolicy, pace: Pace, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await run()
    } catch (thrown) {
      const error = fromThrown(thrown, signal)
      const waitMs = error.retryAfterMs ?? backoffMs(failures, policy, pace.random)
      const worthwhile = failures < policy.tries && waitMs <= policy.longestMs && policy.retries(error) && !signal.aborted
      if (!worthwhile) throw error
      await pace.delay(waitMs, signal).catch(() => {
        throw error // the time limit came first: what went wrong says more than that
      })
    }
  }
}
