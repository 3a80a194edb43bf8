// The spool's files: numbered segments of JSON lines, and the number up to which everything was sent.
import { mkdir, open, readdir, readFile, rename, rm, truncate, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Outgoing } from './emitter.ts'

export interface Entry {
  seq: number
  /** A later entry of the same key makes this one superseded. */
  key?: string
  type: string
  event: Omit<Outgoing, 'kind'> & { id: string }
}

interface Segment {
  path: string
  /** Of the first and the last entry in it. */
  first: number
  last: number
  bytes: number
  count: number
}

export const segmentBytes = 256 * 1024
const lineOf = (entry: Entry): string => `${JSON.stringify(entry)}\n`
export const bytesOnDisk = (entries: readonly Entry[]): number =>
  entries.reduce((sum, entry) => sum + Buffer.byteLength(lineOf(entry)), 0)
const bytesOf = (segments: readonly Segment[]): number => segments.reduce((sum, { bytes }) => sum + bytes, 0)

/** Not thread-safe: one operation at a time. */
export class SpoolDisk {
  readonly #folder: string
  #segments: Segment[] = []
  #cursor: FileHandle | undefined
  /** The newest segment, held open: an append is one call. */
  #last: FileHandle | undefined
  #sent = 0
  #tail = 0

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async open(folder: string): Promise<SpoolDisk> {
    const disk = new SpoolDisk(folder)
    await mkdir(folder, { recursive: true })
    const cursor = await openCursor(join(folder, 'sent'))
    disk.#cursor = cursor
    await orClose(cursor, async () => {
      disk.#sent = disk.#tail = Number((await cursor.readFile('utf8')).trim()) || 0
      for (const name of (await readdir(folder)).filter(file => file.endsWith('.log')).sort()) {
        const segment = await adopt(join(folder, name))
        if (segment !== undefined && segment.last > disk.#sent) disk.#segments.push(segment)
        else await rm(join(folder, name), { force: true })
        disk.#tail = Math.max(disk.#tail, segment?.last ?? 0)
      }
    })
    return disk
  }

  get bytes(): number {
    return bytesOf(this.#segments)
  }

  /** The last entry ever written, sent or not. */
  get tail(): number {
    return this.#tail
  }

  get sent(): number {
    return this.#sent
  }

  /** All or nothing: what was half written when the disk was full is cut off again. */
  async append(entries: readonly Entry[]): Promise<void> {
    const [head] = entries
    const end = entries.at(-1)
    if (head === undefined || end === undefined) return
    let segment = this.#segments.at(-1)
    if (segment === undefined || segment.bytes >= segmentBytes) {
      await this.#release()
      const path = join(this.#folder, `${String(head.seq).padStart(16, '0')}.log`)
      segment = { path, first: head.seq, last: head.seq, bytes: 0, count: 0 }
      this.#segments.push(segment)
    }
    const text = Buffer.from(entries.map(lineOf).join(''))
    try {
      this.#last ??= await open(segment.path, 'a')
      await this.#last.writeFile(text)
    } catch (err) {
      await this.#last?.truncate(segment.bytes)
      if (segment.bytes === 0) await this.#remove(segment)
      throw err
    }
    segment.last = this.#tail = end.seq
    segment.bytes += text.length
    segment.count += entries.length
  }

  /** The entries that follow `seq`, as far as the segment goes that holds the next one. */
  async after(seq: number): Promise<Entry[]> {
    const segment = this.#segments.find(({ last }) => last > seq)
    return segment === undefined ? [] : (await entriesOf(segment.path)).filter(entry => entry.seq > seq)
  }

  /** Everything up to here was sent, and is never sent again. */
  async ack(seq: number): Promise<void> {
    this.#sent = seq
    await this.#cursor?.write(String(seq).padStart(16, '0'), 0)
    for (const segment of this.#segments.filter(({ last }) => last <= seq)) await this.#remove(segment)
  }

  /**
   * Leaves out the oldest superseded entries, then the oldest of all, until `bytes` are left. Those up to `keep` stay: one of them is
   * on its way. Says how many of each kind went.
   */
  async shrink(bytes: number, keep: number): Promise<{ superseded: number; lost: number }> {
    const newest = new Map<string, number>()
    for (const { path } of this.#segments) {
      for (const { key, seq } of await entriesOf(path)) if (key !== undefined) newest.set(key, seq)
    }
    const superseded = await this.#drop(bytes, ({ key, seq }) => seq > keep && key !== undefined && (newest.get(key) ?? 0) > seq)
    const lost = await this.#drop(bytes, ({ seq }) => seq > keep)
    return { superseded, lost }
  }

  async #drop(toBytes: number, may: (entry: Entry) => boolean): Promise<number> {
    let dropped = 0
    let excess = this.bytes - toBytes
    for (const segment of this.#segments.slice()) {
      if (excess <= 0) break
      const left: Entry[] = []
      for (const entry of await entriesOf(segment.path)) {
        if (excess > 0 && may(entry)) {
          excess -= Buffer.byteLength(lineOf(entry))
          dropped += 1
        } else left.push(entry)
      }
      await this.#rewrite(segment, left)
    }
    return dropped
  }

  async #rewrite(segment: Segment, left: readonly Entry[]): Promise<void> {
    const [head] = left
    const end = left.at(-1)
    if (head === undefined || end === undefined) return this.#remove(segment)
    if (segment === this.#segments.at(-1)) await this.#release()
    const text = left.map(lineOf).join('')
    await writeFile(`${segment.path}.new`, text)
    await rename(`${segment.path}.new`, segment.path)
    segment.bytes = Buffer.byteLength(text)
    segment.count = left.length
    segment.first = head.seq
    segment.last = end.seq // or the next one would be looked for here, in vain
  }

  async #remove(segment: Segment): Promise<void> {
    if (segment === this.#segments.at(-1)) await this.#release()
    this.#segments = this.#segments.filter(other => other !== segment)
    await rm(segment.path, { force: true })
  }

  async #release(): Promise<void> {
    const file = this.#last
    this.#last = undefined
    await file?.close()
  }

  /** Entries that were not sent yet. */
  async count(): Promise<number> {
    const [first, ...rest] = this.#segments
    if (first === undefined) return 0
    const begun = (await entriesOf(first.path)).filter(({ seq }) => seq > this.#sent).length
    return rest.reduce((sum, { count }) => sum + count, begun)
  }

  async close(): Promise<void> {
    await this.#release()
    await this.#cursor?.close()
    this.#cursor = undefined
  }
}

/** Opened once and overwritten in place: its block is taken at the start, so that a full disk cannot stop it. */
async function openCursor(path: string): Promise<FileHandle> {
  const cursor = await open(path, 'a+').then(async file => {
    await file.close()
    return open(path, 'r+')
  })
  await orClose(cursor, async () => {
    if ((await cursor.stat()).size === 0) await cursor.write('0'.padStart(16, '0'), 0)
  })
  return cursor
}

/** A full disk is tried again with each event: a file that is of no use must not stay open. */
async function orClose(file: FileHandle, use: () => Promise<void>): Promise<void> {
  try {
    await use()
  } catch (err) {
    await file.close()
    throw err
  }
}

/** What an earlier process left; the line at which it was killed is cut off. */
async function adopt(path: string): Promise<Segment | undefined> {
  const entries = await entriesOf(path)
  const [first] = entries
  const last = entries.at(-1)
  if (first === undefined || last === undefined) return undefined
  const text = entries.map(lineOf).join('')
  const bytes = Buffer.byteLength(text)
  await truncate(path, bytes)
  return { path, first: first.seq, last: last.seq, bytes, count: entries.length }
}

async function entriesOf(path: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    const entry = parse(line)
    if (entry === undefined) break
    entries.push(entry)
  }
  return entries
}

function parse(line: string): Entry | undefined {
  if (line === '') return undefined
  try {
    return JSON.parse(line) as Entry
  } catch (err) {
    if (err instanceof SyntaxError) return undefined // half a line, or blocks that never reached the disk
    throw err
  }
}
