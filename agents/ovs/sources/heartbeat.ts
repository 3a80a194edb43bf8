// Once in a heartbeat: counters, versions, and the proof that the database still answers (OV-15, OV-54).
import { type Client, OvsdbError, select } from 'ovsdb-client'
import type { Daemons, Timed } from '../daemons.ts'
import { poll } from '../inbox.ts'
import type { Counters, Fact } from '../observed.ts'
import { statisticsColumns } from '../tables.ts'
import { readLookups } from '../wire/lookups.ts'
import { UnixctlError } from '../wire/unixctl.ts'

export interface HeartbeatOptions {
  readonly db: Client
  readonly daemons: Daemons
  readonly timed: Timed
  /** With its jitter. */
  readonly everyMs: () => number
  readonly now: () => number
}

export function heartbeat({ db, daemons, timed, everyMs, now }: HeartbeatOptions, signal: AbortSignal): AsyncGenerator<Fact> {
  return poll(everyMs, signal, async () => {
    const [statistics, version, datapaths] = await Promise.all([
      timed('ovsdb', 'select', () => readStatistics(db)),
      ifAnswered(daemons.ask('ovsdb-server', 'version')),
      ifAnswered(daemons.ask('ovs-vswitchd', 'dpctl/show'))
    ])
    return {
      statistics,
      ovsdVersion: /(\d+\.\d+\S*)/.exec(version ?? '')?.[1],
      lookups: readLookups(datapaths ?? ''),
      heartbeat: { at: now(), answered: statistics !== undefined }
    }
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

/** What was not obtained is absent (OV-3). */
async function ifAnswered(answer: Promise<string>): Promise<string | undefined> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof UnixctlError)) throw error
    return undefined
  }
}
