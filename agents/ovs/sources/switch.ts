import { type Client, OvsdbError } from 'ovsdb-client'
import { quietly } from '../inbox.ts'
import type { Fact } from '../observed.ts'
import { switchTables, tablesOf } from '../tables.ts'

const schemaRetryMs = 30_000

/** The switch's own database. A loss says only that nothing is known; what is gone is told by the next snapshot (OV-16). */
export async function* followSwitch(db: Client, signal: AbortSignal): AsyncGenerator<Fact> {
  while (!signal.aborted) {
    const monitor = db.monitor(switchTables)
    const close = () => monitor.close()
    signal.addEventListener('abort', close, { once: true })
    try {
      for await (const news of monitor.changes()) {
        yield news.kind === 'lost'
          ? { ovsdb: 'lost', tables: undefined, statistics: undefined }
          : { ovsdb: 'connected', tables: tablesOf(monitor) }
      }
      return // closed
    } catch (error) {
      if (!(error instanceof OvsdbError && error.code === 'schema')) throw error
      yield { ovsdb: 'schema-unsupported', tables: undefined }
      await quietly(schemaRetryMs, signal) // until it is upgraded
    } finally {
      signal.removeEventListener('abort', close)
      close()
    }
  }
}
