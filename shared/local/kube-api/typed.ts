// How server-side apply sees a value: a leaf, a map that is merged by key, or a list that is merged by item.
import { child, emptySet, printedKey, type FieldSet } from './field-set.ts'
import { isFields, type Fields } from './object.ts'
import { childOf, declared, freeKeys, isAtomicMap, itemKey, keepsUnknown, listType, type Schema } from './schema.ts'

export type Shape = 'leaf' | 'map' | 'list'

export function shapeOf(value: unknown, schema: Schema): Shape {
  if (Array.isArray(value)) return listType(schema) === 'atomic' ? 'leaf' : 'list'
  return isFields(value) && !isAtomicMap(schema) ? 'map' : 'leaf'
}

export const itemSchema = (list: Schema): Schema => list.items ?? {}

export const fieldElement = (key: string): string => `f:${key}`

export function itemElement(list: Schema, item: unknown): string {
  if (listType(list) === 'map' && isFields(item)) return `k:${JSON.stringify(itemKey(list, item))}`
  return `v:${JSON.stringify(item)}`
}

/** The fields that a manager claims by applying this value. */
export function claimed(value: unknown, schema: Schema, into: FieldSet = emptySet()): FieldSet {
  const shape = shapeOf(value, schema)
  if (shape === 'leaf') into.member = true
  if (shape === 'map') {
    for (const [key, below] of Object.entries(value as Fields)) {
      const { schema: type, named } = childOf(schema, key)
      const set = claimed(below, type, child(into, fieldElement(key)))
      if (!named || below === null || (isFields(below) && Object.keys(below).length === 0)) set.member = true
    }
  }
  if (shape === 'list') {
    for (const item of value as unknown[]) claimed(item, itemSchema(schema), child(into, itemElement(schema, item))).member = true
  }
  return into
}

/** Why an applied configuration does not fit the schema, in the words of structured-merge-diff; undefined when it does. */
export function misfit(value: unknown, schema: Schema, path = ''): string | undefined {
  if (value === null || value === undefined) return undefined
  if (schema.type === 'array' && !Array.isArray(value)) return `${path}: expected list, got ${goValue(value)}`
  if (schema.type === 'object' && !isFields(value)) return `${path}: expected map, got ${goValue(value)}`
  if (Array.isArray(value)) return misfitList(value, schema, path)
  if (!isFields(value) || keepsUnknown(schema) || schema.open) return undefined
  for (const [key, below] of Object.entries(value)) {
    const type = declared(schema, key) ?? freeKeys(schema)
    if (!type) return `${path}.${key}: field not declared in schema`
    const why = misfit(below, type, `${path}.${key}`)
    if (why) return why
  }
  return undefined
}

function misfitList(list: unknown[], schema: Schema, path: string): string | undefined {
  if (listType(schema) === 'atomic') return undefined
  const seen = new Set<string>()
  for (const item of list) {
    const element = itemElement(schema, item)
    const key = isFields(item) && listType(schema) === 'map' ? printedKey(itemKey(schema, item)) : `[=${JSON.stringify(item)}]`
    if (seen.has(element)) return `${path}: duplicate entries for key ${key}`
    seen.add(element)
    const why = misfit(item, itemSchema(schema), path + key)
    if (why) return why
  }
  return undefined
}

const goValue = (value: unknown): string =>
  isFields(value) && Object.keys(value).length === 0 ? '&{map[]}' : `&{${JSON.stringify(value)}}`
