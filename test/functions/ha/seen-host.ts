// A host at one moment, with what its status remembers: for tables of what one look makes of it.
import type { Ha, Seen, Signal } from '../../../functions/ha/seen.ts'
import { condition, type Status } from '../host-life/fixtures.ts'
import { noted } from './facts.ts'
import { iso, startMs, world } from './fixtures.ts'
import { disabled } from './host-fixtures.ts'

export const s = 1000
export const day = 86_400 * s
export const agoIso = (ms: number): string => iso(startMs - ms)
export const seenOf = (ha: Ha, status: Partial<Status> = {}, more: Partial<Seen> = {}): Seen => ({
  ...world({ ...status, ha }).seen(),
  ...more
})
export const dueNow = { ...noted, since: agoIso(0), nextCheckAt: iso(startMs) }
const lostLink = { ...condition('LibVirtConnection', 'False', 'ConnectFailed'), lastTransitionTime: agoIso(10 * s) }
export const libvirtLost = { conditions: [condition('Onboarding', 'False'), lostLink] }
export const suspect = (kind: string, lastSeenMs: number): Signal => ({
  kind,
  object: 'crashed',
  count: 4,
  message: 'four of ten.',
  since: agoIso(lastSeenMs + 60 * s),
  lastSeen: agoIso(lastSeenMs)
})
export const ours = { ...world().service!, ...disabled('drover: ha: BondLost (drover-ha)') }
