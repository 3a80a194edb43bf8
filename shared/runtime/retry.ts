import { setTimeout as sleep } from 'node:timers/promises'

/** A plain value, so that each boundary states its own. Waits grow from `minDelayMs` by `factor` up to `maxDelayMs`. */
export interface RetryPolicy {
  /** All tries, the first included. */
  attempts: number
  minDelayMs: number
  maxDelayMs: number
  factor?: number
  /** The share of each wait that is left to chance: 0 none, 1 all of it. */
  jitter?: number
}

export interface RetryOptions {
  signal?: AbortSignal
  retryable?: (error: unknown) => boolean
  /** Told before each wait. */
  onRetry?: (error: unknown, attempt: number, delayMs: number) => void
  delay?: (ms: number, signal?: AbortSignal) => Promise<void>
  random?: () => number
}

/** An error that says `retryable: false` is final; any other may pass. */
const mayPass = (error: unknown): boolean => !(error instanceof Error && 'retryable' in error && error.retryable === false)

const wait = (ms: number, signal?: AbortSignal): Promise<void> => sleep(ms, undefined, signal ? { signal } : {})

export function delayOf(policy: RetryPolicy, attempt: number, random: () => number): number {
  const { minDelayMs, maxDelayMs, factor = 2, jitter = 0.5 } = policy
  const full = Math.min(maxDelayMs, minDelayMs * factor ** (attempt - 1))
  return Math.round(full * (1 - jitter * random()))
}

/** Calls `attempt` (with 1, 2, 3 …) until it succeeds, its error is final, the tries are used up or the signal aborts. */
export async function retry<T>(policy: RetryPolicy, attempt: (n: number) => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { signal, retryable = mayPass, onRetry, delay = wait, random = Math.random } = options
  for (let n = 1; ; n++) {
    signal?.throwIfAborted()
    try {
      return await attempt(n)
    } catch (error) {
      if (n >= policy.attempts || signal?.aborted || !retryable(error)) throw error
      const delayMs = delayOf(policy, n, random)
      onRetry?.(error, n, delayMs)
      await delay(delayMs, signal)
    }
  }
}
