import { fromApiServerSource } from '../events/apiserver.ts'
import { anyEvent } from '../events/kind.ts'
import { decode, Malformed, type Headers } from './decode.ts'
import { Refused, type Call, type DroverFunction, type Platform, type Reaction, type Received } from './function.ts'
import { keyLock } from './key-lock.ts'
import { traceId } from './log.ts'
import { recorder, type Result } from './record.ts'
import { problemIn } from './validate.ts'

export interface EventRequest {
  headers: Headers
  body: Buffer
}

/** What goes back to the broker. A 2xx has no body: Knative retries one that is not an event. */
export interface Answer {
  status: number
  body?: string
}

export type Receive = (request: EventRequest) => Promise<Answer>

const done: Result = { outcome: 'done', status: 204 }
const ignored: Result = { outcome: 'ignored', status: 204 }
const refused = (text: string): Result => ({ outcome: 'refused', status: 422, text })

/** A function without HTTP: one request in, one answer out. Only events that matter to it wait for its dependencies. */
export function receiver<Deps>(fn: Reacting<Deps>, deps: Deps | Promise<Deps>, platform: Platform): Receive {
  return receiverOf(fn, () => deps, platform)
}

type Reacting<Deps> = Pick<DroverFunction<never, Deps>, 'name' | 'reactions'>

/** As `receiver`, with dependencies that may fail now and be there later. */
export function receiverOf<Deps>(fn: Reacting<Deps>, deps: () => Deps | Promise<Deps>, platform: Platform): Receive {
  const reactions = byType(fn.reactions)
  const record = recorder(fn.name, platform)
  const lock = keyLock()

  async function react(reaction: Reaction<Deps>, event: Received, key: string): Promise<Result> {
    if (!matters(reaction, event)) return ignored
    const problem = problemIn(reaction.kind.data, event.data)
    if (problem !== undefined) return refused(problem)
    try {
      await lock(key, async () => await reaction.handle(event, await deps(), new EventCall(event, platform)))
      return done
    } catch (error) {
      if (error instanceof Refused) return refused(error.message)
      return { outcome: 'failed', status: 503, text: 'failed, to be sent again', error }
    }
  }

  async function take(told: Received): Promise<Result> {
    const start = performance.now()
    record.start()
    const { event, reaction } = match(reactions, told)
    const key = reaction?.key(event) ?? ''
    const result = reaction ? await react(reaction, event, key) : refused('no reaction to events of this type')
    record.end(event, reaction?.kind.type === event.type, key, result, performance.now() - start)
    return result
  }

  return async ({ headers, body }) => {
    let events: Received[]
    try {
      events = decode(headers, body)
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      record.unreadable(error.status, error.message)
      return { status: error.status, body: short(error.message) }
    }
    const [first] = events
    const result = first && events.length === 1 ? await take(first) : (await Promise.all(events.map(take))).reduce(worse, done)
    return result.text === undefined ? { status: result.status } : { status: result.status, body: short(result.text) }
  }
}

function byType<Deps>(reactions: readonly Reaction<Deps>[]): Map<string, Reaction<Deps>> {
  const map = new Map(reactions.map(reaction => [reaction.kind.type, reaction]))
  if (map.size < reactions.length) throw new Error('a function has two reactions to one type of event')
  return map
}

function match<Deps>(reactions: Map<string, Reaction<Deps>>, event: Received): { event: Received; reaction?: Reaction<Deps> } {
  const direct = reactions.get(event.type)
  if (direct) return { event, reaction: direct }
  const translated = fromApiServerSource(event)
  const reaction = translated && reactions.get(translated.type)
  if (reaction) return { event: translated, reaction }
  const whatever = reactions.get(anyEvent.type)
  return whatever ? { event, reaction: whatever } : { event }
}

const matters = ({ changed: wanted }: Reaction, { changed }: Received): boolean =>
  wanted === undefined || changed === undefined || changed.some(change => wanted.includes(change))

// 503 > 422 > 204: as long as one event of a batch may still succeed, the batch is to be sent again.
const worse = (worst: Result, result: Result): Result => (result.status > worst.status ? result : worst)

// A class, since a getter of a literal is made anew for each event.
class EventCall implements Call {
  readonly #event: Received
  readonly #platform: Platform
  readonly signal: AbortSignal
  readonly traceparent: string | undefined
  constructor(event: Received, platform: Platform) {
    this.#event = event
    this.#platform = platform
    this.signal = platform.signal
    this.traceparent = event.traceparent
  }

  /** A child logger costs more than all else about an event that does nothing: made when it is used. */
  get log(): Call['log'] {
    const { id, type, traceparent } = this.#event
    return this.#platform.log.child({ event: id, type, ...(traceparent && { trace_id: traceId(traceparent) }) })
  }
}

/** Knative's dispatcher panics over an error body of more than 768 bytes when a dead-letter sink is set. */
export function short(text: string): string {
  return Buffer.byteLength(text) < 512
    ? text
    : `${Buffer.from(text)
        .subarray(0, 500)
        .toString()
        .replace(/\uFFFD+$/, '')}…`
}
