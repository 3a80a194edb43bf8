// What the rules need to know of other objects, kept up to date by watches: a look-up takes no time and never fails. What could not be kept
// up to date for a while is not known any more (A19).
import type { Kind, Kube, KubeObject } from '../../shared/kube/index.ts'
import type { Known } from '../../shared/rules/machine-facts.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import { retry, type RetryPolicy } from '../../shared/runtime/retry.ts'

export interface Watched<V> {
  get(name: string, namespace?: string): Known<V>
  all(): Known<readonly V[]>
  /** Settles when the first look is done, however it went. */
  started: Promise<void>
}

const forEver: RetryPolicy = { attempts: Number.POSITIVE_INFINITY, minDelayMs: 1000, maxDelayMs: 30_000 }
const keyOf = ({ metadata }: KubeObject): string => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`
const unknown = { known: false } as const

export interface WatchedOptions {
  signal: AbortSignal
  log: Logger
  clock: () => Date
  /** For how long what was seen is believed after the API server was heard last. */
  staleAfterMs: number
}

/** Keeps of each object what `keep` makes of it; undefined leaves it out. */
export function watched<T extends KubeObject, V>(
  kube: Kube,
  kind: Kind<T>,
  keep: (object: T) => V | undefined,
  { signal, log, clock, staleAfterMs }: WatchedOptions
): Watched<V> {
  let items: Map<string, V> | undefined
  let lostAt: number | undefined
  let list: readonly V[] | undefined // made when asked for, dropped when something changed
  const first = Promise.withResolvers<void>()

  const onFollowing = (following: boolean): void => {
    lostAt = following ? undefined : (lostAt ?? clock().getTime())
  }
  const fresh = (): Map<string, V> | undefined =>
    lostAt === undefined || clock().getTime() - lostAt < staleAfterMs ? items : undefined

  const put = (into: Map<string, V>, object: T): void => {
    const value = keep(object)
    if (value === undefined) into.delete(keyOf(object))
    else into.set(keyOf(object), value)
  }
  const follow = async (): Promise<void> => {
    for await (const seen of kube.watch(kind, { signal, onFollowing })) {
      if (seen.type === 'snapshot') {
        const found = new Map<string, V>()
        for (const object of seen.items) put(found, object)
        items = found
        first.resolve()
      } else if (items) {
        if (seen.type === 'deleted') items.delete(keyOf(seen.object))
        else put(items, seen.object)
      }
      list = undefined
    }
  }
  // A kind that is not installed is not there yet: asked again, and unknown until then.
  const onRetry = (err: unknown): void => {
    first.resolve()
    log.warn({ err, kind: kind.kind }, 'cannot be watched: what depends on it is not checked')
  }
  retry(forEver, follow, { signal, retryable: () => true, onRetry }).catch(() => first.resolve()) // ended by the signal

  return {
    get(name, namespace = '') {
      const known = fresh()
      return known ? { known: true, value: known.get(`${namespace}/${name}`) } : unknown
    },
    all() {
      const known = fresh()
      return known ? { known: true, value: (list ??= [...known.values()]) } : unknown
    },
    started: first.promise
  }
}
