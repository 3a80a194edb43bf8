// A typed, live copy of some tables. It is Unknown from the loss of a connection to the next snapshot; the rows are kept meanwhile, only
// to be compared with that snapshot, so that consumers hear of real differences and of nothing else.
import type { Row } from './column.ts'
import { OvsdbError } from './error.ts'
import { type AnyNews, Feed } from './feed.ts'
import type { Where } from './operation.ts'
import { Condition, type Patience } from './patience.ts'
import { type AnyChange, Replica } from './replica.ts'
import { type Spec, planFor } from './schema.ts'
import type { Session } from './session.ts'
import { type Method, type Snapshot, type Update, subscribe } from './subscribe.ts'

export type Rows<C extends Spec[string]> = ReadonlyMap<string, Row<C>>
export type Change<S extends Spec> = {
  [T in keyof S & string]: {
    readonly table: T
    readonly uuid: string
    readonly before: Row<S[T]> | undefined
    readonly after: Row<S[T]> | undefined
  }
}[keyof S & string]
export type News<S extends Spec> =
  | { readonly kind: 'changes'; readonly snapshot: boolean; readonly changes: ReadonlyArray<Change<S>> }
  | { readonly kind: 'lost'; readonly cause: OvsdbError }
export type Tables<S extends Spec> = <T extends keyof S & string>(table: T) => Rows<S[T]>

export type MonitorOptions = {
  /**
   * Only rows for which any of the conditions holds, unlike the `where` of an operation, which wants all of them; without conditions every
   * row. The server must know monitor_cond (ovsdb-server(7) §4.1.12).
   */
  readonly where?: { readonly [table: string]: Where | undefined }
}
type Setup = {
  readonly id: string
  readonly database: string
  readonly timeoutMs: number
  readonly onClose: () => void
  readonly blame: () => OvsdbError | undefined
}

export class LiveMonitor<S extends Spec> {
  readonly #spec: S
  readonly #where: NonNullable<MonitorOptions['where']>
  readonly #setup: Setup
  readonly #replica: Replica
  readonly #feeds = new Set<Feed>()
  readonly #condition = new Condition()
  #state: 'unknown' | 'current' | 'closed' = 'unknown'
  #since: string | undefined
  #method: Method | undefined
  #resumed = 0
  #snapshots = 0

  constructor(spec: S, { where = {} }: MonitorOptions, setup: Setup) {
    this.#spec = spec
    this.#where = where
    this.#setup = setup
    this.#replica = new Replica(Object.keys(spec))
  }

  get id() {
    return this.#setup.id
  }

  get state() {
    return this.#state
  }

  /** How the rows came here: by which method, how often whole, how often resumed where they had been left. */
  get history() {
    return { method: this.#method, snapshots: this.#snapshots, resumed: this.#resumed }
  }

  /** The rows by uuid, followed live; undefined while they are not known. */
  rows<T extends keyof S & string>(table: T): Rows<S[T]> | undefined {
    return this.#state === 'current' ? this.#table(table) : undefined
  }

  /**
   * Begins with all rows as new, then tells each difference once; for a slow reader several differences of a row become one. Ends
   * when the monitor is closed.
   */
  changes(): AsyncIterableIterator<News<S>, undefined> {
    const feed = new Feed(this.#replica.same.bind(this.#replica), () => this.#feeds.delete(feed))
    if (this.#state === 'closed') feed.end()
    else this.#feeds.add(feed)
    if (this.#state === 'current') feed.changed(this.#everything(), true)
    return feed as AsyncIterableIterator<AnyNews, undefined> as AsyncIterableIterator<News<S>, undefined>
  }

  /** Asks at once and after each change, but only while the rows are known. Resolves with the first answer but undefined and false. */
  waitFor<T>(predicate: (rows: Tables<S>) => T | undefined | false, patience: Patience = {}): Promise<T> {
    const rows: Tables<S> = table => this.#table(table)
    const answer = () => this.#state === 'current' && predicate(rows)
    return this.#condition.until(answer, 'match', patience, this.#setup.blame)
  }

  close(): void {
    if (this.#state === 'closed') return
    this.end()
    this.#setup.onClose()
  }

  /** On each new connection. */
  async start({ connection, schema }: Session): Promise<void> {
    const { id, database, timeoutMs } = this.#setup
    const plan = planFor(this.#spec, schema)
    this.#replica.follow(plan)
    const wanted = { id, database, plan, where: this.#where, since: this.#since, timeoutMs }
    await subscribe(connection, wanted, snapshot => this.#install(snapshot))
  }

  update({ deltas, txn }: Update): void {
    this.#keepingStep(() => this.#replica.apply(deltas), txn, false)
  }

  lost(cause: OvsdbError): void {
    if (this.#state !== 'current') return
    this.#state = 'unknown'
    for (const feed of this.#feeds) feed.lost(cause)
  }

  end(error?: OvsdbError): void {
    this.#state = 'closed'
    for (const feed of this.#feeds) feed.end(error)
    this.#condition.fail(error ?? new OvsdbError('closed', 'the monitor was closed'))
  }

  #install({ method, complete, deltas, txn }: Snapshot): void {
    if (this.#state === 'closed') return // while the question was on its way
    this.#method = method
    if (complete) this.#snapshots++
    else this.#resumed++
    this.#keepingStep(() => (complete ? this.#replica.replace(deltas) : this.#replica.apply(deltas)), txn, true)
  }

  #keepingStep(change: () => AnyChange[], txn: string | undefined, snapshot: boolean): void {
    try {
      const changes = change()
      this.#since = txn
      this.#state = 'current'
      for (const feed of this.#feeds) feed.changed(changes, snapshot)
    } catch (error) {
      this.#since = undefined // out of step: only a whole snapshot helps
      throw error
    }
    this.#condition.changed()
  }

  #table<T extends keyof S & string>(table: T): Rows<S[T]> {
    return this.#replica.rows(table) as ReadonlyMap<string, unknown> as Rows<S[T]>
  }

  #everything(): AnyChange[] {
    return Object.keys(this.#spec).flatMap(table =>
      Array.from(this.#replica.rows(table), ([uuid, after]) => ({ table, uuid, before: undefined, after }))
    )
  }
}

export type Monitor<S extends Spec> = Pick<LiveMonitor<S>, 'state' | 'history' | 'rows' | 'changes' | 'waitFor' | 'close'>
