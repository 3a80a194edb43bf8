// Callback ids and who listens to them
import type { Domain } from './domain.ts'
import { EventQueue, type Overflow } from './event-queue.ts'
import { decodeEvent, type EventKind, eventKindOf, type EventOf, eventRows } from './events/index.ts'
import { LibvirtError } from './errors.ts'
import type { CallOptions } from './connection.ts'
import { eventCallbackDeregister, eventCallbackRegister } from './procedures/event-callback.ts'
import type { Procedure } from './procedures/procedure.ts'
import type { Reader } from './xdr/reader.ts'

/** A message that cannot be read. Told, not hidden: something happened to a domain. */
export interface Undecodable {
  readonly kind: 'undecodable'
  readonly expected: EventKind
  readonly error: LibvirtError
}

export type Told<Kind extends EventKind> = EventOf<Kind> | Undecodable | Overflow
export type Subscription<Kind extends EventKind = EventKind> = AsyncIterableIterator<Told<Kind>>

export interface SubscribeOptions extends CallOptions {
  /** Events of this one only. */
  readonly domain?: Domain
  /** Events that wait for a slow listener; beyond, an `overflow` takes the place of what was lost. */
  readonly capacity?: number
}

type Call = <Args, Result>(procedure: Procedure<Args, Result>, args: Args, options?: CallOptions) => Promise<Result>
type Queue = EventQueue<EventOf<EventKind> | Undecodable>

const DEFAULT_CAPACITY = 4096
const MAX_UNCLAIMED = 1024

export class Subscriptions {
  #call: Call
  #queues = new Map<number, Queue>() // by callback id
  #registering = 0
  #unclaimed: { callbackId: number; event: EventOf<EventKind> | Undecodable }[] = []

  constructor(call: Call) {
    this.#call = call
  }

  async subscribe<Kind extends EventKind>(kinds: readonly Kind[], options: SubscribeOptions = {}): Promise<Subscription<Kind>> {
    const { domain, capacity = DEFAULT_CAPACITY, ...callOptions } = options
    if (kinds.length === 0) throw new LibvirtError('argument', 'no kind of event is named: nothing would ever come')
    const ids: number[] = []
    const leave = async () => {
      for (const id of ids) this.#queues.delete(id)
      await Promise.all(ids.map(callbackId => this.#deregister(callbackId)))
    }
    const queue: Queue = new EventQueue({ capacity, onReturn: leave })
    this.#registering++
    try {
      for (const kind of kinds) {
        const id = await this.#call(eventCallbackRegister, { eventId: eventRows[kind].id, domain }, callOptions)
        ids.push(id)
        this.#claim(id, queue)
      }
    } catch (err) {
      await leave() // all or nothing: nobody is half deaf
      throw err
    } finally {
      if (--this.#registering === 0) this.#unclaimed = []
    }
    return queue as Subscription<Kind>
  }

  /** False if it belongs to nobody here. */
  dispatch(number: number, body: Reader): boolean {
    const kind = eventKindOf(number)
    if (!kind) return false
    const callbackId = body.int()
    const event = decode(kind, body)
    const queue = this.#queues.get(callbackId)
    if (queue) queue.push(event)
    // the first event may come before the reply that says whose it is
    else if (this.#registering > 0 && this.#unclaimed.length < MAX_UNCLAIMED) this.#unclaimed.push({ callbackId, event })
    else return false
    return true
  }

  end(error: LibvirtError | undefined): void {
    for (const queue of new Set(this.#queues.values())) queue.end(error)
    this.#queues.clear()
  }

  #claim(id: number, queue: Queue): void {
    this.#queues.set(id, queue)
    for (const { callbackId, event } of this.#unclaimed) if (callbackId === id) queue.push(event)
    this.#unclaimed = this.#unclaimed.filter(({ callbackId }) => callbackId !== id)
  }

  async #deregister(callbackId: number): Promise<void> {
    try {
      await this.#call(eventCallbackDeregister, { callbackId })
    } catch (err) {
      if (!(err instanceof LibvirtError)) throw err // whatever the server says to it, nobody listens any more
    }
  }
}

function decode(kind: EventKind, body: Reader): EventOf<EventKind> | Undecodable {
  try {
    return decodeEvent(kind, body)
  } catch (error) {
    return { kind: 'undecodable', expected: kind, error: error as LibvirtError }
  }
}
