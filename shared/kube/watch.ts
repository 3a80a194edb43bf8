import type { Kind, KubeObject } from '../schema/kind.ts'
import type { KubeErrorCode, Status } from './errors.ts'
import { fromStatus, fromThrown, isVersionLost, KubeError } from './errors.ts'
import type { Answer } from './in-process.ts'
import { lines } from './lines.ts'
import { collectionPath } from './path.ts'
import type { ListOptions } from './read.ts'
import { list } from './read.ts'
import type { Backoff } from './retry.ts'
import { backoffMs } from './retry.ts'
import type { Transport } from './transport.ts'

/**
 * What a watcher sees. A snapshot is everything there is, at the start and whenever changes were missed: what is not in it is gone.
 * After it come the changes, each once.
 */
export type Seen<T> = { type: 'snapshot'; items: T[] } | { type: 'changed'; object: T } | { type: 'deleted'; object: T }

export interface WatchOptions extends ListOptions {
  signal: AbortSignal
  /** Told true when changes are being followed, false when they are not any more: what was seen grows old from then on. */
  onFollowing?: (following: boolean) => void
}

interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  object: T
}

const backoff: Backoff = { firstMs: 200, longestMs: 30_000 }
const sessionSeconds = 300 // then the server ends a watch in good order, and we take it up again
const maxLineBytes = 16 * 1024 * 1024 // far beyond what etcd can hold of one object

/** What no later try mends while nothing was ever seen: told at once. Later on the same may be a server that is still starting. */
const hopeless: ReadonlySet<KubeErrorCode> = new Set(['BadRequest', 'Unauthorized', 'Forbidden', 'NotFound', 'Invalid'])

/**
 * Lists, then watches, for ever: a lost connection is taken up at the last version seen, a version the server forgot leads to a new snapshot.
 * Throws only when the first list is refused; ends when the signal says so.
 */
export async function* watch<T extends KubeObject>(
  transport: Transport,
  kind: Kind<T>,
  options: WatchOptions,
  idleMs: number
): AsyncGenerator<Seen<T>> {
  const { log, pace } = transport
  let version: string | undefined
  let started = false
  let failures = 0
  while (!options.signal.aborted) {
    let pauseMs: number | undefined
    try {
      for await (const step of session(transport, kind, options, idleMs, version)) {
        version = step.version
        started = true
        failures = 0
        if (step.seen) yield step.seen
      }
    } catch (thrown) {
      const error = fromThrown(thrown, options.signal)
      if (error.code === 'Aborted') return
      options.onFollowing?.(false)
      if (!started && hopeless.has(error.code)) throw error
      log?.warn({ err: error, kind: kind.kind, failures }, 'watch interrupted')
      // a kind that is gone may come back with another history
      if (isVersionLost(error) || error.code === 'NotFound') version = undefined
      pauseMs = error.retryAfterMs && Math.min(error.retryAfterMs, backoff.longestMs)
    }
    failures++ // also after an end in good order, so that a server which ends every watch at once is not asked without pause
    pauseMs ??= backoffMs(failures, backoff, pace.random)
    await pace.delay(pauseMs, options.signal).catch(() => undefined) // ended by the signal
  }
}

interface Step<T> {
  version: string
  seen?: Seen<T>
}

async function* session<T extends KubeObject>(
  transport: Transport,
  kind: Kind<T>,
  options: WatchOptions,
  idleMs: number,
  known: string | undefined
): AsyncGenerator<Step<T>> {
  let version = known
  if (version === undefined) {
    const { items, resourceVersion } = await list(transport, kind, options)
    version = resourceVersion
    yield { version, seen: { type: 'snapshot', items } }
  }
  yield* changes(transport, kind, options, idleMs, version)
}

async function* changes<T extends KubeObject>(
  transport: Transport,
  kind: Kind<T>,
  { namespace, labelSelector, fieldSelector, signal, onFollowing }: WatchOptions,
  idleMs: number,
  resourceVersion: string
): AsyncGenerator<Step<T>> {
  const timeoutSeconds = Math.round(sessionSeconds * (1 + transport.pace.random()))
  const query = { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds, labelSelector, fieldSelector }
  const path = collectionPath(kind, namespace, query)
  const response = await transport.stream({ verb: 'watch', kind: kind.kind, method: 'GET', path }, signal)
  onFollowing?.(true)
  for await (const event of response.events ?? parsed(lines(whileAlive(response, idleMs), maxLineBytes))) {
    const { type, object } = decode<T>(event)
    const version = object.metadata?.resourceVersion
    if (version === undefined) throw new KubeError('Malformed', `a ${type} event without a version`)
    if (type === 'BOOKMARK') yield { version }
    else yield { version, seen: { type: type === 'DELETED' ? 'deleted' : 'changed', object } }
  }
}

/** The chunks of a response that keeps talking. The time the consumer takes does not count; meanwhile the socket is not read. */
async function* whileAlive(response: Answer, idleMs: number): AsyncGenerator<Buffer> {
  const wait = () =>
    setTimeout(() => response.destroy(new KubeError('Timeout', `the watch said nothing for ${idleMs} ms`)), idleMs)
  let waiting = wait()
  try {
    for await (const chunk of response) {
      clearTimeout(waiting)
      yield chunk
      waiting = wait()
    }
  } finally {
    clearTimeout(waiting)
  }
}

const types: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])

async function* parsed(texts: AsyncIterable<string>): AsyncGenerator {
  for await (const text of texts) {
    let event: unknown
    try {
      event = JSON.parse(text)
    } catch (cause) {
      throw new KubeError('Malformed', 'a line of the watch is not JSON', { cause })
    }
    yield event
  }
}

function decode<T>(told: unknown): WatchEvent<T> {
  const event = told as { type?: unknown; object?: Status } | null
  if (event?.type === 'ERROR' && event.object) throw fromStatus(event.object.code ?? 500, event.object)
  if (!types.has(event?.type) || !event?.object)
    throw new KubeError('Malformed', `not a watch event: ${JSON.stringify(told)?.slice(0, 100)}`)
  return event as WatchEvent<T>
}
