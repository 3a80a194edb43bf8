import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Static, TObject, TSchema } from 'typebox'
import type { Change, EventKind, Received } from '../events/kind.ts'
import type { Emit } from './emitter.ts'

export type { Change, EventKind, Received } from '../events/kind.ts'

/** What the process gives to a function: everything that is neither its configuration nor its logic. */
export interface Platform {
  log: Logger
  clock: () => Date
  emit: Emit
  metrics: Registry
  /** Aborts when the process stops and the running handlers are done. */
  signal: AbortSignal
  /** Called on stop, the last registered first. */
  onClose: (close: () => void | Promise<void>) => void
}

/** What belongs to one event. `traceparent` is for the events emitted on its behalf. */
export interface Call {
  readonly log: Logger
  readonly signal: AbortSignal
  readonly traceparent?: string | undefined
}

export type Handle<D, Deps> = (event: Received<D>, deps: Deps, call: Call) => Promise<void>

export interface ReactionOptions<D> {
  /** An event that says it changed nothing of this is acknowledged before any I/O. Left out: everything matters. */
  changed?: readonly Change[]
  /** Events of one key are handled one after the other. */
  key?: (event: Received<D>) => string
}

// Written as methods: TypeScript compares their parameters both ways, so that reactions to different kinds fit in one list.
export interface Reaction<Deps = unknown> {
  readonly kind: EventKind
  readonly changed?: readonly Change[]
  key(event: Received): string
  handle(event: Received, deps: Deps, call: Call): Promise<void>
}

/**
 * Answers requests that are no events: a page, a stream, an AdmissionReview. It ends the response itself; what it throws before
 * that becomes a 500. `call.signal` aborts when the peer is gone and when the process stops: a stream ends then.
 */
export type Route<Deps = unknown> = {
  // Taken from a method, for the same reason as above.
  answer(request: IncomingMessage, response: ServerResponse, deps: Deps, call: Pick<Call, 'log' | 'signal'>): void | Promise<void>
}['answer']

export interface DroverFunction<C extends TObject = TObject, Deps = unknown> {
  readonly name: string
  readonly config: C
  /** What no single field can tell, a sentence each: they keep the function from starting, as a field that cannot be read does. */
  problems?(config: Static<C>): readonly string[]
  open(config: Static<C>, platform: Platform): Promise<Deps>
  readonly reactions: readonly Reaction<Deps>[]
  /** By path: `/explain` takes itself and all below it, `/` whatever is left but POST. All other requests are events or refused. */
  readonly routes?: Readonly<Record<string, Route<Deps>>>
}

/** Thrown by a handler: this event can never be handled, so it is not to be sent again (422). */
export class Refused extends Error {
  override name = 'Refused'
}

const defaultKey = ({ partitionkey, subject, id }: Received): string => partitionkey ?? subject ?? id

export function on<S extends TSchema, Deps>(kind: EventKind<S>, handle: Handle<Static<S>, Deps>): Reaction<Deps>
export function on<S extends TSchema, Deps>(
  kind: EventKind<S>,
  options: ReactionOptions<Static<S>>,
  handle: Handle<Static<S>, Deps>
): Reaction<Deps>
export function on<S extends TSchema, Deps>(
  kind: EventKind<S>,
  ...rest: [Handle<Static<S>, Deps>] | [ReactionOptions<Static<S>>, Handle<Static<S>, Deps>]
): Reaction<Deps> {
  const [options, handle] = rest.length === 1 ? [{}, rest[0]] : rest
  const { changed, key = defaultKey }: ReactionOptions<Static<S>> = options
  return { kind, key, handle, ...(changed && { changed }) }
}

// A property, unlike a method, is compared strictly: here a reaction may not ask for more than open() gives.
type Needing<Deps> = Reaction<Deps> & { handle: (event: never, deps: Deps, call: Call) => Promise<void> }

export const defineFunction = <C extends TObject, Deps>(
  fn: DroverFunction<C, Deps> & { reactions: readonly Needing<Deps>[] }
): DroverFunction<C, Deps> => fn
