// The three patch formats that are not server-side apply. Each takes the live object and gives a new one.
import { applyPatch, type Operation } from 'rfc6902'
import { isFields, listOf, type Fields } from './object.ts'
import { childOf, itemKey, listType, type Schema } from './schema.ts'
import { ApiError, badRequest } from './status.ts'

/** RFC 7386. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch
  const result: Fields = isFields(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = mergePatch(result[key], value)
  }
  return result
}

/** RFC 6902. */
export function jsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch))
    throw badRequest('error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp')
  const result = structuredClone(target)
  const refused = applyPatch(result, patch as Operation[]).some(error => error !== null)
  if (refused) throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
  return result
}

const directives = { delete: '$patch', order: '$setElementOrder/', remove: '$deleteFromPrimitiveList/', retain: '$retainKeys' }

/** kubectl's patch of built-in kinds: like a merge patch, but lists that have a key are merged by it. */
export function strategicPatch(target: unknown, patch: unknown, schema: Schema): unknown {
  if (!isFields(patch)) return patch
  if (patch[directives.delete] === 'replace') return withoutDirectives(patch)
  const result: Fields = isFields(target) ? { ...target } : {}
  const retained = patch[directives.retain]
  if (Array.isArray(retained)) for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key]
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(directives.remove)) {
      const field = key.slice(directives.remove.length)
      result[field] = listOf(result[field]).filter(item => !listOf(value).includes(item))
    } else if (key.startsWith('$')) continue
    else if (value === null) delete result[key]
    else if (Array.isArray(value))
      result[key] = strategicList(result[key], value, childOf(schema, key).schema, patch[directives.order + key])
    else result[key] = strategicPatch(result[key], value, childOf(schema, key).schema)
  }
  return result
}

const withoutDirectives = (patch: Fields): Fields =>
  Object.fromEntries(Object.entries(patch).filter(([key]) => !key.startsWith('$')))

function strategicList(target: unknown, patch: unknown[], schema: Schema, order: unknown): unknown[] {
  if (listType(schema) === 'set') return [...new Set([...listOf(target), ...patch])]
  if (listType(schema) === 'atomic' || patch.some(item => isFields(item) && item[directives.delete] === 'replace'))
    return patch.filter(item => !(isFields(item) && directives.delete in item && Object.keys(item).length === 1))
  const keyOf = (item: unknown): string => JSON.stringify(itemKey(schema, isFields(item) ? item : {}))
  const items = new Map(listOf(target).map(item => [keyOf(item), item]))
  for (const change of patch) {
    const key = keyOf(change)
    if (isFields(change) && change[directives.delete] === 'delete') items.delete(key)
    else items.set(key, strategicPatch(items.get(key), change, schema.items ?? {}))
  }
  if (!Array.isArray(order)) return [...items.values()]
  const wanted = order.map(keyOf)
  const rank = (key: string): number => (wanted.includes(key) ? wanted.indexOf(key) : wanted.length)
  return [...items].sort(([a], [b]) => rank(a) - rank(b)).map(([, item]) => item)
}
