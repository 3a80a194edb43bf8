// Takes an event in: routes it, stores it, answers 202, and only then delivers it.
import { rfc3339, type Clock } from './clock.ts'
import type { DeadLetters } from './dead-letters.ts'
import { dispatch, type Outcome, type Trigger } from './dispatch.ts'
import { BadEvent, parseEvent, type Event } from './event.ts'
import type { Matches } from './filter.ts'
import type { Journal, Stored } from './journal.ts'
import { passedOn } from './request.ts'
import { Closed, type Sender } from './sender.ts'
import type { Answer, Delivered, Headers, Limits, Log } from './types.ts'
import type { Reply } from './verdict.ts'

export interface Route extends Trigger {
  matches: Matches
  /** Events stored for this trigger and not done with. */
  held: number
}

export interface HubOptions {
  journal: Journal
  deadLetters: DeadLetters
  sender: Sender
  clock: Clock
  limits: Limits
  log: Log
  observe?: (delivered: Delivered) => void
}

const TTL = 255

export class Hub {
  /** By broker. */
  readonly #routes = new Map<string, { url: string; routes: Route[] }>()
  readonly #options: HubOptions
  #seq = 0
  #bytes = 0
  /** Events with a trigger left. */
  #open = 0
  #idle: Array<() => void> = []

  constructor(options: HubOptions) {
    this.#options = options
  }

  addBroker(key: string, url: string, routes: Route[]): void {
    this.#routes.set(key, { url, routes })
  }

  has(broker: string): boolean {
    return this.#routes.has(broker)
  }

  /** What an earlier process had acknowledged goes first. Triggers that are gone are done with. */
  async restore(): Promise<void> {
    const { journal } = this.#options
    const gone: Array<Promise<void>> = []
    for (const stored of journal.restore()) {
      this.#seq = Math.max(this.#seq, stored.seq)
      const routes = this.#routes.get(stored.broker)?.routes.filter(({ key }) => stored.left.has(key)) ?? []
      stored.left = new Set(routes.map(({ key }) => key))
      if (routes.length === 0) {
        gone.push(journal.progress(stored))
        continue
      }
      this.#bytes += stored.event.body.length
      for (const route of routes) route.held++
      this.#start(stored, routes)
    }
    await Promise.all(gone)
  }

  /** Resolves when every event that was taken is done with. */
  async idle(): Promise<void> {
    if (this.#open > 0) await new Promise<void>(resolve => this.#idle.push(resolve))
  }

  /** Room for data that is still being read. */
  reserve(bytes: number): boolean {
    if (this.#bytes + bytes > this.#options.limits.bytes) return false
    this.#bytes += bytes
    return true
  }

  release(bytes: number): void {
    this.#bytes -= bytes
  }

  /** A request to the ingress. */
  async receive(broker: string, headers: Headers, body: Buffer): Promise<Answer> {
    if (!this.has(broker)) return { status: 404, body: `there is no broker ${broker}` }
    try {
      const event = parseEvent(headers, body)
      return await this.#accept(broker, event, passedOn(headers), ttlOf(event))
    } catch (err) {
      if (err instanceof BadEvent) return { status: 400, body: err.message }
      throw err
    }
  }

  /** Sends a dead letter to its trigger once more, with all its tries. */
  async replay(id: number): Promise<'replayed' | 'unknown' | 'no trigger' | 'full'> {
    const found = this.#options.deadLetters.find(id)
    if (!found) return 'unknown'
    const routes = this.#routes.get(found.stored.broker)?.routes.filter(({ key }) => key === found.letter.trigger) ?? []
    if (routes.length === 0) return 'no trigger'
    const { status } = await this.#store(found.stored, routes)
    if (status !== 202) return 'full'
    await this.#options.deadLetters.drop(id)
    return 'replayed'
  }

  async #accept(broker: string, event: Event, passed: Headers, ttl: number): Promise<Answer> {
    if (ttl <= 0) return { status: 400, body: 'too many replies in a row' }
    delete event.attributes.knativebrokerttl
    event.attributes.knativearrivaltime = rfc3339(this.#options.clock.now())
    const routes = this.#routes.get(broker)!.routes.filter(({ matches }) => matches(event.attributes))
    if (routes.length === 0) return { status: 202 } // nobody wants it: gone, as with Knative
    return this.#store({ broker, event, passed, ttl }, routes)
  }

  async #store(what: Pick<Stored, 'broker' | 'event' | 'passed' | 'ttl'>, routes: Route[]): Promise<Answer> {
    const { limits, journal, log } = this.#options
    if (routes.some(({ held }) => held >= limits.queue) || !this.reserve(what.event.body.length)) return FULL
    for (const route of routes) route.held++
    const stored: Stored = { ...what, seq: ++this.#seq, left: new Set(routes.map(({ key }) => key)) }
    try {
      await journal.add(stored)
    } catch (err) {
      for (const route of routes) route.held--
      this.release(what.event.body.length)
      log.error({ err }, 'an event could not be stored')
      return { status: 500, body: 'the event could not be stored' }
    }
    this.#start(stored, routes)
    return { status: 202 }
  }

  #start(stored: Stored, routes: Route[]): void {
    this.#open++
    for (const route of routes) route.lane.add(stored.event.attributes.partitionkey, () => this.#run(stored, route))
  }

  /** Never rejects: what goes wrong is logged and the event stays in the journal. */
  async #run(stored: Stored, route: Route): Promise<void> {
    const { sender, clock, observe, log } = this.#options
    const started = clock.now()
    const { broker } = stored
    const reply = async (reply: Reply, ttl: number) => (await this.#accept(broker, reply.event, reply.passed, ttl - 1)).status
    try {
      const means = { sender, clock, ingress: { url: this.#routes.get(broker)!.url, reply } }
      const result = await dispatch(stored, route, means)
      stored.left.delete(route.key)
      const last = stored.left.size === 0
      this.#write(stored, route.key, result).then(
        () => this.#finish(stored, route, last),
        (err: unknown) =>
          log.error({ err, trigger: route.key }, 'the end of a delivery could not be stored; it will be made again')
      )
      const { id, type } = stored.event.attributes as { id: string; type: string }
      const { outcome, attempts } = result
      observe?.({ trigger: route.key, subscriber: route.subscriber.url, type, id, outcome, attempts, ms: clock.now() - started })
    } catch (err) {
      if (!(err instanceof Closed)) log.error({ err, trigger: route.key }, 'a delivery broke off')
    }
  }

  /** Both in one transaction: queued in one turn. */
  async #write(stored: Stored, trigger: string, result: Outcome): Promise<void> {
    const { deadLetters, journal, clock } = this.#options
    const writes = [journal.progress(stored)]
    if (result.outcome === 'dead-lettered') writes.push(deadLetters.add(stored, { time: clock.now(), trigger, ...result }))
    await Promise.all(writes)
  }

  #finish(stored: Stored, route: Route, last: boolean): void {
    route.held--
    if (!last) return
    this.release(stored.event.body.length)
    if (--this.#open === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

const FULL: Answer = { status: 429, headers: { 'retry-after': '1' }, body: 'too many events are waiting' }

/** A sender's own knativebrokerttl counts down, as in a dead letter that is sent to a broker again. */
function ttlOf({ attributes: { knativebrokerttl: ttl } }: Event): number {
  return ttl !== undefined && /^-?\d+$/.test(ttl) ? Number(ttl) - 1 : TTL
}
