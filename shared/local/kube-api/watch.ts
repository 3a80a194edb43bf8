// Watches: the initial state where asked for, then every change, with bookmarks; a client that does not read is let go.
import type { Call, Cluster } from './cluster.ts'
import type { Watches } from './faults.ts'
import { checkListOptions, parseRevision, selection } from './list.ts'
import { includeOf, presentOne, type Form } from './media.ts'
import type { KubeObject } from './object.ts'
import { present } from './resource.ts'
import { nameIn } from './selectors.ts'
import { ApiError, internal } from './status.ts'
import type { StoreEvent } from './store.ts'

/** How far a client may fall behind before it loses its connection, in changes and in bytes or so. */
const mostPending = 10_000
const heaviestPending = 64 << 20
const bookmarkEveryMs = 60_000
/** `--min-request-timeout`: a watch that names no time ends after once to twice as long. */
const leastSeconds = 1800
const longestTimerMs = 2 ** 31 - 1
const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' }

/** Where a watch tells what it sees. */
export interface Outlet {
  /** Settles when more may be told. */
  tell(type: string, object: object): Promise<void> | undefined
  onClose(closed: () => void): void
  /** In good order. */
  end(): void
  /** Of one who does not listen. */
  drop(): void
}

interface Asked {
  cluster: Cluster
  call: Call
  query: URLSearchParams
  form: Form
  how: Partial<Watches>
}

export async function watch({ cluster, call, query, form, how }: Asked, begin: () => Outlet): Promise<void> {
  checkListOptions(query, true)
  const matches = selection(call, query)
  const flag = (name: string): boolean => ['1', 'true'].includes(query.get(name) ?? '')
  const revision = revisionOf(query)
  const initial = flag('sendInitialEvents') || revision === 0
  const pending: StoreEvent[] = []
  let weight = 0
  const start = initial ? cluster.store.revision : revision
  const objects = initial ? cluster.store.list(call.resource.shelf).filter(object => matches(present(call.resource, object))) : []
  const outlet = begin()
  const stream = new Stream(cluster, call, query, form, outlet)
  // Those that a change does not concern must not even wake up.
  const concerns = ({ object, previous }: StoreEvent): boolean =>
    matches(present(call.resource, object)) || (previous !== undefined && matches(present(call.resource, previous)))
  let stop = (): void => {}
  const late = new Late()
  try {
    const take = (event: StoreEvent): void => {
      pending.push(event)
      weight += event.weight
      if (pending.length > mostPending || weight > heaviestPending) outlet.drop()
      stream.wake()
    }
    const hear = (event: StoreEvent): void => {
      if (concerns(event)) late.add(event, how.lagMs ?? 0, take)
    }
    stop = cluster.store.watch(call.resource.shelf, start, hear, nameIn(query.get('fieldSelector') ?? ''))
  } catch (err) {
    if (!(err instanceof ApiError)) throw err
    void outlet.tell('ERROR', err.toStatus())
    outlet.end()
    return
  }
  const timeout = Number(query.get('timeoutSeconds') ?? 0) || leastSeconds * (1 + Math.random())
  const timer = setTimeout(() => stream.end(), Math.min(timeout * 1000, how.lastMs ?? longestTimerMs))
  const ticker = flag('allowWatchBookmarks') ? setInterval(() => stream.wake('bookmark'), bookmarkEveryMs) : undefined
  outlet.onClose(() => stream.end())
  try {
    for (const object of objects) await stream.send('ADDED', present(call.resource, object))
    if (flag('sendInitialEvents') && flag('allowWatchBookmarks')) await stream.bookmark(start, initialEventsEnd)
    let seen = start
    while (!stream.ended) {
      const batch = pending.splice(0)
      for (const event of batch) {
        await stream.forward(event, matches)
        weight -= event.weight
        seen = event.revision
      }
      if (pending.length > 0) continue
      // Nothing of this resource is pending, so that the store's revision is reached by this watch as well.
      if ((await stream.next()) === 'bookmark')
        await stream.bookmark(late.isEmpty ? Math.max(seen, cluster.store.revision) : seen)
    }
  } finally {
    stop()
    clearTimeout(timer)
    clearInterval(ticker)
    late.clear()
    outlet.end()
  }
}

function revisionOf(query: URLSearchParams): number {
  const text = query.get('resourceVersion')
  if (!text) return 0
  try {
    return parseRevision(text)
  } catch (err) {
    throw internal((err as Error).message) // a watch tells this as a server error
  }
}

/** Events that are told later than they happen, in their order. */
class Late {
  readonly #timers = new Set<NodeJS.Timeout>()
  #dueMs = 0

  get isEmpty(): boolean {
    return this.#timers.size === 0
  }

  add(event: StoreEvent, lagMs: number, take: (event: StoreEvent) => void): void {
    if (lagMs === 0 && this.isEmpty) return take(event)
    this.#dueMs = Math.max(this.#dueMs, Date.now() + lagMs)
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      take(event)
    }, this.#dueMs - Date.now())
    this.#timers.add(timer)
  }

  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }
}

class Stream {
  ended = false
  readonly #cluster: Cluster
  readonly #call: Call
  readonly #query: URLSearchParams
  readonly #form: Form
  readonly #outlet: Outlet
  #columnsTold = false
  #wakeUp: ((why: string) => void) | undefined
  #due: string | undefined
  #resume: (() => void) | undefined

  constructor(cluster: Cluster, call: Call, query: URLSearchParams, form: Form, outlet: Outlet) {
    this.#cluster = cluster
    this.#call = call
    this.#query = query
    this.#form = form
    this.#outlet = outlet
  }

  wake(why = 'event'): void {
    this.#due = why
    this.#wakeUp?.(why)
  }

  end(): void {
    this.ended = true
    this.#resume?.()
    this.wake('end')
  }

  /** Why it goes on: an event came, a bookmark is due, the end. */
  async next(): Promise<string> {
    const why = this.#due ?? (await new Promise<string>(resolve => (this.#wakeUp = resolve)))
    this.#due = this.#wakeUp = undefined
    return why
  }

  /** A change that takes an object into the selection adds it, one that takes it out deletes it. */
  async forward({ type, object, previous }: StoreEvent, matches: (object: KubeObject) => boolean): Promise<void> {
    const { resource } = this.#call
    const now = present(resource, object)
    const is = type !== 'DELETED' && matches(now)
    const was = previous !== undefined && matches(present(resource, previous))
    if (is) await this.send(was ? 'MODIFIED' : 'ADDED', now)
    else if (was && previous)
      await this.send('DELETED', {
        ...present(resource, previous),
        metadata: { ...(type === 'DELETED' ? now : previous).metadata, ...revisionOfObject(now) }
      })
  }

  async send(type: string, object: KubeObject): Promise<void> {
    const options = { now: this.#cluster.clock(), include: includeOf(this.#query), columns: !this.#columnsTold }
    this.#columnsTold = true
    await this.#write(type, presentOne(this.#call.resource, object, this.#form, options))
  }

  async bookmark(revision: number, annotations?: Record<string, string>): Promise<void> {
    const { kind, apiVersion } = this.#call.resource
    const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) }
    await this.#write('BOOKMARK', { kind, apiVersion, metadata })
  }

  async #write(type: string, object: object): Promise<void> {
    const taken = this.ended ? undefined : this.#outlet.tell(type, object)
    if (!taken) return
    await new Promise<void>(resolve => {
      this.#resume = resolve
      void taken.then(resolve)
    })
  }
}

const revisionOfObject = ({ metadata: { resourceVersion } }: KubeObject): { resourceVersion?: string } =>
  resourceVersion ? { resourceVersion } : {}
