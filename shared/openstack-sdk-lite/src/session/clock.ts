// Time and chance come in from outside, so that tests need not wait.
import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  now(): number
  /** Rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  random(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal ? { signal } : {})
    } catch (err) {
      signal?.throwIfAborted()
      throw err
    }
  },
  random: () => Math.random()
}
