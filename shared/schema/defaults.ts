import type { Crd } from './crd.ts'
import { fieldSchema, isRecord, type OpenApi, openApiSchema } from './openapi.ts'

/** A copy with the defaults filled in, as the API server does on write and on read. */
export const withDefaults = <T>(kind: Crd, object: T): T => applyDefaults(openApiSchema(kind), object) as T

export function applyDefaults(schema: OpenApi, value: unknown): unknown {
  const { items } = schema
  if (Array.isArray(value)) return items ? value.map(entry => applyDefaults(items, entry)) : value
  if (!isRecord(value)) return value
  const fields = { ...presets(schema), ...given(schema, value) }
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const child = fieldSchema(schema, name)
      return [name, child ? applyDefaults(child, field) : field]
    })
  )
}

const presets = ({ properties = {} }: OpenApi): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, { default: preset }]) =>
      preset === undefined ? [] : [[name, structuredClone(preset)]]
    )
  )

/** Null means "not given", unless the schema takes null for a value. */
const given = (schema: OpenApi, value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([name, field]) => field !== null || takesNull(fieldSchema(schema, name))))

const takesNull = (schema: OpenApi | undefined) => schema === undefined || schema.nullable === true
