// Objects by resource, namespace and name; one revision counter; for each resource a bounded history that watches start from.
import { bytesOf } from './encode.ts'
import type { KubeObject } from './object.ts'
import { expired, requestTooLarge } from './status.ts'
import { weigh } from './weight.ts'

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  readonly object: KubeObject
  readonly previous: KubeObject | undefined
  /** Of the object, in bytes or so. */
  readonly weight: number
}

/** etcd takes a request of 1.5 MiB, and some of that is its own. */
const largestObject = 1.5 * 1024 * 1024 - 512
const perhapsTooLarge = largestObject / 8

/** Of one resource's history. Few objects are so large that they are bounded by this and not by their number. */
const heaviestHistory = 64 << 20

/** Where objects survive the process. Called before anybody sees the change. */
export interface Backing {
  load(): { revision: number; objects: Array<{ resource: string; object: KubeObject }> }
  save(resource: string, object: KubeObject, revision: number): void
  remove(resource: string, object: KubeObject, revision: number): void
}

interface Shelf {
  objects: Map<string, KubeObject>
  /** Kept from list to list until an object comes or goes. */
  keys: string[] | undefined
  history: StoreEvent[]
  weight: number
  /** Revisions up to this one can no longer be told apart. */
  floor: number
  listeners: Set<Listener>
  /** Those that care for one name only: a fleet has one for each host, and a change of another must not cost them anything. */
  listenersOf: Map<string, Set<Listener>>
}

type Listener = (event: StoreEvent) => void

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`

export class Store {
  readonly #shelves = new Map<string, Shelf>()
  readonly #observers = new Set<(resource: string, event: StoreEvent) => void>()
  readonly #historySize: number
  readonly #backing: Backing | undefined
  #revision = 1
  #started = 1

  constructor(historySize: number, backing?: Backing) {
    this.#historySize = historySize
    this.#backing = backing
    const saved = backing?.load()
    if (saved) this.#revision = Math.max(saved.revision, 1)
    for (const { resource, object } of saved?.objects ?? [])
      this.#shelf(resource).objects.set(keyOf(object.metadata.namespace, object.metadata.name), object)
    this.#started = this.#revision
  }

  get revision(): number {
    return this.#revision
  }

  get(resource: string, namespace: string, name: string): KubeObject | undefined {
    return this.#shelves.get(resource)?.objects.get(keyOf(namespace, name))
  }

  /** Sorted by namespace and name. */
  list(resource: string): readonly KubeObject[] {
    const shelf = this.#shelf(resource)
    shelf.keys ??= [...shelf.objects.keys()].sort()
    return pick(shelf.objects, shelf.keys)
  }

  /** The list as it was at a revision: the newer history is undone. */
  listAt(resource: string, revision: number): readonly KubeObject[] {
    const shelf = this.#shelf(resource)
    if (revision >= this.#revision) return this.list(resource)
    if (revision < shelf.floor) throw expired(`too old resource version: ${revision} (${shelf.floor})`)
    const objects = new Map(shelf.objects)
    for (const { revision: at, object, previous } of shelf.history.toReversed()) {
      if (at <= revision) break
      const key = keyOf(object.metadata.namespace, object.metadata.name)
      if (previous) objects.set(key, previous)
      else objects.delete(key)
    }
    return pick(objects, [...objects.keys()].sort())
  }

  put(resource: string, object: KubeObject): KubeObject {
    const revision = this.#revision + 1
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
    const weight = weigh(stored)
    if (weight > perhapsTooLarge && bytesOf(stored).length > largestObject) throw requestTooLarge()
    this.#backing?.save(resource, stored, revision)
    const shelf = this.#shelf(resource)
    const key = keyOf(stored.metadata.namespace, stored.metadata.name)
    const previous = shelf.objects.get(key)
    shelf.objects.set(key, stored)
    const type = previous ? 'MODIFIED' : 'ADDED'
    this.#publish(resource, shelf, { type, revision, object: stored, previous, weight })
    return stored
  }

  remove(resource: string, object: KubeObject): KubeObject {
    const revision = this.#revision + 1
    const gone = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
    this.#backing?.remove(resource, gone, revision)
    const shelf = this.#shelf(resource)
    const key = keyOf(gone.metadata.namespace, gone.metadata.name)
    const previous = shelf.objects.get(key)
    shelf.objects.delete(key)
    this.#publish(resource, shelf, { type: 'DELETED', revision, object: gone, previous, weight: weigh(gone) })
    return gone
  }

  /** Hands out what happened since `revision` and then whatever comes. Throws 410 when the history no longer reaches back that far. */
  watch(resource: string, revision: number, listener: Listener, name?: string): () => void {
    const shelf = this.#shelf(resource)
    if (revision < shelf.floor) throw expired(`too old resource version: ${revision} (${shelf.floor})`)
    for (const event of shelf.history)
      if (event.revision > revision && (name === undefined || event.object.metadata.name === name)) listener(event)
    if (name === undefined) {
      shelf.listeners.add(listener)
      return () => void shelf.listeners.delete(listener)
    }
    const own = shelf.listenersOf.get(name) ?? new Set()
    shelf.listenersOf.set(name, own.add(listener))
    return () => {
      own.delete(listener)
      if (own.size === 0 && shelf.listenersOf.get(name) === own) shelf.listenersOf.delete(name)
    }
  }

  /** Every change of every resource: what the server's own controllers run on. */
  observe(observer: (resource: string, event: StoreEvent) => void): void {
    this.#observers.add(observer)
  }

  resources(): string[] {
    return [...this.#shelves.keys()]
  }

  /** What the server made for itself at start is not history. */
  forgetHistory(): void {
    this.#started = this.#revision
    for (const shelf of this.#shelves.values()) Object.assign(shelf, { history: [], weight: 0, floor: this.#revision })
  }

  #publish(resource: string, shelf: Shelf, event: StoreEvent): void {
    this.#revision = event.revision
    if (event.type !== 'MODIFIED') shelf.keys = undefined
    shelf.history.push(event)
    shelf.weight += event.weight
    // Trimmed in large steps: one by one would copy the history on each write.
    const { length } = shelf.history
    if (length >= 2 * this.#historySize) this.#forget(shelf, this.#historySize)
    else if (shelf.weight > heaviestHistory && length > 1) this.#forget(shelf, Math.ceil(length / 2))
    for (const listener of shelf.listeners) listener(event)
    for (const listener of shelf.listenersOf.get(event.object.metadata.name) ?? []) listener(event)
    for (const observer of this.#observers) observer(resource, event)
  }

  #forget(shelf: Shelf, count: number): void {
    for (const { revision, weight } of shelf.history.splice(0, count)) {
      shelf.floor = revision
      shelf.weight -= weight
    }
  }

  #shelf(resource: string): Shelf {
    let shelf = this.#shelves.get(resource)
    if (!shelf) {
      shelf = {
        objects: new Map(),
        keys: undefined,
        history: [],
        weight: 0,
        floor: this.#started,
        listeners: new Set(),
        listenersOf: new Map()
      }
      this.#shelves.set(resource, shelf)
    }
    return shelf
  }
}

const pick = (objects: Map<string, KubeObject>, keys: string[]): KubeObject[] =>
  keys.flatMap(key => {
    const object = objects.get(key)
    return object ? [object] : []
  })
