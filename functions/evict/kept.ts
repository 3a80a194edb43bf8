// HV-15: the status of an Eviction stays below 256 KiB, whatever Nova says and however many servers there are. Pure.
import type { Entry } from './seen.ts'

const mostEntries = 500
const mostBytes = 190_000 // the rest is for what is said of the whole
const ended = new Set<Entry['state']>(['Done', 'Gone'])

/** Words are shortened first; then the oldest of those that ended make room. The counts still cover them. */
export function kept(entries: readonly Entry[]): Entry[] {
  const few = dropped(entries, entries.length - mostEntries).slice(0, mostEntries)
  for (const longest of [1000, 250, 60]) {
    const short = few.map(entry => shortened(entry, longest))
    if (bytesOf(short) <= mostBytes) return short
  }
  const short = few.map(entry => shortened(entry, 60))
  const each = bytesOf(short) / short.length
  return dropped(short, Math.ceil((bytesOf(short) - mostBytes) / each))
}

const bytesOf = (entries: readonly Entry[]): number => Buffer.byteLength(JSON.stringify(entries))

function shortened(entry: Entry, longest: number): Entry {
  const { message } = entry
  return message === undefined || message.length <= longest ? entry : { ...entry, message: `${message.slice(0, longest - 1)}…` }
}

function dropped(entries: readonly Entry[], count: number): Entry[] {
  if (count <= 0) return [...entries]
  const over = new Set(
    entries
      .filter(({ state }) => ended.has(state))
      .toSorted((a, b) => (a.finishedAt ?? '').localeCompare(b.finishedAt ?? ''))
      .slice(0, count)
      .map(({ id }) => id)
  )
  return entries.filter(({ id }) => !over.has(id))
}
