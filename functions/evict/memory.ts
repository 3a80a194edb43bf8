// What a process may remember between passes. All of it can be lost at any time: it saves calls, it decides nothing that Nova does not also say.
import { LRUCache } from 'lru-cache'
import { isMoving, isQueued, type MoveRecord } from './records.ts'

export interface Memory {
  /** server groups never change; Nova shows them for single servers only */
  groups: LRUCache<string, readonly string[]>
  /** EV-16: moves that Nova ran at a time from a host while others queued */
  novaLimit: Map<string, number>
}

export const createMemory = (): Memory => ({ groups: new LRUCache({ max: 5000 }), novaLimit: new Map() })

export function learnLimit({ novaLimit }: Memory, host: string, records: readonly MoveRecord[]): number | undefined {
  const moving = records.filter(record => record.source === host && record.type === 'live-migration' && isMoving(record))
  const queued = moving.filter(isQueued).length
  const running = moving.length - queued
  const known = novaLimit.get(host)
  if (queued > 0 && running > 0) novaLimit.set(host, running)
  else if (known !== undefined && running > known) novaLimit.delete(host) // it was raised
  return novaLimit.get(host)
}
