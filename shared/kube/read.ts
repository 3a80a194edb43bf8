import type { Kind, KubeObject } from '../schema/kind.ts'
import { apiVersion } from '../schema/kind.ts'
import { KubeError } from './errors.ts'
import { collectionPath, objectPath } from './path.ts'
import { reads } from './retry.ts'
import type { Transport } from './transport.ts'

export interface ListOptions {
  namespace?: string | undefined
  labelSelector?: string | undefined
  fieldSelector?: string | undefined
  pageSize?: number | undefined
  /** Of each object as soon as its page is there: who lists many large ones need not hold them whole at once. */
  trim?(object: KubeObject): KubeObject
  signal?: AbortSignal | undefined
}

export interface Listed<T> {
  items: T[]
  resourceVersion: string
}

interface Page<T> {
  metadata: { resourceVersion: string; continue?: string }
  items: T[] | null
}

const defaultPageSize = 500
const restarts = 3

/** Undefined when there is no such object. That there is no such *kind* is an error: a missing CRD must not look like a missing object. */
export async function find<T extends KubeObject>(
  transport: Transport,
  kind: Kind<T>,
  name: string,
  namespace?: string
): Promise<T | undefined> {
  try {
    const path = objectPath(kind, { name, namespace })
    return await transport.json<T>({ verb: 'get', kind: kind.kind, method: 'GET', path }, reads)
  } catch (error) {
    if (isMissingObject(error)) return undefined
    throw error
  }
}

/** A 404 for an object names it; one for an unknown path does not. */
export const isMissingObject = (error: unknown): boolean =>
  error instanceof KubeError && error.code === 'NotFound' && error.details?.name !== undefined

/** One consistent state of all objects. */
export async function list<T extends KubeObject>(transport: Transport, kind: Kind<T>, options: ListOptions): Promise<Listed<T>> {
  for (let restart = 1; ; restart++) {
    const items: T[] = []
    let resourceVersion = ''
    try {
      for await (const page of pagesOf(transport, kind, options)) {
        for (const item of page.items) items.push(options.trim ? (options.trim(item) as T) : item)
        resourceVersion = page.resourceVersion
      }
      return { items, resourceVersion }
    } catch (error) {
      if (!isExpired(error) || restart === restarts) throw error
    }
  }
}

/** Page after page in bounded memory. When the pages take so long that the server forgets the version, it begins again: an item may come twice. */
export async function* pages<T extends KubeObject>(
  transport: Transport,
  kind: Kind<T>,
  options: ListOptions
): AsyncGenerator<T[]> {
  for (let restart = 1; ; restart++) {
    try {
      for await (const page of pagesOf(transport, kind, options)) yield page.items
      return
    } catch (error) {
      if (!isExpired(error) || restart === restarts) throw error
    }
  }
}

const isExpired = (error: unknown): boolean => error instanceof KubeError && error.code === 'Gone'

async function* pagesOf<T extends KubeObject>(
  transport: Transport,
  kind: Kind<T>,
  { namespace, pageSize: limit = defaultPageSize, labelSelector, fieldSelector, signal }: ListOptions
): AsyncGenerator<Listed<T>> {
  const itemType = { apiVersion: apiVersion(kind), kind: kind.kind } // items of built-in kinds come without
  let next: string | undefined
  do {
    const path = collectionPath(kind, namespace, { limit, labelSelector, fieldSelector, continue: next })
    const { items, metadata } = await transport.json<Page<T>>(
      { verb: 'list', kind: kind.kind, method: 'GET', path },
      reads,
      signal
    )
    yield { items: (items ?? []).map(item => Object.assign(item, itemType)), resourceVersion: metadata.resourceVersion }
    next = metadata.continue || undefined
  } while (next !== undefined)
}
