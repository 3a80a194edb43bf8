import type { Kube, Seen } from '../../shared/kube/index.ts'
import { KubeError } from '../../shared/kube/index.ts'
import type { Change } from '../../shared/events/kind.ts'
import type { KubeObject } from '../../shared/schema/kind.ts'
import { difference, digest, type Digest } from './digest.ts'
import type { Watched } from './kinds.ts'

interface About {
  watched: Watched
  object: KubeObject
  /** Whose events must keep their order. */
  owner: string
}

export type Fact = (About & { type: 'changed'; changed: Change[] }) | (About & { type: 'deleted'; last: object | undefined })

/** Of each object what is needed to tell a difference, and to tell its end should a later listing not hold it any more. */
interface Known extends About {
  digest: Digest
  last: object | undefined
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata?.namespace ?? ''}/${metadata?.name}`

/** Enough of an object to name it. */
const stub = ({ apiVersion, kind, metadata = {} }: KubeObject): KubeObject => ({
  ...(apiVersion && { apiVersion }),
  ...(kind && { kind }),
  metadata: {
    ...(metadata.name && { name: metadata.name }),
    ...(metadata.namespace && { namespace: metadata.namespace }),
    ...(metadata.uid && { uid: metadata.uid })
  }
})

function* compare(known: Map<string, Known>, watched: Watched, seen: Seen<KubeObject>): Generator<Fact> {
  if (seen.type === 'deleted') {
    const { object } = seen
    if (known.delete(keyOf(object)))
      yield { type: 'deleted', watched, object, owner: watched.owner(object), last: watched.last?.(object) }
    return
  }
  const objects = seen.type === 'snapshot' ? seen.items : [seen.object]
  for (const object of objects) {
    const key = keyOf(object)
    const before = known.get(key)
    const reborn = before !== undefined && before.object.metadata?.uid !== object.metadata?.uid
    const after = digest(object, watched.volatile)
    const changed = difference(reborn ? undefined : before?.digest, after)
    const owner = watched.owner(object)
    known.set(key, { watched, object: stub(object), owner, digest: after, last: watched.last?.(object) })
    if (changed.length > 0) yield { type: 'changed', watched, object, owner, changed }
  }
  if (seen.type !== 'snapshot') return
  const present = new Set(objects.map(keyOf))
  for (const [key, { digest: _digest, ...gone }] of known) {
    if (present.has(key)) continue
    known.delete(key)
    yield { type: 'deleted', ...gone }
  }
}

interface Options {
  signal: AbortSignal
  namespace?: string
  /** Resolves when it is time to ask again for a kind that the cluster does not have. */
  pause: () => Promise<void>
}

/**
 * What differs between one look and the next, for one kind. What was known is kept over every reconnect, so that a gap is told as the
 * difference that it made. A kind that is not installed is asked for again later: KubeVirt may come after us.
 */
export async function* watch(kube: Kube, watched: Watched, { signal, namespace, pause }: Options): AsyncGenerator<Fact> {
  const known = new Map<string, Known>()
  while (!signal.aborted) {
    try {
      for await (const seen of kube.watch(watched.kind, { signal, ...(namespace !== undefined && { namespace }) })) {
        yield* compare(known, watched, seen)
      }
    } catch (err) {
      if (!(err instanceof KubeError) || err.code !== 'NotFound') throw err
    }
    if (!signal.aborted) await pause()
  }
}
