// Processes that die in the middle of their work, and a broker that sends again what they did not answer.
import type { Engine } from '../../../functions/ha/engine.ts'
import type { Kube } from '../../../shared/kube/index.ts'
import type { Lab } from './lab.ts'

export class Killed extends Error {}

/** Dies right after something was written, before what it says is done. */
export const mortalKube =
  (dies: () => boolean) =>
  (kube: Kube): Kube => ({
    ...kube,
    async applyStatus(...args) {
      const written = await kube.applyStatus(...args)
      if (dies()) throw new Killed('the process is gone')
      return written
    },
    async apply(...args) {
      if (dies()) throw new Killed('the process is gone')
      return kube.apply(...args)
    }
  })

/** Time goes on; every process looks at what is due, at the same time. */
export async function pass(it: Lab, engines: readonly Engine[], seconds: number, stepSeconds = 2): Promise<void> {
  for (let gone = 0; gone < seconds; gone += stepSeconds) {
    it.clock.advance(stepSeconds * 1000)
    await Promise.all(engines.map(engine => engine.sweep(false).catch(comesBack)))
  }
}

/** What a dead process has not written is sent again, and ticks come anyway. */
function comesBack(err: unknown): void {
  const causes: unknown[] = err instanceof AggregateError ? err.errors : [err]
  if (!causes.every(cause => cause instanceof Killed)) throw err
}

export async function untilTold(tell: () => Promise<void>): Promise<void> {
  for (let told = false; !told;)
    told = await tell().then(
      () => true,
      (err: unknown) => {
        comesBack(err)
        return false
      }
    )
}

/** A small generator with a seed: a failing run can be repeated. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}
