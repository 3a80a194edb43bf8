// A host as this process last read or wrote it, for a moment: its own looks do not race each other for a version, and a storm reads it once a second.
// Whatever is written from it bears its version, so that what others wrote meanwhile is never overlooked.
import type { Parts, Seen } from './seen.ts'

/** When a look began, among the writes of this process and by its clock. */
export interface Began {
  turn: number
  atMs: number
}

export interface Newest {
  now(): Began
  /** What a look has read. */
  read(host: string, seen: Seen, began: Began): void
  written(host: string, seen: Seen): void
  /** As seen, but with what was written here since its look began. */
  over(host: string, seen: Seen, began: Began): Seen
  /** Read so lately that it need not be read again only to add what was heard. */
  recent(host: string): Parts | undefined
  forget(host: string): void
}

interface Known {
  turn: number
  readMs: number
  keptMs: number
  parts: Parts
}

const ageMs = 1000
/** Each is held in memory whole. */
const mostHosts = 20

export function newest(nowMs: () => number): Newest {
  const all = new Map<string, Known>()
  let turns = 0

  function keep(host: string, known: Omit<Known, 'keptMs'>): void {
    const keptMs = nowMs()
    all.delete(host) // so that the oldest is the first
    all.set(host, { ...known, keptMs })
    for (const [other, one] of all)
      if (all.size > mostHosts || keptMs - one.keptMs > ageMs) all.delete(other)
      else break
  }

  const partsOf = ({ hypervisor, ovsNode, node, eviction }: Seen): Parts => ({ hypervisor, ovsNode, node, eviction })

  return {
    now: () => ({ turn: turns, atMs: nowMs() }),
    read(host, seen, { turn, atMs }) {
      const known = all.get(host)
      if (known && known.readMs > atMs) return
      const parts = partsOf(seen)
      const isOlder = known !== undefined && known.turn > turn
      if (isOlder) keep(host, { turn: known.turn, readMs: atMs, parts: { ...parts, hypervisor: known.parts.hypervisor } })
      else keep(host, { turn, readMs: atMs, parts })
    },
    written(host, seen) {
      keep(host, { turn: ++turns, readMs: all.get(host)?.readMs ?? nowMs(), parts: partsOf(seen) })
    },
    over(host, seen, { turn }) {
      const known = all.get(host)
      return known && known.turn > turn ? { ...seen, hypervisor: known.parts.hypervisor } : seen
    },
    recent(host) {
      const known = all.get(host)
      const passedMs = nowMs() - (known?.readMs ?? 0)
      return passedMs >= 0 && passedMs <= ageMs ? known?.parts : undefined // a clock may be set back
    },
    forget: host => void all.delete(host)
  }
}
