// What goes wrong on purpose: an API server that is overloaded, hangs or loses its answers, and watches that end early or lag behind.
import type { Answer } from './answer.ts'
import type { RequestInfo } from './request-info.ts'
import { ApiError } from './status.ts'

export type Effect =
  /** 429 in plain text (server/filters/priority-and-fairness.go) */
  | { tooManySeconds: number }
  /** 504 after its 60 s, which are not waited for; what was asked for is carried out all the same (endpoints/handlers/finisher/finisher.go) */
  | { timesOut: true }
  /** no answer, ever */
  | { hangs: true }
  /** the request is carried out, then the connection breaks */
  | { losesAnswer: true }

export interface Fault {
  verb?: string
  resource?: string
  /** How often; without it until the fault is lifted. */
  times?: number
  effect: Effect
}

export interface Watches {
  /** After so long each ends in good order, as after `--min-request-timeout`, half an hour to an hour. */
  lastMs: number
  /** So long after a change it is told. */
  lagMs: number
}

export class Faults {
  readonly #active = new Map<Fault, number>()
  readonly watches: Partial<Watches> = {}

  /** Returns a function that lifts it. */
  add(fault: Fault): () => void {
    this.#active.set(fault, fault.times ?? Infinity)
    return () => this.#active.delete(fault)
  }

  next({ verb, resource }: RequestInfo): Effect | undefined {
    for (const [fault, left] of this.#active) {
      if ((fault.verb ?? verb) !== verb || (fault.resource ?? resource) !== resource) continue
      if (left <= 1) this.#active.delete(fault)
      else this.#active.set(fault, left - 1)
      return fault.effect
    }
    return undefined
  }
}

export const tooMany = (seconds: number): Answer => ({
  code: 429,
  body: 'Too many requests, please try again later.\n',
  headers: { 'retry-after': String(seconds) }
})

export const timedOut = (): ApiError =>
  new ApiError(504, 'Timeout', 'Timeout: request did not complete within requested timeout - context deadline exceeded', {})
