// Between the reader of the socket, which must never wait, and a listener that may be slow

/** Events were lost because the listener fell behind: what it knows must be read anew. */
export interface Overflow {
  readonly kind: 'overflow'
  readonly dropped: number
}

export interface QueueOptions {
  readonly capacity: number
  /** The listener has gone: `break` in a for await, or return(). */
  readonly onReturn?: () => Promise<void>
}

export class EventQueue<Event> implements AsyncIterableIterator<Event | Overflow> {
  #capacity: number
  #onReturn: (() => Promise<void>) | undefined
  #events: Event[] = []
  #dropped = 0
  #waiting: (() => void)[] = []
  #end: { error: Error | undefined } | undefined

  constructor({ capacity, onReturn }: QueueOptions) {
    this.#capacity = capacity
    this.#onReturn = onReturn
  }

  push(event: Event): void {
    if (this.#end) return
    // Once full, everything is dropped until the listener has read what is here and the marker: it has to look
    // anew then anyway, and no event is told out of its order.
    if (this.#dropped > 0 || this.#events.length >= this.#capacity) this.#dropped++
    else this.#events.push(event)
    this.#wake()
  }

  /** What is queued can still be read; then the iteration ends, or throws the error. */
  end(error?: Error): void {
    this.#end ??= { error }
    this.#wake()
  }

  async next(): Promise<IteratorResult<Event | Overflow, undefined>> {
    while (true) {
      const event = this.#take()
      if (event !== undefined) return { done: false, value: event }
      if (this.#end) return this.#finish(this.#end.error)
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
  }

  async return(): Promise<IteratorResult<Event | Overflow, undefined>> {
    this.#events = []
    this.#dropped = 0
    this.#end = { error: undefined }
    this.#wake()
    await this.#onReturn?.()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #take(): Event | Overflow | undefined {
    const event = this.#events.shift()
    if (event !== undefined || this.#dropped === 0) return event
    const dropped = this.#dropped
    this.#dropped = 0
    return { kind: 'overflow', dropped }
  }

  #finish(error: Error | undefined): IteratorResult<never, undefined> {
    this.#end = { error: undefined } // an error is thrown once
    if (error) throw error
    return { done: true, value: undefined }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
