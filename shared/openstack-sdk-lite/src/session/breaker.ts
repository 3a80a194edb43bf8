// Stops asking an endpoint that has failed again and again, and lets one request through from time to time to see whether it is back.
import { OpenStackError } from '../error.ts'
import type { Clock } from './clock.ts'

export interface BreakerPolicy {
  /** failures in a row after which the endpoint is left alone */
  readonly failures: number
  readonly pauseMs: number
}

export const breakerPolicy: BreakerPolicy = { failures: 8, pauseMs: 5_000 }

const isFailure = (err: unknown): boolean =>
  err instanceof OpenStackError && ['ServiceFault', 'ConnectFailed', 'ConnectionLost', 'TimedOut'].includes(err.code)

export type Breaker = <T>(attempt: () => Promise<T>) => Promise<T>

export function createBreaker(endpoint: string, policy: BreakerPolicy, clock: Pick<Clock, 'now'>): Breaker {
  let inARow = 0
  let closedUntilMs = 0
  let probing = false

  return async attempt => {
    const tripped = inARow >= policy.failures
    if (tripped && (probing || clock.now() < closedUntilMs)) {
      throw new OpenStackError('CircuitOpen', `${endpoint} failed again and again and is left alone for now`, {
        retryAfterMs: Math.max(0, closedUntilMs - clock.now())
      })
    }
    probing = tripped
    try {
      const value = await attempt()
      inARow = 0
      return value
    } catch (err) {
      if (isFailure(err)) {
        inARow++
        closedUntilMs = clock.now() + policy.pauseMs
      } else if (err instanceof OpenStackError && err.status !== undefined) inARow = 0 // a refusal is a sign of life, an aborted call is none
      throw err
    } finally {
      if (tripped) probing = false
    }
  }
}
