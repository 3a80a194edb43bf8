import type { TSchema } from 'typebox'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Emit, Outgoing } from './emitter.ts'
import type { RetryPolicy } from './retry.ts'
import { SpoolQueue } from './spool-queue.ts'

export interface Spooled<S extends TSchema = TSchema> extends Outgoing<S> {
  /** When the spool is full, an event goes first if a later one has the same key. */
  supersedes?: string
}

export interface SpoolOptions {
  folder: string
  maxBytes?: number
  /** One try; it is called again, after a wait, until it succeeds. */
  send: Emit
  log: Logger
  metrics: Registry
  clock: () => Date
  signal: AbortSignal
  backoff?: RetryPolicy
  delay?: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface Spool {
  /** Resolves when the event is kept: on disk, or in memory while the disk takes nothing. */
  put: <S extends TSchema>(event: Spooled<S>) => Promise<void>
  /** Resolves when everything put so far was sent, or the signal aborts. */
  idle: () => Promise<void>
  /** Events that wait. */
  readonly size: number
  /** What does not work as it should; undefined when all is well. */
  readonly degraded: string | undefined
  /** Settles after the signal aborts, when the files are closed. */
  readonly closed: Promise<void>
}

/**
 * An ordered spool on disk in front of an emitter. Events go out one by one in the order of `put`, survive the process (not a power cut:
 * nothing is synced, since a host that boots tells everything anew), and bear the same id however often they are sent.
 */
export async function spool(options: SpoolOptions): Promise<Spool> {
  const { log, signal } = options
  const running = new SpoolQueue(options)
  await running.open()
  const closed = running.deliver().catch(err => {
    if (!signal.aborted) log.error({ err }, 'the spool stopped')
    throw err
  })
  return {
    put: event => running.put(event),
    idle: () => running.idle(),
    get size() {
      return running.size
    },
    get degraded() {
      return running.degraded
    },
    closed
  }
}
