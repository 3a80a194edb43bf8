import { type Domain, readDomain } from '../domain.ts'
import { type Word, word } from '../words.ts'
import type { EventRow } from './event.ts'

/** virDomainBlockJobType */
export const blockJobTypes = ['unknown', 'pull', 'copy', 'commit', 'active-commit', 'backup'] as const
const statuses = ['completed', 'failed', 'canceled', 'ready'] as const

export interface BlockJobEvent {
  readonly domain: Domain
  /** the file (block-job) or the device, vda (block-job-2) */
  readonly disk: string
  readonly type: Word<typeof blockJobTypes>
  readonly status: Word<typeof statuses>
}

const decode: EventRow<BlockJobEvent>['decode'] = r => ({
  domain: readDomain(r),
  disk: r.string(),
  type: word(blockJobTypes, r.int()),
  status: word(statuses, r.int())
})

// 8, message 326 DOMAIN_EVENT_CALLBACK_BLOCK_JOB: domain, string path, int type, int status
export const blockJob: EventRow<BlockJobEvent> = { id: 8, number: 326, decode }

// 16, message 339 DOMAIN_EVENT_BLOCK_JOB_2: domain, string device, int type, int status
export const blockJob2: EventRow<BlockJobEvent> = { id: 16, number: 339, decode }

export interface BlockThreshold {
  readonly domain: Domain
  readonly device: string
  readonly path: string | null
  readonly thresholdBytes: bigint
  readonly excessBytes: bigint
}

// 24, message 385 DOMAIN_EVENT_BLOCK_THRESHOLD: domain, string device, string? path, unsigned hyper threshold, unsigned hyper excess
export const blockThreshold: EventRow<BlockThreshold> = {
  id: 24,
  number: 385,
  decode: r => ({
    domain: readDomain(r),
    device: r.string(),
    path: r.optional(() => r.string()),
    thresholdBytes: r.uhyper(),
    excessBytes: r.uhyper()
  })
}
