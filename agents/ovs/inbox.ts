import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Fact } from './observed.ts'

/**
 * Facts on their way to the one who judges them. What comes within `gatherMs` is judged at once (OV-25): one fault comes as several row changes.
 * A later fact about the same thing takes the place of an earlier one, so that memory is bounded by what there is to know.
 */
export class Inbox {
  readonly #gatherMs: number
  #waiting: Fact | undefined
  #bell = Promise.withResolvers<void>()

  constructor(gatherMs: number) {
    this.#gatherMs = gatherMs
  }

  put(fact: Fact): void {
    this.#waiting = { ...this.#waiting, ...fact }
    this.#bell.resolve()
  }

  async *facts(signal: AbortSignal): AsyncGenerator<Fact> {
    signal.addEventListener('abort', () => this.#bell.resolve(), { once: true })
    while (!signal.aborted) {
      await this.#bell.promise
      await quietly(this.#gatherMs, signal)
      if (signal.aborted) return
      const fact = this.#waiting
      this.#waiting = undefined
      this.#bell = Promise.withResolvers()
      if (fact) yield fact
    }
  }
}

/** Ends early, and without a word, when the signal aborts. */
export async function quietly(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}

/** Turn after turn, each begun `everyMs` after the end of the one before: a poll never overlaps itself (OV-24). */
export async function* poll(everyMs: () => number, signal: AbortSignal, look: () => Promise<Fact>): AsyncGenerator<Fact> {
  while (!signal.aborted) {
    yield await look()
    await quietly(everyMs(), signal)
  }
}

/** Of the facts of a poll those that differ from the one before: most do not, and each would be judged. */
export async function* onlyNews(polled: AsyncIterable<Fact>): AsyncGenerator<Fact> {
  let known: Fact | undefined
  for await (const fact of polled) {
    if (!isDeepStrictEqual(fact, known)) yield fact
    known = fact
  }
}
