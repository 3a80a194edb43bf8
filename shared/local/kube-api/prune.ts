// What a custom resource's schema does to an object before it is validated: unknown fields go, nulls go, defaults come.
import { isFields, type Fields } from './object.ts'
import { childIn, declared, freeKeys, joinField, keepsUnknown, type Schema } from './schema.ts'

const resourceFields = new Set(['apiVersion', 'kind', 'metadata'])

// Returns the same value when nothing was pruned, so that the common case copies nothing. `known` went through all this before.
export function prune(value: unknown, schema: Schema, unknown: string[], known: unknown, path = '', isResource = false): unknown {
  if (value === known) return value
  if (Array.isArray(value)) {
    const items = schema.items
    if (!items) return value
    const pruned = value.map((item, i) => prune(item, items, unknown, childIn(known, i), `${path}[${i}]`))
    return pruned.every((item, i) => item === value[i]) ? value : pruned
  }
  if (!isFields(value)) return value
  const resource = isResource || schema['x-kubernetes-embedded-resource'] === true
  const result: Fields = {}
  let changed = false
  for (const key of Object.keys(value)) {
    if (resource && resourceFields.has(key)) {
      result[key] = value[key]
      continue
    }
    const child = declared(schema, key) ?? freeKeys(schema)
    if (child) {
      result[key] = prune(value[key], child, unknown, childIn(known, key), joinField(path, key))
      if (result[key] !== value[key]) changed = true
    } else if (keepsUnknown(schema)) {
      result[key] = value[key]
    } else {
      unknown.push(joinField(path, key))
      changed = true
    }
  }
  return changed ? result : value
}

// A null in a field that is not nullable counts as absent, and an absent field takes its default. The same value when nothing was to be done.
export function applyDefaults(value: unknown, schema: Schema, known: unknown): unknown {
  if (value === known) return value
  if (Array.isArray(value)) {
    const items = schema.items
    if (!items || !hasWork(items)) return value
    const filled = value.map((item, i) => applyDefaults(item, items, childIn(known, i)))
    return filled.every((item, i) => item === value[i]) ? value : filled
  }
  if (!isFields(value) || !hasWork(schema)) return value
  const result: Fields = {}
  let changed = false
  for (const key of Object.keys(value)) {
    const child = declared(schema, key) ?? freeKeys(schema)
    const isAbsent = value[key] === null && child && child.nullable !== true && !keepsUnknown(child)
    if (!isAbsent) result[key] = child ? applyDefaults(value[key], child, childIn(known, key)) : value[key]
    if (isAbsent || result[key] !== value[key]) changed = true
  }
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    if (result[key] !== undefined || child.default === undefined) continue
    result[key] = applyDefaults(structuredClone(child.default), child, undefined)
    changed = true
  }
  return changed ? result : value
}

const hasWork = (schema: Schema): boolean => schema.properties !== undefined || schema.additionalProperties !== undefined
