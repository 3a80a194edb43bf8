// Lists: selectors, chunks, and which revision a list is of.
import type { Call, Cluster } from './cluster.ts'
import { forbiddenField, unsupported } from './causes.ts'
import type { KubeObject } from './object.ts'
import { present } from './resource.ts'
import { fieldTest, parseLabelSelector, type ObjectTest } from './selectors.ts'
import { badRequest, expired, invalid, tooLargeRevision, type Cause } from './status.ts'

export interface ListPage {
  items: KubeObject[]
  metadata: { resourceVersion: string; continue: string; remainingItemCount?: number }
}

/** Which objects a list or watch is about. */
export function selection({ resource, namespace }: Call, query: URLSearchParams): ObjectTest {
  const tests: ObjectTest[] = []
  if (resource.namespaced && namespace) tests.push(object => object.metadata.namespace === namespace)
  const labels = query.get('labelSelector')
  if (labels) {
    const test = parseLabelSelector(labels)
    tests.push(object => test(object.metadata.labels ?? {}))
  }
  const fields = query.get('fieldSelector')
  if (fields) tests.push(fieldTest(resource, fields))
  return object => tests.every(test => test(object))
}

export function parseRevision(text: string, prefix = ''): number {
  if (/^\d+$/.test(text)) return Number(text)
  const syntax = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`
  throw badRequest(prefix + syntax)
}

export function checkListOptions(query: URLSearchParams, watch: boolean): void {
  const match = query.get('resourceVersionMatch')
  const sendInitial = query.get('sendInitialEvents')
  const causes: Cause[] = []
  const forbid = (field: string, why: string): void => void causes.push(forbiddenField(field, why))
  if (watch) {
    if (sendInitial && match !== 'NotOlderThan')
      forbid('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')
    else if (match && !sendInitial)
      forbid('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided')
  } else {
    if (match && !query.get('resourceVersion'))
      forbid('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided')
    else if (match && !['Exact', 'NotOlderThan'].includes(match))
      causes.push(unsupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']))
    if (sendInitial) forbid('sendInitialEvents', 'sendInitialEvents is forbidden for list')
  }
  if (causes.length > 0) throw invalid('ListOptions', 'meta.k8s.io', '', causes)
}

export function list(cluster: Cluster, call: Call, query: URLSearchParams): ListPage {
  const { resource } = call
  checkListOptions(query, false)
  const limit = parseLimit(query.get('limit'))
  const from = parseContinue(query.get('continue'), query.get('resourceVersion'))
  const revision = from?.revision ?? revisionFor(cluster, query)
  const matches = selection(call, query)
  const all = readAt(cluster, resource.shelf, revision, from !== undefined)
  const start = from ? after(all, from.start) : 0
  const items: KubeObject[] = []
  let next = start
  for (const stored of all.slice(start)) {
    if (items.length >= limit) break
    const object = present(resource, stored)
    if (matches(object)) items.push(object)
    next++
  }
  const rest = all.slice(next).filter(object => matches(present(resource, object))).length
  const last = items.at(-1)
  const metadata = { resourceVersion: String(revision), continue: '' }
  if (rest === 0 || !last) return { items, metadata }
  const selected = query.has('labelSelector') || query.has('fieldSelector') // then the real server does not count
  return {
    items,
    metadata: { ...metadata, continue: token(revision, keyOf(last)), ...(!selected && { remainingItemCount: rest }) }
  }
}

function revisionFor({ store }: Cluster, query: URLSearchParams): number {
  const asked = query.get('resourceVersion')
  if (!asked) return store.revision
  const revision = parseRevision(asked, 'invalid resource version: ')
  if (revision > store.revision) throw tooLargeRevision(revision, store.revision)
  return query.get('resourceVersionMatch') === 'Exact' ? revision : store.revision
}

function readAt({ store }: Cluster, shelf: string, revision: number, continued: boolean): readonly KubeObject[] {
  try {
    return store.listAt(shelf, revision)
  } catch (err) {
    throw continued
      ? expired(
          'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.'
        )
      : err
  }
}

function parseLimit(text: string | null): number {
  if (text === null || text === '' || text === '0') return Infinity
  if (!/^\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Number(text)
}

const keyOf = ({ metadata: { namespace = '', name } }: KubeObject): string => `${namespace}/${name}`

function after(all: readonly KubeObject[], key: string): number {
  const found = all.findIndex(object => keyOf(object) > key)
  return found < 0 ? all.length : found
}

// The same form as the real server's; clients must not look into it, but people do.
const token = (revision: number, start: string): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${start}\0` })).toString('base64url')

function parseContinue(text: string | null, resourceVersion: string | null): { revision: number; start: string } | undefined {
  if (!text) return undefined
  if (resourceVersion && resourceVersion !== '0')
    throw badRequest('specifying resource version is not allowed when using continue')
  try {
    const { rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (typeof rv !== 'number' || typeof start !== 'string') throw new Error('no revision or start')
    return { revision: rv, start: start.replace(/\0$/, '') }
  } catch (err) {
    throw badRequest(`invalid continue token: continue key is not valid: ${(err as Error).message}`)
  }
}
