// What the API server checks beyond JSON Schema: fields it does not know, integers too large for their format, and entries that occur
// twice in a set or a list-map.
import { isDeepStrictEqual } from 'node:util'
import { fieldSchema, isRecord, type OpenApi } from './openapi.ts'
import { at, type Violation } from './violation.ts'

type Check = (schema: OpenApi, value: unknown, path: string) => Violation[]

export const structureErrors: Check = (schema, value, path) => [
  ...unknownFields(schema, value, path),
  ...outOfRange(schema, value, path),
  ...duplicates(schema, value, path),
  ...below(schema, value, path)
]

const below: Check = (schema, value, path) => {
  const { items } = schema
  if (Array.isArray(value)) return items ? value.flatMap((entry, i) => structureErrors(items, entry, at(path, i))) : []
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, field]) => {
    const child = path === '' && name === 'metadata' ? undefined : fieldSchema(schema, name) // metadata has a schema of its own
    return child ? structureErrors(child, field, at(path, name)) : []
  })
}

/** Fields that would be dropped, or refused with fieldValidation=Strict. */
const unknownFields: Check = (schema, value, path) => {
  if (!isRecord(value) || schema['x-kubernetes-preserve-unknown-fields']) return []
  const unknown = Object.keys(value).filter(name => !fieldSchema(schema, name))
  return unknown.map(name => ({ path: at(path, name), message: 'unknown field' }))
}

const bits: Record<string, number> = { int32: 31, int64: 63 }

const outOfRange: Check = (schema, value, path) => {
  const { type, format = 'int64' } = schema
  const size = type === 'integer' || schema['x-kubernetes-int-or-string'] ? bits[format] : undefined
  if (size === undefined || typeof value !== 'number') return []
  return value >= -(2 ** size) && value < 2 ** size ? [] : [{ path, message: `must be an ${format}` }]
}

const duplicates: Check = (schema, value, path) => {
  const listType = schema['x-kubernetes-list-type']
  if (!Array.isArray(value) || (listType !== 'set' && listType !== 'map')) return []
  const seen = new Set<string>()
  return value.flatMap((entry, i) => {
    const identity = keyOf(schema, entry)
    if (seen.has(identity)) return [{ path: at(path, i), message: `occurs twice: ${identity}` }]
    seen.add(identity)
    return []
  })
}

/** An entry as `name="root"`, or as it is in a set. */
function keyOf(schema: OpenApi, entry: unknown): string {
  const keys = schema['x-kubernetes-list-map-keys']
  if (!keys || !isRecord(entry)) return JSON.stringify(entry)
  return keys.map(key => `${key}=${JSON.stringify(entry[key])}`).join(', ')
}

/** The entry of an earlier list that has the same keys. Entries of other lists cannot be told apart. */
export function sameEntry(schema: OpenApi, entry: unknown, earlier: unknown): unknown {
  const keys = schema['x-kubernetes-list-map-keys']
  if (!keys || !Array.isArray(earlier) || !isRecord(entry)) return undefined
  return earlier.find(other => isRecord(other) && keys.every(key => isDeepStrictEqual(other[key], entry[key])))
}
