// The part of OpenAPI v3 that structural schemas use, and the questions that pruning, validation and apply ask of it.
import { isFields, type Fields } from './object.ts'

export interface Schema {
  type?: string
  format?: string
  description?: string
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
  required?: string[]
  default?: unknown
  nullable?: boolean
  enum?: unknown[]
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minProperties?: number
  maxProperties?: number
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  not?: Schema
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-map-type'?: 'atomic' | 'granular'
  'x-kubernetes-validations'?: unknown[]
  /** A built-in struct of which only the fields that matter to apply are listed; any other field is taken for a named one. */
  open?: true
}

/** Fields that no schema describes: maps are merged key by key, lists are replaced whole. */
export const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true }

export const struct = (properties: Record<string, Schema> = {}): Schema => ({ open: true, properties })
const unlisted = struct()

/** The schema of a field that is declared by name. */
export const declared = (schema: Schema, key: string): Schema | undefined => {
  const properties = schema.properties
  return properties && Object.hasOwn(properties, key) ? properties[key] : undefined
}

/** The schema of the values of a map with free keys. */
export const freeKeys = ({ additionalProperties: more }: Schema): Schema | undefined =>
  isFields(more) ? more : more === true ? anything : undefined

export interface Child {
  schema: Schema
  /** A key of a map belongs to whoever set it; a named field exists by itself. */
  named: boolean
}

export function childOf(schema: Schema, key: string): Child {
  const known = declared(schema, key)
  if (known) return { schema: known, named: true }
  if (schema.open) return { schema: unlisted, named: true }
  return { schema: freeKeys(schema) ?? anything, named: false }
}

export const keepsUnknown = (schema: Schema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true

export const listType = (schema: Schema): 'atomic' | 'set' | 'map' => schema['x-kubernetes-list-type'] ?? 'atomic'

export const isAtomicMap = (schema: Schema): boolean => schema['x-kubernetes-map-type'] === 'atomic'

/** The key fields of an item of a list-map, defaults filled in, in the order of their names. */
export function itemKey(list: Schema, item: Fields): Fields {
  const key: Fields = {}
  for (const name of [...(list['x-kubernetes-list-map-keys'] ?? [])].sort()) {
    const value = item[name] ?? list.items?.properties?.[name]?.default
    if (value !== undefined) key[name] = value
  }
  return key
}

/** What stands at the same place in another version of an object. */
export const childIn = (value: unknown, key: string | number): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[key] : undefined

export const joinField = (path: string, key: string): string => (path ? `${path}.${key}` : key)
