// The structural OpenAPI v3 schema of a kind. All that works on a schema (defaults, structure, CEL, validate) works on this plain
// form, so that it serves for foreign CRDs too.
import { apiVersion } from './kind.ts'
import type { Crd } from './crd.ts'
import type { Rule } from './vocabulary.ts'

export interface ValidationRule extends Partial<Rule> {
  rule: string
  messageExpression?: string
  reason?: string
  optionalOldSelf?: boolean
}

export interface OpenApi {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  format?: string
  description?: string
  default?: unknown
  enum?: unknown[]
  nullable?: boolean
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  required?: string[]
  anyOf?: OpenApi[]
  properties?: Record<string, OpenApi>
  additionalProperties?: OpenApi | boolean
  items?: OpenApi
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-validations'?: ValidationRule[]
}

const made = new WeakMap<Crd, OpenApi>()

export function openApiSchema(kind: Crd): OpenApi {
  const known = made.get(kind)
  if (known) return known
  const { description, spec, status, specRequired = true, rules } = kind.definition
  const schema: OpenApi = {
    description,
    type: 'object',
    properties: {
      apiVersion: { description: `Always ${apiVersion(kind)}`, type: 'string' },
      kind: { description: `Always ${kind.kind}`, type: 'string' },
      metadata: { type: 'object' },
      spec: plain(spec),
      status: plain(status)
    },
    ...(specRequired && { required: ['spec'] }),
    ...(rules && { 'x-kubernetes-validations': rules })
  }
  made.set(kind, schema)
  return schema
}

/** TypeBox keeps its own marks beside the schema as hidden properties; a copy leaves them behind. */
const plain = (schema: object): OpenApi => JSON.parse(JSON.stringify(schema))

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The schema of a field, or undefined where the schema does not know it. */
export function fieldSchema(schema: OpenApi, name: string): OpenApi | undefined {
  const own = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
  return own ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined)
}
