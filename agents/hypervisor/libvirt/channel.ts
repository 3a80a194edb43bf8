/** Several speakers, one listener. It is not bounded: those who push wait for `room`. */
export class Channel<T> implements AsyncIterable<T> {
  #items: T[] = []
  #end: { error?: unknown } | undefined
  #changed = Promise.withResolvers<void>()

  push(item: T): void {
    if (this.#end === undefined) this.#items.push(item)
    this.#notify()
  }

  end(error?: unknown): void {
    this.#end ??= { error }
    this.#notify()
  }

  /** Resolves when fewer than `most` wait, or the channel has ended. */
  async room(most: number): Promise<void> {
    while (this.#items.length >= most && this.#end === undefined) await this.#changed.promise
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const item = this.#items.shift()
      if (item !== undefined) {
        this.#notify()
        yield item
      } else if (this.#end !== undefined) {
        if (this.#end.error !== undefined) throw this.#end.error
        return
      } else await this.#changed.promise
    }
  }

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
