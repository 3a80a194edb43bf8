// Stands in for the agents on the hosts: tells that a move ended as soon as its record says so. (No libvirt runs behind a fake driver.)
import type { Test } from 'tap'

export interface Move {
  id: number
  server: string
  source: string
  status: string
}

const ended = new Set(['completed', 'confirmed', 'failed', 'error', 'cancelled'])

/** `look` gives all records; `tell` posts an event. Returns how to stop. */
export function watchMoves(
  t: Pick<Test, 'teardown'>,
  look: () => Promise<Move[]>,
  tell: (type: string, data: object) => Promise<unknown>,
  everyMs = 50
): () => Promise<void> {
  const told = new Set<number>()
  const watching = new AbortController()
  const watch = (async () => {
    while (!watching.signal.aborted) {
      const over = (await look()).filter(({ id, status }) => ended.has(status) && !told.has(id))
      for (const { id, server, source, status } of over) {
        told.add(id)
        const facts = {
          host: source,
          at: new Date().toISOString(),
          bootId: 'boot-1',
          epoch: 1,
          server,
          name: server,
          origin: source,
          stats: {}
        }
        // an event is not waited for: the agent goes on watching
        void tell('sap.cloud.kvm.migration.ended.v1', { ...facts, result: status === 'completed' ? 'success' : 'failed' })
      }
      await new Promise(resolve => setTimeout(resolve, everyMs))
    }
  })()
  const stop = async (): Promise<void> => {
    watching.abort()
    await watch
  }
  t.teardown(stop)
  return stop
}
