// What a process may remember between passes. All of it can be lost at any time: it saves calls, it decides nothing that Nova does not also say.
import { LRUCache } from 'lru-cache'
import type { Progress } from './eta.ts'
import { isAccepted, isMoving, isQueued, type MoveRecord } from './records.ts'

export interface Memory {
  /** server groups never change; Nova shows them for single servers only */
  groups: LRUCache<string, readonly string[]>
  /** EV-16: moves that Nova ran at a time from a host while others queued */
  novaLimit: Map<string, number>
  /** hosts where a look soon after the first moves has told whether Nova queues them */
  askedLimit: Set<string>
  /** EV-18: the fewest bytes that a move had left, and since when */
  lowest: LRUCache<string, { bytes: number; sinceMs: number }>
}

export const createMemory = (): Memory => ({
  groups: new LRUCache({ max: 5000 }),
  novaLimit: new Map(),
  askedLimit: new Set(),
  lowest: new LRUCache({ max: 5000 })
})

export function learnLimit({ novaLimit }: Memory, host: string, records: readonly MoveRecord[]): number | undefined {
  const moving = records.filter(record => record.source === host && record.type === 'live-migration' && isMoving(record))
  const queued = moving.filter(isQueued).length
  const running = moving.length - queued - moving.filter(isAccepted).length
  const known = novaLimit.get(host)
  if (queued > 0 && running > 0) novaLimit.set(host, running)
  else if (known !== undefined && running > known) novaLimit.set(host, running) // it was raised, or one was just between two lanes
  return novaLimit.get(host)
}

const stallMs = 150_000

/** EV-18: the guest writes its memory as fast as it is copied, and has done so for a while. */
export function learnStalls({ lowest }: Memory, progress: ReadonlyMap<string, Progress>, nowMs: number): Set<string> {
  const stalled = new Set<string>()
  for (const server of lowest.keys()) if (!progress.has(server)) lowest.delete(server)
  for (const [server, { remaining, bytesPerSecond, dirtyBytesPerSecond }] of progress) {
    const known = lowest.get(server)
    if (!known || remaining < known.bytes) lowest.set(server, { bytes: remaining, sinceMs: nowMs })
    else if (nowMs - known.sinceMs >= stallMs && dirtyBytesPerSecond >= bytesPerSecond) stalled.add(server)
  }
  return stalled
}
