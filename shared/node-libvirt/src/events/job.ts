// A move on its way, a job at its end
import { type Domain, readDomain } from '../domain.ts'
import { readTypedParams, type TypedParam } from '../typed-param.ts'
import type { EventRow } from './event.ts'

// 20, message 359 DOMAIN_EVENT_CALLBACK_MIGRATION_ITERATION: domain, int iteration
export const migrationIteration: EventRow<{ domain: Domain; iteration: number }> = {
  id: 20,
  number: 359,
  decode: r => ({ domain: readDomain(r), iteration: r.int() })
}

// 21, message 363 DOMAIN_EVENT_CALLBACK_JOB_COMPLETED: domain, typed parameter[] (those of DOMAIN_GET_JOB_STATS)
export const jobCompleted: EventRow<{ domain: Domain; params: readonly TypedParam[] }> = {
  id: 21,
  number: 363,
  decode: r => ({ domain: readDomain(r), params: readTypedParams(r) })
}
