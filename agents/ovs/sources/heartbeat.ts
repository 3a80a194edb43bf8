// Once in a heartbeat: counters, versions, and the proof that the database still answers (OV-15, OV-54).
import { type Client, OvsdbError, select } from 'ovsdb-client'
import { poll } from '../inbox.ts'
import type { Counters, Fact } from '../observed.ts'
import { statisticsColumns } from '../tables.ts'
import { UnixctlError, ask } from '../wire/unixctl.ts'

export interface HeartbeatOptions {
  readonly db: Client
  readonly folder: string
  /** With its jitter. */
  readonly everyMs: () => number
  readonly now: () => number
}

export function heartbeat({ db, folder, everyMs, now }: HeartbeatOptions, signal: AbortSignal): AsyncGenerator<Fact> {
  return poll(everyMs, signal, async () => {
    const [statistics, ovsdVersion] = await Promise.all([readStatistics(db), readVersion(folder)])
    return { statistics, ovsdVersion, heartbeat: { at: now(), answered: statistics !== undefined } }
  })
}

async function readStatistics(db: Client): Promise<ReadonlyMap<string, Counters> | undefined> {
  try {
    const [{ rows }] = await db.transact([select('Interface', [], statisticsColumns)], { timeoutMs: 5000 })
    return new Map(rows.map(({ name, statistics }) => [name, statistics]))
  } catch (error) {
    if (!(error instanceof OvsdbError)) throw error
    return undefined
  }
}

async function readVersion(folder: string): Promise<string | undefined> {
  try {
    const text = await ask(folder, 'ovsdb-server', 'version')
    return /(\d+\.\d+\S*)/.exec(text)?.[1]
  } catch (error) {
    if (!(error instanceof UnixctlError)) throw error
    return undefined
  }
}
