// What the spool holds and the loop that sends it
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { anyEvent } from '../events/kind.ts'
import { EmitError } from './emitter.ts'
import { delayOf, type RetryPolicy } from './retry.ts'
import type { Spooled, SpoolOptions } from './spool.ts'
import { bytesOnDisk, segmentBytes, SpoolDisk, type Entry } from './spool-disk.ts'
import { spoolMetrics } from './spool-metrics.ts'

const patience: RetryPolicy = { attempts: Number.POSITIVE_INFINITY, minDelayMs: 200, maxDelayMs: 5000 }
const windowEntries = 256
const heldEntries = 1000
const refusals = 5
/** Answers that speak about the event and not about the broker: it will never be taken. */
const hopeless = new Set([400, 413, 415, 422])

export class SpoolQueue {
  readonly #options: SpoolOptions
  readonly #metrics: ReturnType<typeof spoolMetrics>
  #disk: SpoolDisk | undefined
  /** The next to be sent, in order; not necessarily all. */
  #window: Entry[] = []
  /** Taken, and not on disk yet. */
  #held: Entry[] = []
  /** On its way when older ones were found on a disk that came back: to be sent again in its turn. */
  #outOfTurn: Entry | undefined
  #tail = 0
  #waiting = 0
  #turn: Promise<unknown> = Promise.resolve()
  #flushing: Promise<void> | undefined
  #wake = Promise.withResolvers<void>()
  #idle: Array<() => void> = []
  degraded: string | undefined

  constructor(options: SpoolOptions) {
    this.#options = options
    this.#metrics = spoolMetrics(options.metrics, {
      waiting: () => this.#waiting,
      bytes: () => this.#disk?.bytes ?? 0,
      degraded: () => this.degraded !== undefined
    })
  }

  get size(): number {
    return this.#waiting
  }

  async open(): Promise<void> {
    try {
      const disk = await SpoolDisk.open(this.#options.folder)
      const found = await disk.count()
      this.#disk = disk
      this.#tail = Math.max(this.#tail, disk.tail)
      this.#waiting = found + this.#held.length
      for (const entry of this.#held) entry.seq = this.#tail += 1 // older ones were found
      if (found > 0) this.#outOfTurn = this.#window[0]
      this.#window = this.#window.slice(0, 1)
    } catch (err) {
      this.#fail(err)
    }
  }

  async put({
    supersedes,
    kind,
    id = randomUUID(),
    time = this.#options.clock().toISOString(),
    ...rest
  }: Spooled): Promise<void> {
    this.#tail += 1
    const entry = {
      seq: this.#tail,
      ...(supersedes !== undefined && { key: supersedes }),
      type: kind.type,
      event: { ...rest, id, time }
    }
    const caughtUp = this.#window.length === this.#waiting
    this.#held.push(entry)
    this.#waiting += 1
    if (caughtUp && this.#window.length < windowEntries) this.#window.push(entry)
    await (this.#flushing ??= this.#serial(() => this.#flush()))
    this.#wake.resolve()
  }

  async idle(): Promise<void> {
    if (this.#waiting > 0 && !this.#options.signal.aborted) await new Promise<void>(resolve => this.#idle.push(resolve))
  }

  async deliver(): Promise<void> {
    const { signal } = this.#options
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true })
    while (!signal.aborted) {
      const entry = await this.#next()
      if (entry === undefined) {
        await this.#wake.promise
        this.#wake = Promise.withResolvers()
      } else if (await this.#send(entry)) await this.#sent(entry)
    }
    await this.#serial(() => this.#flush())
    await this.#disk?.close()
    this.#settle()
  }

  async #next(): Promise<Entry | undefined> {
    if (this.#window.length === 0 && this.#waiting > 0) await this.#serial(() => this.#refill())
    return this.#window[0]
  }

  async #refill(): Promise<void> {
    const stored = await this.#stored()
    this.#window = stored.length > 0 ? stored : this.#held.slice(0, windowEntries)
  }

  async #stored(): Promise<Entry[]> {
    const disk = this.#disk
    try {
      return (await disk?.after(disk.sent)) ?? []
    } catch (err) {
      // what was on disk cannot be read any more
      this.#fail(err)
      this.#disk = undefined
      this.#metrics.dropped.inc({ reason: 'unreadable' }, this.#waiting - this.#held.length)
      this.#waiting = this.#held.length
      await disk?.close()
      return []
    }
  }

  /** Until it is taken, or never will be; false when the process ends before. */
  async #send({ type, event }: Entry): Promise<boolean> {
    const { send, signal, log, backoff = patience, delay = pause } = this.#options
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await send({ ...event, kind: { ...anyEvent, type } })
        return true
      } catch (err) {
        if (signal.aborted) return false
        if (attempt >= refusals && err instanceof EmitError && hopeless.has(err.status ?? 0)) {
          this.#metrics.dropped.inc({ reason: 'refused' })
          log.error({ err, id: event.id, type }, 'the broker refuses an event for good: left out')
          return true
        }
        log.warn({ err, id: event.id, type, attempt, waiting: this.#waiting }, 'event not delivered, trying again')
        await delay(delayOf(backoff, attempt, Math.random), signal)
      }
    }
    return false
  }

  async #sent(entry: Entry): Promise<void> {
    await this.#serial(async () => {
      if (this.#window[0] === entry) this.#window.shift()
      if (this.#outOfTurn === entry && this.#held[0] !== entry) {
        this.#outOfTurn = undefined
        return
      }
      this.#waiting -= 1
      if (this.#held[0]?.seq === entry.seq) this.#held.shift()
      else await this.#disk?.ack(entry.seq).catch(err => this.#fail(err)) // at worst it is sent once more, with the same id
    })
    if (this.#waiting === 0) this.#settle()
  }

  /** Everything that waits for the disk, at once. While it takes nothing, the newest are kept in memory. */
  async #flush(): Promise<void> {
    this.#flushing = undefined
    const batch = [...this.#held]
    try {
      if (this.#disk === undefined) await this.open()
      if (this.#disk === undefined) return this.#bound()
      await this.#shrink(this.#disk, bytesOnDisk(batch))
      await this.#disk.append(batch)
      this.#held.splice(0, batch.length)
      if (this.degraded !== undefined) this.#options.log.info('the spool is on disk again')
      this.degraded = undefined
    } catch (err) {
      this.#fail(err)
      this.#bound()
    }
  }

  /** Before the bound would be passed; a segment that is written anew is there twice for a moment. */
  async #shrink(disk: SpoolDisk, coming: number): Promise<void> {
    const { maxBytes = 64 * 1024 * 1024, log } = this.#options
    const room = maxBytes - Math.min(segmentBytes, maxBytes / 4) - coming
    if (disk.bytes <= room) return
    const [onItsWay] = this.#window
    const { superseded, lost } = await disk.shrink(room * 0.75, onItsWay?.seq ?? disk.sent)
    this.#window = onItsWay === undefined ? [] : [onItsWay]
    this.#forget(superseded, lost)
    log.warn({ superseded, lost, waiting: this.#waiting }, 'the spool is full: old events were left out')
  }

  #bound(): void {
    if (this.#held.length <= heldEntries) return
    const [onItsWay] = this.#window
    const newest = new Map(this.#held.map(({ key, seq }) => [key, seq]))
    const stay = (entry: Entry): boolean => entry === onItsWay || entry.key === undefined || newest.get(entry.key) === entry.seq
    const before = this.#held.length
    this.#held = this.#held.filter(stay)
    const superseded = before - this.#held.length
    const lost = Math.max(0, this.#held.length - heldEntries * 0.75)
    this.#held.splice(this.#held[0] === onItsWay ? 1 : 0, lost)
    this.#window = onItsWay === undefined ? [] : [onItsWay]
    this.#forget(superseded, lost)
  }

  #forget(superseded: number, lost: number): void {
    this.#waiting -= superseded + lost
    this.#metrics.dropped.inc({ reason: 'superseded' }, superseded)
    this.#metrics.dropped.inc({ reason: 'full' }, lost)
  }

  #fail(err: unknown): void {
    const { log, folder } = this.#options
    if (this.degraded === undefined) log.error({ err, folder }, 'the spool cannot be written: events are kept in memory')
    this.degraded = `spool: ${err instanceof Error && 'code' in err ? String(err.code) : String(err)}`
  }

  #settle(): void {
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #serial<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(operation)
    this.#turn = result.catch(() => {})
    return result
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch (err) {
    if (!signal.aborted) throw err
  }
}
