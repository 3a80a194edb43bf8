// The `_Server` database (ovsdb-server(5)) tells whether a server is the one to talk to, and goes on telling while we are connected.
import { type Row, column } from './column.ts'
import type { Connection } from './connection.ts'
import { OvsdbError } from './error.ts'
import { Replica } from './replica.ts'
import { parseSchema, planFor } from './schema.ts'
import { type Update, subscribe } from './subscribe.ts'

const serverSpec = {
  Database: {
    name: column.string,
    model: column.string,
    connected: column.boolean,
    leader: column.boolean,
    cid: column.optional(column.uuid),
    index: column.optional(column.integer)
  }
} as const
export type DatabaseRow = Omit<Row<typeof serverSpec.Database>, '_uuid'>

export const serverMonitorId = '_Server'

/** How far the cluster's log had come when we last heard: a server behind that would take us back in time. */
export type Progress = { cid: string | undefined; index: bigint }
export type Wish = { readonly database: string; readonly leaderOnly: boolean; readonly progress: Progress }

/** The reason why this server will not do, if there is one. */
export function unsuitable(row: DatabaseRow | undefined, { database, leaderOnly, progress }: Wish): string | undefined {
  if (!row) return `has no database ${database}`
  if (row.model === 'standalone') return undefined
  if (!row.connected) return `is cut off from the ${row.model === 'relay' ? 'source' : 'cluster'} of ${database}`
  if (leaderOnly && !row.leader) return `is not the leader of ${database}`
  if (row.cid === progress.cid && (row.index ?? 0n) < progress.index) return `is behind what was already seen of ${database}`
  return undefined
}

export class ServerWatch {
  readonly #wish: Wish
  readonly #onUnsuitable: (error: OvsdbError) => void
  readonly #replica = new Replica(['Database'])

  constructor(wish: Wish, onUnsuitable: (error: OvsdbError) => void) {
    this.#wish = wish
    this.#onUnsuitable = onUnsuitable
  }

  async start(connection: Connection, timeoutMs: number): Promise<void> {
    const schema = await connection.call('get_schema', ['_Server'], parseSchema, { timeoutMs }).catch(ifUnknownDatabase)
    if (!schema) return // before OVS 2.9, when there were no clusters either
    const plan = planFor(serverSpec, schema)
    this.#replica.follow(plan)
    const wanted = { database: '_Server', id: serverMonitorId, plan, where: {}, since: undefined, timeoutMs }
    await subscribe(connection, wanted, ({ deltas }) => {
      this.#replica.replace(deltas)
      this.#judge()
    })
  }

  update({ deltas }: Update): void {
    this.#replica.apply(deltas)
    this.#judge()
  }

  #judge(): void {
    const { database, progress } = this.#wish
    const rows = Array.from(this.#replica.rows('Database').values()) as unknown as DatabaseRow[]
    const row = rows.find(({ name }) => name === database)
    const reason = unsuitable(row, this.#wish)
    if (reason) return this.#onUnsuitable(new OvsdbError('unsuitable-server', `the server ${reason}`))
    progress.cid = row?.cid
    progress.index = row?.index ?? 0n
  }
}

function ifUnknownDatabase(error: unknown): undefined {
  if (!(error instanceof OvsdbError && error.code === 'unknown-database')) throw error
}
