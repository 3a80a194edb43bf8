// `delivery` of a Broker or Trigger as numbers and functions (knative.md §3.2).
import { parseDuration } from './duration.ts'
import type { DeliverySpec } from './manifest-schema.ts'
import type { Format } from './request.ts'

export interface Policy {
  retries: number
  /** How long before retry 1, 2, …, if the answer asks for nothing longer. */
  waitMs: (retry: number) => number
  timeoutMs?: number
  /** Upper bound for Retry-After; without it the header is ignored. */
  retryAfterMaxMs?: number
  format: Format
}

/** What a Broker without `delivery` gets. */
export const DEFAULT_DELIVERY: DeliverySpec = { retry: 10, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S' }

export function toPolicy(spec: DeliverySpec): Policy {
  const delay = spec.backoffDelay === undefined ? 0 : parseDuration(spec.backoffDelay)!
  const timeoutMs = spec.timeout === undefined ? undefined : parseDuration(spec.timeout)
  const retryAfterMaxMs = spec.retryAfterMax === undefined ? undefined : parseDuration(spec.retryAfterMax)
  return {
    retries: spec.retry ?? 0,
    waitMs: backoff(spec.backoffPolicy, delay),
    format: spec.format ?? 'binary',
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(retryAfterMaxMs !== undefined && { retryAfterMaxMs })
  }
}

function backoff(kind: DeliverySpec['backoffPolicy'], delay: number): Policy['waitMs'] {
  if (kind === 'exponential') return retry => delay * 2 ** (retry - 1)
  if (kind === 'linear') return retry => delay * (retry - 1) // so the first retry is immediate, as seen
  return () => 0
}

/** Problems that the schema cannot see, as Knative's webhook words them. */
export function deliveryProblems(spec: DeliverySpec): string[] {
  const problems: string[] = []
  const check = (field: 'backoffDelay' | 'timeout' | 'retryAfterMax', fits: (ms: number) => boolean): void => {
    const text = spec[field]
    if (text === undefined) return
    const ms = parseDuration(text)
    if (ms === undefined || !fits(ms)) problems.push(`invalid value: ${text}: delivery.${field}`)
  }
  check('backoffDelay', ms => ms >= 0)
  check('timeout', ms => ms > 0)
  check('retryAfterMax', ms => ms >= 0)
  return problems
}
