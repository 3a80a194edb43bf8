import { KubeError, type Kube } from '../../shared/kube/index.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import type { Kind, KubeObject } from '../../shared/schema/kind.ts'

/** All objects of a kind as a watch last told them: what a pass looks at without asking the API server. */
export interface Store<T extends KubeObject> {
  readonly kind: Kind<T>
  /** False while the API server does not know the kind: CDI, Multus or KubeVirt is not installed. */
  readonly available: boolean
  get(name: string, namespace?: string): T | undefined
  /** Those of one group: of a Machine, or of a namespace. */
  group(key: string): T[]
  all(): T[]
  /** Read or written by ourselves, perhaps before the watch tells. */
  put(object: T): void
  drop(name: string, namespace?: string): void
  /** The first answer, whichever it is. */
  readonly ready: Promise<void>
}

export interface StoreOptions<T> {
  group: (object: T) => string
  labelSelector?: string
  /** Without it nothing can be done at all, so that its absence is an error of the start. */
  required?: boolean
  signal: AbortSignal
  log: Logger
}

const absenceMs = 30_000 // until a kind that was not there is asked for again

const keyOf = (name: string, namespace = ''): string => `${namespace}/${name}`
const versionOf = ({ metadata }: KubeObject): number => Number(metadata?.resourceVersion ?? 0)

export function store<T extends KubeObject>(kube: Kube, kind: Kind<T>, options: StoreOptions<T>): Store<T> {
  const { group, labelSelector, required = false, signal, log } = options
  const items = new Map<string, T>()
  const groups = new Map<string, Map<string, T>>()
  const first = Promise.withResolvers<void>()
  let available = true

  const remove = (key: string): void => {
    const known = items.get(key)
    if (!known) return
    items.delete(key)
    const members = groups.get(group(known))
    members?.delete(key)
    if (members?.size === 0) groups.delete(group(known))
  }
  const put = (object: T): void => {
    const key = keyOf(object.metadata?.name ?? '', object.metadata?.namespace)
    const known = items.get(key)
    if (known && versionOf(known) > versionOf(object)) return // what we know is newer
    remove(key)
    items.set(key, object)
    const name = group(object)
    const members = groups.get(name) ?? new Map<string, T>()
    groups.set(name, members.set(key, object))
  }

  const follow = async (): Promise<void> => {
    for await (const seen of kube.watch(kind, { signal, labelSelector })) {
      available = true
      if (seen.type === 'changed') put(seen.object)
      else if (seen.type === 'deleted') remove(keyOf(seen.object.metadata?.name ?? '', seen.object.metadata?.namespace))
      else {
        items.clear()
        groups.clear()
        seen.items.forEach(put)
        first.resolve()
      }
    }
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await follow()
      } catch (err) {
        if (required || !(err instanceof KubeError) || err.code !== 'NotFound') {
          first.reject(err)
          log.error({ err, kind: kind.kind }, 'cannot be watched')
        } else {
          available = false
          first.resolve()
        }
        await pause(absenceMs, signal)
      }
    }
  }
  void run()

  return {
    kind,
    ready: first.promise,
    get available() {
      return available
    },
    get: (name, namespace) => items.get(keyOf(name, namespace)),
    group: key => [...(groups.get(key)?.values() ?? [])],
    all: () => [...items.values()],
    put,
    drop: (name, namespace) => remove(keyOf(name, namespace))
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
