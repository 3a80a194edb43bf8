// Long jobs of a domain, migration above all. Numbers are REMOTE_PROC_DOMAIN_*.
import { writeDomain } from '../domain.ts'
import { readTypedParams, type TypedParam, writeTypedParams } from '../typed-param.ts'
import { type Word, word } from '../words.ts'
import { type DomainFlags, type DomainOnly, encodeDomain, encodeDomainFlags } from './domain-args.ts'
import { nothing, type Procedure } from './procedure.ts'

// virDomainJobType
export const jobTypes = ['none', 'bounded', 'unbounded', 'completed', 'failed', 'cancelled'] as const
export type JobType = Word<typeof jobTypes>

interface Amount {
  readonly total: bigint
  readonly processed: bigint
  readonly remaining: bigint
}

export interface JobInfo {
  readonly type: JobType
  readonly elapsedMs: bigint
  readonly remainingMs: bigint
  readonly data: Amount
  readonly memory: Amount
  readonly file: Amount
}

// 163 DOMAIN_GET_JOB_INFO: domain -> int type, unsigned hyper elapsed, remaining (ms), 3 x (total, processed, remaining) bytes
export const domainGetJobInfo: Procedure<DomainOnly, JobInfo> = {
  number: 163,
  encode: encodeDomain,
  decode: r => {
    const amount = () => ({ total: r.uhyper(), processed: r.uhyper(), remaining: r.uhyper() })
    return {
      type: word(jobTypes, r.int()),
      elapsedMs: r.uhyper(),
      remainingMs: r.uhyper(),
      data: amount(),
      memory: amount(),
      file: amount()
    }
  }
}

// 164 DOMAIN_ABORT_JOB: domain
export const domainAbortJob: Procedure<DomainOnly, void> = {
  number: 164,
  encode: encodeDomain,
  decode: nothing
}

export interface JobStats {
  readonly type: JobType
  readonly params: readonly TypedParam[]
}
/** VIR_DOMAIN_JOB_STATS_*: of the last job that ended; keep them for the next reader */
export const JOB_STATS = { completed: 1, keepCompleted: 2 } as const
/** virDomainJobOperation: the words of job stats' field "operation" */
export const jobOperations = [
  'unknown',
  'start',
  'save',
  'restore',
  'migration-in',
  'migration-out',
  'snapshot',
  'snapshot-revert',
  'dump',
  'backup',
  'snapshot-delete'
] as const

// 298 DOMAIN_GET_JOB_STATS: domain, unsigned flags -> int type, typed parameter[]
export const domainGetJobStats: Procedure<DomainFlags, JobStats> = {
  number: 298,
  encode: encodeDomainFlags,
  decode: r => ({ type: word(jobTypes, r.int()), params: readTypedParams(r) })
}

// 166 DOMAIN_MIGRATE_SET_MAX_DOWNTIME: domain, unsigned hyper ms, unsigned flags; 387 DOMAIN_MIGRATE_GET_MAX_DOWNTIME
export const domainMigrateSetMaxDowntime: Procedure<DomainFlags & { downtimeMs: bigint }, void> = {
  number: 166,
  encode: (w, { domain, downtimeMs, flags = 0 }) => void writeDomain(w, domain).uhyper(downtimeMs).uint(flags),
  decode: nothing
}
export const domainMigrateGetMaxDowntime: Procedure<DomainFlags, bigint> = {
  number: 387,
  encode: encodeDomainFlags,
  decode: r => r.uhyper()
}

// 207 DOMAIN_MIGRATE_SET_MAX_SPEED: domain, unsigned hyper MiB/s, unsigned flags; 242 DOMAIN_MIGRATE_GET_MAX_SPEED
export const domainMigrateSetMaxSpeed: Procedure<DomainFlags & { mibPerSecond: bigint }, void> = {
  number: 207,
  encode: (w, { domain, mibPerSecond, flags = 0 }) => void writeDomain(w, domain).uhyper(mibPerSecond).uint(flags),
  decode: nothing
}
export const domainMigrateGetMaxSpeed: Procedure<DomainFlags, bigint> = {
  number: 242,
  encode: encodeDomainFlags,
  decode: r => r.uhyper()
}

/** VIR_MIGRATE_* */
export const MIGRATE = {
  live: 1,
  peerToPeer: 2,
  persistDestination: 8,
  undefineSource: 16,
  paused: 32,
  unsafe: 512,
  abortOnError: 4096,
  autoConverge: 8192,
  postCopy: 32_768
} as const

// 305 DOMAIN_MIGRATE_PERFORM3_PARAMS: domain, string? destination, typed parameter[], opaque cookie, unsigned flags -> opaque cookie
// With peerToPeer the source does it all, and the reply comes when the move has ended: give it a time-out to match.
export const domainMigratePerform: Procedure<
  DomainFlags & { destination: string; params?: readonly TypedParam[] },
  Buffer<ArrayBuffer>
> = {
  number: 305,
  encode: (w, { domain, destination, params = [], flags = 0 }) => {
    writeDomain(w, domain).optional(destination, v => w.string(v))
    writeTypedParams(w, params).opaque(noCookie).uint(flags)
  },
  decode: r => r.opaque()
}
const noCookie = new Uint8Array()

// 364 DOMAIN_MIGRATE_START_POST_COPY: domain, unsigned flags
export const domainMigrateStartPostCopy: Procedure<DomainFlags, void> = {
  number: 364,
  encode: encodeDomainFlags,
  decode: nothing
}
