// When it will be over (EV-26): the longest lane, from what was observed so far. Pure.
import type { Entry } from './seen.ts'

export interface Eta {
  eta: Date
  confidence: 'low' | 'medium' | 'high'
}

const mebibyte = 2 ** 20
const guessedRate = 500 * mebibyte // a second; half of a 10 Gb link
const overheadMs = 2000

export interface Progress {
  remaining: number
  bytesPerSecond: number
  dirtyBytesPerSecond: number
}

const spanMs = ({ startedAt, finishedAt }: Entry): number =>
  startedAt && finishedAt ? Date.parse(finishedAt) - Date.parse(startedAt) : 0
const bytesOf = ({ bytes, ramMb = 0 }: Entry): number => bytes ?? ramMb * mebibyte

/** `lanes` at a time; `live` has what the agents say of moves under way, by server. */
export function estimate(
  entries: readonly Entry[],
  lanes: number,
  now: Date,
  live: ReadonlyMap<string, Progress> = new Map()
): Eta | undefined {
  const waiting = entries.filter(({ state }) => state === 'Waiting')
  const moving = entries.filter(({ state }) => state === 'Queued' || state === 'Migrating' || state === 'Confirming')
  if (waiting.length + moving.length === 0) return undefined
  const finished = entries.filter(entry => entry.state === 'Done' && spanMs(entry) > 0)
  const seconds = finished.reduce((sum, entry) => sum + spanMs(entry), 0) / 1000
  const rate = finished.length > 0 ? Math.max(1, finished.reduce((sum, entry) => sum + bytesOf(entry), 0) / seconds) : guessedRate
  const typicalMs = finished.length > 0 ? (seconds * 1000) / finished.length : 0

  const ends: number[] = moving.map(entry => {
    const known = live.get(entry.id)
    if (known) {
      const netto = Math.max(known.bytesPerSecond - known.dirtyBytesPerSecond, known.bytesPerSecond / 10, 1)
      return (known.remaining / netto) * 1000 + overheadMs
    }
    const wholeMs = Math.max((bytesOf(entry) / rate) * 1000, typicalMs) + overheadMs
    const goneMs = entry.state === 'Queued' || !entry.startedAt ? 0 : now.getTime() - Date.parse(entry.startedAt)
    return Math.max(overheadMs, wholeMs - goneMs)
  })
  while (ends.length < Math.max(1, lanes)) ends.push(0)
  for (const entry of waiting.toSorted((a, b) => bytesOf(b) - bytesOf(a))) {
    const first = ends.indexOf(Math.min(...ends))
    ends[first] = (ends[first] ?? 0) + Math.max((bytesOf(entry) / rate) * 1000, typicalMs) + overheadMs
  }
  return { eta: new Date(now.getTime() + Math.max(...ends)), confidence: confidenceOf(finished, rate, waiting) }
}

function confidenceOf(finished: readonly Entry[], rate: number, waiting: readonly Entry[]): Eta['confidence'] {
  if (finished.length === 0) return 'low'
  if (waiting.some(({ reason }) => reason === 'NoCapacity')) return 'low' // nobody knows when there is room
  const errors = finished.map(entry => Math.abs((bytesOf(entry) / rate) * 1000 - spanMs(entry)) / spanMs(entry))
  return errors.reduce((sum, error) => sum + error, 0) / errors.length < 0.2 ? 'high' : 'medium'
}
