// The queue of one trigger: its own limit, so that a slow subscriber delays no other; events of one partitionkey one after another.

export class Lane {
  readonly #chains = new Map<string, Promise<void>>()
  readonly #waiting: Array<() => void> = []
  #free: number

  constructor(inFlight: number) {
    this.#free = inFlight
  }

  /** Starts at once, or after everything that came before with the same key. The work must not reject. */
  add(key: string | undefined, work: () => Promise<void>): void {
    if (key === undefined) {
      void work()
      return
    }
    const before = this.#chains.get(key)
    const chain = (before ? before.then(work) : work()).finally(() => {
      if (this.#chains.get(key) === chain) this.#chains.delete(key)
    })
    this.#chains.set(key, chain)
  }

  /** Waits for one of the few places, first come, first served. */
  async slot<T>(request: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    try {
      return await request()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
