// Many events at once, from a sender that may send again what was not taken; and who got them.
import type { Test } from 'tap'
import { eventually } from '../servers/eventually.ts'
import { clusterSink } from './broker.ts'
import { patience, post, type World } from './world.ts'

export interface Flood {
  /** What the broker did not take the first time. */
  refused: number
  sent: number
}

export interface FloodOptions {
  events: number
  inFlight?: number
  /** As a spool does: with the same id, until it is taken. */
  again?: boolean
  /** Called with the number of the event that is about to be sent. */
  before?: (event: number) => unknown
}

export async function flood(
  url: string,
  { events, inFlight = 10, again = true, before = () => {} }: FloodOptions
): Promise<Flood> {
  let next = 0
  const result = { refused: 0, sent: 0 }
  const one = async (id: number): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      const status = await post(url, { type: 'flood', id: String(id) }, { id }).then(
        answer => answer.status,
        () => 0
      )
      result.sent += 1
      if (status === 202) return
      if (tries === 1) result.refused += 1
      if (!again) return
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
  const lane = async (): Promise<void> => {
    while (next < events) {
      const id = next++
      await before(id)
      await one(id)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return result
}

export interface Counter {
  url: string
  /** How often each event came. */
  seen: Map<string, number>
  /** Resolves when all came, or when nothing more came for a while: what is missing then is lost. */
  settled: (events: number) => Promise<{ lost: number; doubled: number }>
}

export async function counter(t: Test, world: World): Promise<Counter> {
  const seen = new Map<string, number>()
  let last = Date.now()
  const sink = await clusterSink(t, world, ({ headers }) => {
    const id = String(headers['ce-id'])
    seen.set(id, (seen.get(id) ?? 0) + 1)
    last = Date.now()
    return { status: 204 }
  })
  return {
    url: sink.url,
    seen,
    async settled(events) {
      await eventually('all events', async () => seen.size >= events || Date.now() - last > 90_000, patience)
      const doubled = [...seen.values()].filter(times => times > 1).length
      return { lost: events - seen.size, doubled }
    }
  }
}
