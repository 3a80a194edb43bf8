// Changes on their way to one consumer. What it has not taken yet is kept as one difference for each row, so that a slow consumer
// costs at most the rows it has seen and the rows there are, however many updates go by.
import type { OvsdbError } from './error.ts'
import type { AnyChange, Replica } from './replica.ts'

export type AnyNews =
  /** `snapshot` when a whole snapshot lies behind it: the first one, or the first after a loss. */
  | { readonly kind: 'changes'; readonly snapshot: boolean; readonly changes: readonly AnyChange[] }
  /** From here on nothing is known, until the next changes. No row is gone because of this. */
  | { readonly kind: 'lost'; readonly cause: OvsdbError }

type Taken = IteratorResult<AnyNews, undefined>

export class Feed implements AsyncIterableIterator<AnyNews, undefined> {
  readonly #same: Replica['same']
  readonly #onReturn: () => void
  /** By table, then by uuid. */
  readonly #rows = new Map<string, Map<string, AnyChange>>()
  #snapshot = false
  #lost: OvsdbError | undefined
  #end: { error: OvsdbError | undefined } | undefined
  readonly #takers: Array<PromiseWithResolvers<Taken>> = []

  constructor(same: Replica['same'], onReturn: () => void) {
    this.#same = same
    this.#onReturn = onReturn
  }

  changed(changes: readonly AnyChange[], snapshot: boolean): void {
    this.#snapshot ||= snapshot
    this.#lost = undefined // lost and found again before anybody looked: the differences say it all
    const taker = this.#takers[0]
    if (!taker) return this.#keep(changes)
    if (changes.length === 0 && !this.#snapshot) return undefined
    // whoever waits has seen all there was: nothing to merge with
    this.#takers.shift()
    return taker.resolve({ done: false, value: this.#news(changes) })
  }

  lost(cause: OvsdbError): void {
    this.#lost = cause
    this.#deliver()
  }

  end(error?: OvsdbError): void {
    this.#end = { error }
    this.#deliver()
  }

  next(): Promise<Taken> {
    const taker = Promise.withResolvers<Taken>()
    this.#takers.push(taker)
    this.#deliver()
    return taker.promise
  }

  return(): Promise<Taken> {
    this.#rows.clear()
    this.end()
    this.#onReturn()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #keep(changes: readonly AnyChange[]): void {
    for (const change of changes) {
      const { table, uuid, after } = change
      let rows = this.#rows.get(table)
      if (!rows) this.#rows.set(table, (rows = new Map()))
      const earlier = rows.get(uuid)
      if (!earlier) rows.set(uuid, change)
      else if (this.#same(table, earlier.before, after)) rows.delete(uuid) // came and went unseen
      else rows.set(uuid, { table, uuid, before: earlier.before, after })
    }
  }

  #deliver(): void {
    for (let taker = this.#takers[0]; taker; taker = this.#takers[0]) {
      const news = this.#take()
      if (!news && !this.#end) return
      this.#takers.shift()
      if (news) taker.resolve({ done: false, value: news })
      else if (this.#end?.error) taker.reject(this.#end.error)
      else taker.resolve({ done: true, value: undefined })
    }
  }

  #take(): AnyNews | undefined {
    const changes = Array.from(this.#rows.values(), rows => Array.from(rows.values())).flat()
    this.#rows.clear()
    if (changes.length > 0 || this.#snapshot) return this.#news(changes)
    const cause = this.#lost
    this.#lost = undefined
    return cause && { kind: 'lost', cause }
  }

  #news(changes: readonly AnyChange[]): AnyNews {
    const snapshot = this.#snapshot
    this.#snapshot = false
    return { kind: 'changes', snapshot, changes }
  }
}
