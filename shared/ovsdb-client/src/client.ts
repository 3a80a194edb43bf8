// One database, kept connected to one of its servers. Everything that was asked for on one connection is asked for again on the next.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Backoff, defaultBackoff, waitMs } from './backoff.ts'
import { OvsdbError } from './error.ts'
import { maxMessageBytes } from './json-stream.ts'
import { LiveLock, type Lock } from './lock.ts'
import { LiveMonitor, type Monitor, type MonitorOptions } from './monitor.ts'
import { type Operation, type Results, decodeResults, encodeOperation } from './operation.ts'
import { Condition, type Patience } from './patience.ts'
import { type Remote, type TlsOptions, parseRemote, remoteText } from './remote.ts'
import type { Schema, Spec } from './schema.ts'
import type { Progress } from './server-watch.ts'
import { type Session, type SessionOptions, openSession } from './session.ts'

export type Status =
  | { readonly state: 'connecting'; readonly lastError: OvsdbError | undefined }
  | { readonly state: 'connected'; readonly remote: string }
  | { readonly state: 'closed' }

export type OpenOptions = {
  /** Tried in turn: `unix:/run/openvswitch/db.sock`, `tcp:HOST:PORT`, `ssl:HOST:PORT`. */
  readonly remotes: readonly string[]
  readonly database: string
  readonly tls?: TlsOptions
  /** In a cluster talk to the leader alone (the default). A follower answers too, a moment later and with one hop more for each write. */
  readonly leaderOnly?: boolean
  /** Silence after which an echo is sent; as much again and the connection is given up. */
  readonly probeMs?: number
  readonly connectTimeoutMs?: number
  readonly callTimeoutMs?: number
  /** Calls that may wait at a time; one more is refused as `busy`. */
  readonly maxWaiting?: number
  readonly maxMessageBytes?: number
  readonly backoff?: Backoff
  readonly delay?: (ms: number, signal: AbortSignal) => Promise<unknown>
  readonly random?: () => number
  readonly onStatus?: (status: Status) => void
}

export class Client {
  readonly #options: Required<Omit<OpenOptions, 'remotes'>>
  readonly #remotes: readonly Remote[]
  readonly #stop = new AbortController()
  readonly #ready = new Condition()
  readonly #monitors = new Map<unknown, LiveMonitor<Spec>>()
  readonly #locks = new Map<unknown, LiveLock>()
  readonly #progress: Progress = { cid: undefined, index: 0n }
  readonly #running: Promise<void>
  #session: Session | undefined
  #status: Status = { state: 'connecting', lastError: undefined }
  #nextMonitor = 0
  #waiting = 0

  constructor({ remotes, ...options }: OpenOptions) {
    if (remotes.length === 0) throw new OvsdbError('notation', 'no remote was given')
    this.#remotes = remotes.map(parseRemote)
    this.#options = {
      tls: {},
      leaderOnly: true,
      probeMs: 5000,
      connectTimeoutMs: 5000,
      callTimeoutMs: 10_000,
      maxWaiting: 1000,
      maxMessageBytes,
      backoff: defaultBackoff,
      delay: (ms, signal) => sleep(ms, undefined, { signal }),
      random: Math.random,
      onStatus: () => {},
      ...options
    }
    this.#running = this.#run(this.#stop.signal)
  }

  get status(): Status {
    return this.#status
  }

  /** All operations are done or none is. A refusal is an OvsdbError that names the operation. */
  async transact<const O extends readonly Operation[]>(operations: O, patience: Patience = {}): Promise<Results<O>> {
    const params = [this.#options.database, ...operations.map(encodeOperation)]
    const decode = (result: unknown) => decodeResults(operations, result) as Results<O>
    const readOnly = operations.every(({ op }) => op === 'select')
    const { signal, timeoutMs = this.#options.callTimeoutMs } = patience
    const deadline = performance.now() + timeoutMs
    return this.#waitingCall(async () => {
      const { connection } = await this.#whenReady({ signal, timeoutMs })
      try {
        return await connection.call('transact', params, decode, { timeoutMs: deadline - performance.now(), signal })
      } catch (error) {
        throw readOnly ? error : truthful(error)
      }
    })
  }

  /** A live copy of some columns of some tables; it may be made before there is a connection. */
  monitor<const S extends Spec>(spec: S, options: MonitorOptions = {}): Monitor<S> {
    const id = `m${this.#nextMonitor++}`
    const { database, callTimeoutMs: timeoutMs } = this.#options
    const monitor = new LiveMonitor(spec, options, { id, database, timeoutMs, blame: () => this.#lastError(), onClose })
    const kept = monitor as unknown as LiveMonitor<Spec>
    const forget = () => this.#monitors.delete(id)
    const cancel = () => this.#session?.connection.call('monitor_cancel', [id], () => {}, { timeoutMs })
    function onClose() {
      forget()
      cancel()?.catch(() => {}) // refused or lost: in either case the monitor is gone
    }
    if (this.#stop.signal.aborted) kept.end(closed())
    else this.#monitors.set(id, kept)
    if (this.#session) this.#begin(kept, this.#session)
    return monitor
  }

  /** Asks for a lock of that name and keeps asking; `steal` takes it from whoever has it, once. */
  lock(name: string, { steal = false }: { steal?: boolean } = {}): Lock {
    if (this.#locks.has(name)) throw new OvsdbError('busy', `lock ${name} has been asked for already`)
    const { callTimeoutMs: timeoutMs } = this.#options
    const onRelease = async () => {
      this.#locks.delete(name)
      await this.#session?.connection.call('unlock', [name], () => {}, { timeoutMs })
    }
    const lock = new LiveLock(name, { steal, timeoutMs, onRelease })
    if (this.#stop.signal.aborted) lock.end(closed())
    else this.#locks.set(name, lock)
    if (this.#session) this.#begin(lock, this.#session)
    return lock
  }

  /** The schema of the database as the server in use has it. */
  async schema(patience: Patience = {}): Promise<Schema> {
    return (await this.#whenReady(patience)).schema
  }

  async close(): Promise<void> {
    const reason = closed()
    this.#stop.abort(reason)
    this.#ready.fail(reason)
    for (const monitor of this.#monitors.values()) monitor.end()
    for (const lock of this.#locks.values()) lock.end(reason)
    await this.#running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { backoff, random, delay } = this.#options
    const count = this.#remotes.length
    for (let turn = 0, attempt = 0; !signal.aborted; turn++) {
      await delay(waitMs(attempt, count, backoff, random), signal).catch(() => {}) // aborted: the loop ends by its condition
      if (signal.aborted) break
      const stable = await this.#visit(this.#remotes[turn % count] as Remote, signal)
      attempt = stable ? 0 : attempt + 1
    }
    this.#report({ state: 'closed' })
  }

  /** From one connect to the loss of it. True when the session lasted, so that its loss is worth an immediate reconnect. */
  async #visit(remote: Remote, signal: AbortSignal): Promise<boolean> {
    let session: Session
    try {
      session = await openSession(remote, this.#sessionOptions(), signal)
    } catch (error) {
      this.#report({ state: 'connecting', lastError: error as OvsdbError })
      return false
    }
    const since = performance.now()
    this.#session = session
    this.#report({ state: 'connected', remote: remoteText(remote) })
    for (const part of [...this.#monitors.values(), ...this.#locks.values()]) this.#begin(part, session)
    this.#ready.changed()
    const reason = await session.connection.closed
    this.#session = undefined
    for (const monitor of this.#monitors.values()) monitor.lost(reason)
    for (const lock of this.#locks.values()) lock.notified(false)
    if (!signal.aborted) this.#report({ state: 'connecting', lastError: reason })
    return performance.now() - since >= this.#options.backoff.maxMs
  }

  #sessionOptions(): SessionOptions {
    const { database, leaderOnly } = this.#options
    return {
      ...this.#options,
      wish: { database, leaderOnly, progress: this.#progress },
      onUpdate: update => this.#monitors.get(update.id)?.update(update), // one just closed may still be told something
      onLock: (held, name) => this.#locks.get(name)?.notified(held)
    }
  }

  /** What can't work on any connection ends here; anything else is tried again on the next one. */
  #begin(part: LiveMonitor<Spec> | LiveLock, session: Session): void {
    part.start(session).catch((error: unknown) => {
      const reason = error instanceof OvsdbError ? error : new OvsdbError('protocol', 'cannot begin', { cause: error })
      const answered = reason.serverError !== undefined || reason.code === 'schema' || reason.code === 'notation'
      if (!answered || reason.retryable) return session.connection.close(reason)
      if (part instanceof LiveLock) this.#locks.delete(part.name)
      else this.#monitors.delete(part.id)
      return part.end(reason)
    })
  }

  async #waitingCall<T>(call: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#options.maxWaiting) throw new OvsdbError('busy', `${this.#waiting} calls are waiting already`)
    this.#waiting++
    try {
      return await call()
    } finally {
      this.#waiting--
    }
  }

  #whenReady({ signal, timeoutMs = this.#options.callTimeoutMs }: Patience): Promise<Session> {
    return this.#ready.until(
      () => this.#session,
      'connection',
      { signal, timeoutMs },
      () => this.#lastError()
    )
  }

  #lastError(): OvsdbError | undefined {
    return this.#status.state === 'connecting' ? this.#status.lastError : undefined
  }

  #report(status: Status): void {
    this.#status = status
    this.#options.onStatus(status)
  }
}

const closed = () => new OvsdbError('closed', 'the client was closed')

/** A transaction that was sent and got no answer may have been committed: whoever repeats it must know. */
function truthful(error: unknown): unknown {
  if (error instanceof OvsdbError && (error.serverError !== undefined || error.code === 'notation')) return error
  return new OvsdbError('outcome-unknown', 'no answer came back for a transaction that was sent', { cause: error })
}

export const open = (options: OpenOptions): Client => new Client(options)
