import type { Inbox } from './inbox.ts'
import type { Fact } from './observed.ts'

/** The facts of all sources, gathered. A source that fails ends the agent: it is never silently deaf. */
export async function* watch(sources: readonly AsyncIterable<Fact>[], inbox: Inbox, signal: AbortSignal): AsyncGenerator<Fact> {
  const broken = new AbortController()
  const pump = async (source: AsyncIterable<Fact>) => {
    for await (const fact of source) if (Object.keys(fact).length > 0) inbox.put(fact) // nothing new is no reason to judge again
  }
  const pumps = Promise.all(sources.map(pump)).catch((error: unknown) => broken.abort(error))
  yield* inbox.facts(AbortSignal.any([signal, broken.signal]))
  if (!signal.aborted) broken.signal.throwIfAborted() // what fails because the agent is being stopped is no failure
  await pumps
}
