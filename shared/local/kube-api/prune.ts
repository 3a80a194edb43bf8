// What a custom resource's schema does to an object before it is validated: unknown fields go, nulls go, defaults come.
import { isFields, type Fields } from './object.ts'
import { declared, freeKeys, joinField, keepsUnknown, type Schema } from './schema.ts'

const resourceFields = new Set(['apiVersion', 'kind', 'metadata'])

// Returns the same value when nothing was pruned, so that the common case copies nothing.
export function prune(value: unknown, schema: Schema, unknown: string[], path = '', isResource = false): unknown {
  if (Array.isArray(value)) {
    const items = schema.items
    if (!items) return value
    const pruned = value.map((item, i) => prune(item, items, unknown, `${path}[${i}]`))
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
      result[key] = prune(value[key], child, unknown, joinField(path, key))
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

// A null in a field that is not nullable counts as absent, and an absent field takes its default.
export function applyDefaults(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) {
    const items = schema.items
    return items && hasWork(items) ? value.map(item => applyDefaults(item, items)) : value
  }
  if (!isFields(value) || !hasWork(schema)) return value
  const result: Fields = {}
  for (const key of Object.keys(value)) {
    const child = declared(schema, key) ?? freeKeys(schema)
    if (value[key] === null && child && child.nullable !== true && !keepsUnknown(child)) continue
    result[key] = child ? applyDefaults(value[key], child) : value[key]
  }
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    if (result[key] === undefined && child.default !== undefined)
      result[key] = applyDefaults(structuredClone(child.default), child)
  }
  return result
}

const hasWork = (schema: Schema): boolean => schema.properties !== undefined || schema.additionalProperties !== undefined
