// Objects of one kind, kept by a watch.
import type { Kube, Seen } from '../kube/index.ts'
import type { Kind, KubeObject } from '../schema/kind.ts'

export interface Store<T> {
  kind: Kind<T & KubeObject>
  objects: Map<string, T>
  keyOf: (object: KubeObject) => string
}

export const keyOf = ({ metadata }: KubeObject): string =>
  metadata?.namespace ? `${metadata.namespace}/${metadata.name}` : (metadata?.name ?? '')
export const nameOf = ({ metadata }: KubeObject): string => metadata?.name ?? ''
export const store = <T extends KubeObject>(kind: Kind<T>, key = keyOf): Store<T> => ({ kind, objects: new Map(), keyOf: key })

interface Keeping {
  kube: Pick<Kube, 'watch'>
  signal: AbortSignal
  onError: (err: unknown, kind: string) => void
}

/** `changed` is called while the store still holds what was before, but for a snapshot. */
export async function keep<T extends KubeObject>(
  { kube, signal, onError }: Keeping,
  { kind, objects, keyOf }: Store<T>,
  changed: (seen: Seen<T>) => void
): Promise<void> {
  try {
    for await (const seen of kube.watch(kind, { signal })) {
      if (seen.type === 'snapshot') {
        objects.clear()
        for (const object of seen.items) objects.set(keyOf(object), object)
      }
      changed(seen)
      if (seen.type === 'changed') objects.set(keyOf(seen.object), seen.object)
      if (seen.type === 'deleted') objects.delete(keyOf(seen.object))
    }
  } catch (err) {
    onError(err, kind.kind)
  }
}
