// The shipped limits of a drain.
import { cautious } from '../../../functions/evict/classify.ts'
import type { Options } from '../../../functions/evict/seen.ts'

export const options: Options = {
  maxParallel: 4,
  maxAttempts: 3,
  timeoutPerInstanceMs: 30 * 60_000,
  destinationLimit: 2,
  zoneLimit: 20,
  regionLimit: 50,
  traitLimits: [],
  priorityKey: 'priority',
  settleGapMs: 500,
  settleLimitMs: 15 * 60_000,
  verifyGapMs: 5000,
  hostMissingMs: 5 * 60_000,
  heartbeatStaleMs: 90_000,
  policy: cautious
}
