// All objects of a kind for somebody who asks again and again, as a tick does: a watch keeps them, so that the server need not send a
// thousand large objects every ten seconds. What is told here is a hint of a moment ago; who acts reads the object again.
import type { Kind, KubeObject } from '../schema/kind.ts'
import type { Kube } from './connect.ts'
import type { ListOptions } from './read.ts'
import type { Log } from './transport.ts'

export interface KeptList<T> {
  /** As they are, or were a moment ago. */
  all(): Promise<readonly T[]>
}

export interface KeepOptions<T> extends Pick<ListOptions, 'namespace' | 'labelSelector'> {
  signal: AbortSignal
  log?: Log
  /** Leaves out what nobody will ask for: many are held in memory. */
  trim?: (object: T) => T
  /** For so long a look waits for a watch that has not yet told everything there was when it began. */
  patienceMs?: number
}

/** Objects are held whole only until their page is read. */
const pageSize = 50

/** No object has this name: a list of it is empty, and tells which version the server is at. */
const nobody = 'metadata.name=-'
const newest = (a: number, { metadata }: KubeObject): number => Math.max(a, Number(metadata?.resourceVersion ?? 0))
const keyOf = ({ metadata }: KubeObject): string => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`

export function keepList<T extends KubeObject>(
  kube: Pick<Kube, 'list' | 'watch'>,
  kind: Kind<T>,
  { signal, log, trim = object => object, patienceMs = 250, ...scope }: KeepOptions<T>
): KeptList<T> {
  const kept = new Map<string, T>()
  const waiting = new Set<() => void>()
  let following = false
  let watching = false
  let version = 0

  async function follow(): Promise<void> {
    const onFollowing = (is: boolean): void => void (following = is)
    const keys = new WeakMap<T, string>() // what is left of an object need not bear its name
    const noted = (object: T): T => {
      version = newest(version, object)
      const left = trim(object)
      keys.set(left, keyOf(object))
      return left
    }
    for await (const seen of kube.watch(kind, { ...scope, trim: noted, pageSize, signal, onFollowing })) {
      if (seen.type === 'snapshot') {
        kept.clear()
        for (const object of seen.items) kept.set(keys.get(object) ?? keyOf(object), object)
      } else {
        if (seen.type === 'changed') kept.set(keyOf(seen.object), trim(seen.object))
        else kept.delete(keyOf(seen.object))
        version = newest(version, seen.object)
      }
      for (const wake of waiting) wake()
    }
  }

  function begin(): void {
    if (watching || signal.aborted) return
    watching = true
    follow()
      .catch((err: unknown) => log?.warn({ err, kind: kind.kind }, 'cannot be watched, and is listed each time'))
      .finally(() => (watching = following = false)) // the next look tries again
  }

  const listed = async (): Promise<T[]> => (await kube.list(kind, { ...scope, trim, pageSize })).items

  /** Whoever wrote something and then asks is told of it: a watch is a few milliseconds behind. */
  async function reached(wanted: number): Promise<void> {
    if (version >= wanted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = (): void => void (version >= wanted && resolve())
    const timer = setTimeout(resolve, patienceMs)
    waiting.add(wake)
    await promise
    clearTimeout(timer)
    waiting.delete(wake)
  }

  return {
    async all() {
      if (!following) {
        begin()
        return listed()
      }
      const { resourceVersion } = await kube.list(kind, { ...scope, fieldSelector: nobody })
      await reached(Number(resourceVersion))
      return following ? [...kept.values()] : listed()
    }
  }
}
