// A token bucket: `burst` requests at once, then `perSecond`. Those who must wait are served in order.
import { OpenStackError } from '../error.ts'
import type { Clock } from './clock.ts'
import type { Deadline } from './retry.ts'

export interface RatePolicy {
  readonly perSecond: number
  readonly burst: number
}

export const ratePolicy: RatePolicy = { perSecond: 100, burst: 100 }

export type RateLimit = (deadline: Deadline) => Promise<void> | undefined

export function createRateLimit(endpoint: string, { perSecond, burst }: RatePolicy, clock: Clock): RateLimit {
  const gapMs = 1000 / perSecond
  let nextMs = -Infinity // when the bucket would be full again, minus its size: the theoretical arrival time of GCRA

  return deadline => {
    const now = clock.now()
    const next = Math.max(nextMs, now - burst * gapMs) + gapMs
    const waitMs = next - now
    if (now + waitMs >= deadline.atMs) {
      throw new OpenStackError('RateLimited', `${endpoint} has more requests waiting than ${perSecond} a second allow`, {
        retryAfterMs: waitMs
      })
    }
    nextMs = next
    return waitMs > 0 ? clock.sleep(waitMs, deadline.signal) : undefined
  }
}
