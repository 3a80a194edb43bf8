/** Asks after `probeMs` of silence and gives up after as much again. */
export class Heartbeat {
  readonly #probeMs: number
  readonly #ask: () => void
  readonly #giveUp: () => void
  #timer: NodeJS.Timeout | undefined
  #heardAt = performance.now()
  #asked = false

  constructor(probeMs: number, ask: () => void, giveUp: () => void) {
    this.#probeMs = probeMs
    this.#ask = ask
    this.#giveUp = giveUp
    this.#checkIn(probeMs)
  }

  heard(): void {
    this.#heardAt = performance.now()
    this.#asked = false
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #checkIn(ms: number): void {
    this.#timer = setTimeout(() => this.#check(), ms)
  }

  #check(): void {
    const quietMs = performance.now() - this.#heardAt
    if (this.#asked) {
      // A process that was itself held up finds its timers due before it has read its sockets: let it read once.
      setImmediate(() => this.#judge())
    } else if (quietMs < this.#probeMs) {
      this.#checkIn(this.#probeMs - quietMs)
    } else {
      this.#asked = true
      this.#ask()
      this.#checkIn(this.#probeMs)
    }
  }

  #judge(): void {
    if (!this.#timer) return
    if (this.#asked) this.#giveUp()
    else this.#checkIn(this.#probeMs)
  }
}
