// The garbage collector: objects go with their owners, as ownerReferences and the deletion's policy say.
import type { Cluster } from './cluster.ts'
import type { KubeObject } from './object.ts'
import { foreground, orphan } from './remove.ts'
import type { StoreEvent } from './store.ts'

interface Place {
  shelf: string
  namespace: string
  name: string
}

type Owner = NonNullable<KubeObject['metadata']['ownerReferences']>[number]

/** Where the collector writes. It goes past admission, like the real one's own identity. */
export interface Collector {
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>
}

export function startCollector(cluster: Cluster, onError: (err: unknown) => void): Collector {
  const { store, registry, clock } = cluster
  const dependents = new Map<string, Map<string, Place>>()
  const queue: Array<() => void> = []
  let running: Promise<void> | undefined

  const read = ({ shelf, namespace, name }: Place): KubeObject | undefined => store.get(shelf, namespace, name)
  const dependentsOf = (uid: string): Array<Place & { object: KubeObject }> =>
    [...(dependents.get(uid)?.values() ?? [])].flatMap(place => {
      const object = read(place)
      return object?.metadata.ownerReferences?.some(owner => owner.uid === uid) ? [{ ...place, object }] : []
    })

  function index(shelf: string, { type, object, previous }: StoreEvent): void {
    const { namespace = '', name } = object.metadata
    const key = `${shelf} ${namespace}/${name}`
    const now = type === 'DELETED' ? [] : (object.metadata.ownerReferences ?? [])
    for (const { uid } of previous?.metadata.ownerReferences ?? []) {
      if (now.some(owner => owner.uid === uid)) continue
      const known = dependents.get(uid)
      known?.delete(key)
      if (known?.size === 0) dependents.delete(uid)
    }
    for (const { uid } of now) {
      const known = dependents.get(uid) ?? new Map<string, Place>()
      dependents.set(uid, known.set(key, { shelf, namespace, name }))
    }
  }

  const ownerOf = (dependent: KubeObject, { apiVersion, kind, name, uid }: Owner): KubeObject | undefined => {
    const resource = registry.byKind(apiVersion, kind)
    const found = resource && store.get(resource.shelf, resource.namespaced ? (dependent.metadata.namespace ?? '') : '', name)
    return found?.metadata.uid === uid ? found : undefined
  }

  function end(place: Place, policy: 'Background' | 'Foreground'): void {
    const object = read(place)
    if (!object || object.metadata.deletionTimestamp) return
    const { metadata } = object
    const inForeground = policy === 'Foreground' && dependentsOf(metadata.uid ?? '').length > 0
    const finalizers = [...(metadata.finalizers ?? []), ...(inForeground ? [foreground] : [])]
    if (finalizers.length === 0) {
      store.remove(place.shelf, object)
      return
    }
    const deletionTimestamp = `${clock().toISOString().slice(0, 19)}Z`
    const generation = metadata.generation === undefined ? {} : { generation: metadata.generation + 1 }
    store.put(place.shelf, {
      ...object,
      metadata: { ...metadata, ...generation, finalizers, deletionTimestamp, deletionGracePeriodSeconds: 0 }
    })
  }

  function disown(place: Place, object: KubeObject, uids: Set<string>): void {
    const { ownerReferences = [], ...metadata } = object.metadata
    const left = ownerReferences.filter(owner => !uids.has(owner.uid))
    store.put(place.shelf, { ...object, metadata: left.length > 0 ? { ...metadata, ownerReferences: left } : metadata })
  }

  /** A dependent goes when none of its owners is left; when one is, only the dead references go. */
  function collect(place: Place): void {
    const object = read(place)
    const owners = object?.metadata.ownerReferences ?? []
    if (!object || owners.length === 0 || object.metadata.deletionTimestamp) return
    const states = owners.map(owner => ({ owner, object: ownerOf(object, owner) }))
    const waiting = states.filter(
      state => state.object?.metadata.finalizers?.includes(foreground) && state.object.metadata.deletionTimestamp
    )
    const solid = states.filter(state => state.object && !waiting.includes(state))
    if (solid.length === 0) end(place, waiting.length > 0 ? 'Foreground' : 'Background')
    else if (solid.length < states.length)
      disown(place, object, new Set(states.filter(state => !solid.includes(state)).map(state => state.owner.uid)))
  }

  function finish(place: Place, object: KubeObject, finalizer: string): void {
    const finalizers = (object.metadata.finalizers ?? []).filter(name => name !== finalizer)
    const { finalizers: _, ...metadata } = object.metadata
    if (finalizers.length > 0) store.put(place.shelf, { ...object, metadata: { ...metadata, finalizers } })
    else store.remove(place.shelf, { ...object, metadata })
  }

  /** An owner that waits for its dependents, or that lets go of them. */
  function attend(place: Place): void {
    const object = read(place)
    const { uid = '', finalizers = [], deletionTimestamp } = object?.metadata ?? {}
    if (!object || !deletionTimestamp) return
    if (finalizers.includes(orphan)) {
      for (const dependent of dependentsOf(uid)) disown(dependent, dependent.object, new Set([uid]))
      finish(place, object, orphan)
    } else if (finalizers.includes(foreground)) {
      for (const dependent of dependentsOf(uid)) collect(dependent)
      const blocking = dependentsOf(uid).filter(({ object: each }) =>
        each.metadata.ownerReferences?.some(owner => owner.uid === uid && owner.blockOwnerDeletion)
      )
      if (blocking.length === 0) finish(place, object, foreground)
    }
  }

  function react(shelf: string, event: StoreEvent): void {
    const { metadata } = event.object
    const place = { shelf, namespace: metadata.namespace ?? '', name: metadata.name }
    const before = event.previous?.metadata.ownerReferences ?? []
    if (event.type === 'DELETED') {
      for (const dependent of dependentsOf(metadata.uid ?? '')) collect(dependent)
      for (const owner of before) {
        const resource = registry.byKind(owner.apiVersion, owner.kind)
        if (resource) attend({ shelf: resource.shelf, namespace: resource.namespaced ? place.namespace : '', name: owner.name })
      }
    } else if (metadata.deletionTimestamp) attend(place)
    else if (metadata.ownerReferences && metadata.ownerReferences !== event.previous?.metadata.ownerReferences) collect(place)
  }

  // Reactions run one after the other outside of the write that caused them, like a controller's work queue.
  async function drain(): Promise<void> {
    await new Promise(setImmediate)
    for (let work = queue.shift(); work; work = queue.shift()) {
      try {
        work()
      } catch (err) {
        onError(err)
      }
    }
    running = undefined
  }

  store.observe((shelf, event) => {
    index(shelf, event)
    const { deletionTimestamp, ownerReferences } = event.object.metadata
    if (event.type !== 'DELETED' && !deletionTimestamp && !ownerReferences) return
    queue.push(() => react(shelf, event))
    running ??= drain()
  })
  for (const shelf of store.resources())
    for (const object of store.list(shelf)) {
      const event: StoreEvent = { type: 'ADDED', revision: store.revision, object, previous: undefined, weight: 0 }
      index(shelf, event)
      queue.push(() => react(shelf, event))
    }
  running = drain()
  return {
    async settled() {
      for (let work = running; work; work = running) await work
    }
  }
}
