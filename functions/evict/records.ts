// Nova's migration records, as the engine reads them. Pure.
import type { Migration as MoveRecord } from 'openstack-sdk-lite'

export type { MoveRecord }

// EV-4. A `finished` record awaits somebody's confirmation; a `done` evacuation only the return of its source.
const terminal = new Set(['completed', 'done', 'confirmed', 'reverted', 'cancelled', 'failed', 'error'])
const succeeded = new Set(['completed', 'done', 'confirmed'])
const abortable = new Set(['queued', 'preparing', 'running'])

export const isOpen = ({ status }: MoveRecord): boolean => !terminal.has(status)
export const hasSucceeded = ({ status }: MoveRecord): boolean => succeeded.has(status)
export const hasFailed = ({ status }: MoveRecord): boolean => status === 'failed' || status === 'error' || status === 'cancelled'
/** C16 takes only these; from post-copy on there is no way back. */
export const canAbort = ({ status, type }: MoveRecord): boolean => type === 'live-migration' && abortable.has(status)
/** A move that takes up a lane: not one that only awaits its confirmation. */
export const isMoving = (record: MoveRecord): boolean =>
  isOpen(record) && record.status !== 'finished' && record.status !== 'confirming'
/** Not at the host yet: the scheduler has it. */
export const isAccepted = ({ status }: MoveRecord): boolean => status === 'accepted'
/** Behind Nova's own limit for the host (EV-16). */
export const isQueued = ({ status }: MoveRecord): boolean => status === 'queued'

/** Nova leaves the zone out of most of its times; all are UTC. Undefined when there is none. */
export function timeMs(text: string | null | undefined): number | undefined {
  if (!text) return undefined
  const ms = Date.parse(/Z|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`)
  return Number.isNaN(ms) ? undefined : ms
}

export const endMs = ({ updated, created }: MoveRecord): number => timeMs(updated) ?? timeMs(created) ?? 0
export const beganMs = ({ created }: MoveRecord): number => timeMs(created) ?? 0

export function byServer(records: readonly MoveRecord[]): Map<string, MoveRecord[]> {
  const map = new Map<string, MoveRecord[]>()
  for (const record of records.toSorted((a, b) => b.id - a.id)) {
    const known = map.get(record.server)
    if (known) known.push(record)
    else map.set(record.server, [record])
  }
  return map
}

/** The newest move away from the host, if any. `records` are of one server, the newest first. */
export const departure = (records: readonly MoveRecord[], host: string): MoveRecord | undefined =>
  records.find(({ source }) => source === host)
