// RFC 7047 §4.1.8–4.1.10. A lock belongs to a connection: with it goes the lock, and on the next one it is asked for again.
import { column } from './column.ts'
import { OvsdbError } from './error.ts'
import { isObject } from './json.ts'
import { Condition, type Patience } from './patience.ts'
import type { Session } from './session.ts'

type Setup = { readonly steal: boolean; readonly timeoutMs: number; readonly onRelease: () => Promise<void> }

export class LiveLock {
  readonly name: string
  readonly #setup: Setup
  readonly #condition = new Condition()
  #held = false
  #asked = false

  constructor(name: string, setup: Setup) {
    this.name = name
    this.#setup = setup
  }

  /** What counts is an `assert` in the transaction itself: between this answer and the commit the lock may be lost. */
  get held(): boolean {
    return this.#held
  }

  acquired(patience: Patience = {}): Promise<true> {
    return this.#condition.until(() => this.#held || undefined, `lock ${this.name}`, patience)
  }

  /** Stolen, or gone with the connection. The server keeps us in its queue, so it may come back. */
  lost(patience: Patience = {}): Promise<true> {
    return this.#condition.until(() => !this.#held || undefined, `loss of lock ${this.name}`, patience)
  }

  async release(): Promise<void> {
    this.end(new OvsdbError('closed', `lock ${this.name} was released`))
    await this.#setup.onRelease()
  }

  /** On each new connection. Stealing is done once: a lock that went with the connection is waited for like any other. */
  async start({ connection }: Session): Promise<void> {
    const method = this.#setup.steal && !this.#asked ? 'steal' : 'lock'
    await connection.call(method, [this.name], result => this.notified(readLocked(result)), this.#setup)
    this.#asked = true
  }

  notified(held: boolean): void {
    this.#held = held
    this.#condition.changed()
  }

  end(error: OvsdbError): void {
    this.notified(false)
    this.#condition.fail(error)
  }
}

const readLocked = (result: unknown) => column.boolean.decode(isObject(result) ? result['locked'] : undefined)

export type Lock = Pick<LiveLock, 'name' | 'held' | 'acquired' | 'lost' | 'release'>
