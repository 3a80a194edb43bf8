import type { Message } from './to-event.ts'

/** `later`: this one was not taken. `away`: nobody answers, so nothing else would be taken either. */
export type Outcome = 'sent' | 'later' | 'away'

export interface OutboxOptions {
  send: (message: Message) => Promise<Outcome>
  merge: (older: Message, newer: Message) => Message
  /** Resolves after the wait before the given try (from 1), or at once when the outbox is closed. */
  pause: (attempt: number) => Promise<void>
  concurrency?: number
}

/**
 * The newest message of each object, until it is taken. One object is told in order and never twice at once; no object waits for another.
 * While the broker is away a single message is tried, and all the others wait for its success. Memory is bounded by the number of objects.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #waiting = new Map<string, Message>()
  readonly #busy = new Set<string>()
  readonly #attempts = new Map<string, number>()
  #away = 0
  #probing = false
  #running = 0
  #closed = false
  #drained: Array<() => void> = []

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  /** Objects whose newest state was not yet taken. */
  get size(): number {
    return new Set([...this.#waiting.keys(), ...this.#busy]).size
  }

  get away(): boolean {
    return this.#away > 0
  }

  put(key: string, message: Message): void {
    const older = this.#waiting.get(key)
    this.#waiting.set(key, older ? this.#options.merge(older, message) : message)
    this.#fill()
  }

  /** Resolves when everything put so far has been taken, or the outbox was closed. */
  async drained(): Promise<void> {
    if (this.size > 0 && !this.#closed) await new Promise<void>(resolve => this.#drained.push(resolve))
  }

  close(): void {
    this.#closed = true
    this.#settle()
  }

  #fill(): void {
    const most = this.away ? 1 : (this.#options.concurrency ?? 64)
    for (const key of this.#waiting.keys()) {
      if (this.#closed || this.#running >= most) return
      if (!this.#busy.has(key)) void this.#deliver(key)
    }
  }

  async #deliver(key: string): Promise<void> {
    const message = this.#waiting.get(key) as Message
    this.#waiting.delete(key)
    this.#busy.add(key)
    this.#running += 1
    const outcome = await this.#options.send(message)
    if (outcome === 'sent') this.#taken(key)
    else this.#restore(key, message)
    if (outcome === 'away') await this.#probe()
    this.#running -= 1
    if (outcome === 'later') await this.#stepAside(key)
    this.#busy.delete(key)
    this.#settle()
    this.#fill()
  }

  #taken(key: string): void {
    this.#away = 0
    this.#attempts.delete(key)
  }

  #restore(key: string, message: Message): void {
    const newer = this.#waiting.get(key)
    this.#waiting.set(key, newer ? this.#options.merge(message, newer) : message)
  }

  /** The first to find nobody keeps its place and waits for all; those that were under way with it just go back. */
  async #probe(): Promise<void> {
    if (this.#probing) return
    this.#probing = true
    this.#away += 1
    await this.#options.pause(this.#away)
    this.#probing = false
  }

  /** Its place is free for the others while it waits. */
  async #stepAside(key: string): Promise<void> {
    this.#away = 0 // somebody answered
    const attempt = (this.#attempts.get(key) ?? 0) + 1
    this.#attempts.set(key, attempt)
    this.#fill()
    await this.#options.pause(attempt)
  }

  #settle(): void {
    if (this.#drained.length === 0 || (this.size > 0 && !this.#closed)) return
    for (const resolve of this.#drained.splice(0)) resolve()
  }
}
