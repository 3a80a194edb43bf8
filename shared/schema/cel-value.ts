// JSON → what a CEL rule sees of it. The schema decides: an integer is a bigint, a number a double, a date-time a timestamp.
import { isRecord, type OpenApi } from './openapi.ts'

export function toCel(schema: OpenApi, value: unknown, root = false): unknown {
  if (value === null || value === undefined) return null
  if (schema['x-kubernetes-int-or-string']) return typeof value === 'number' ? BigInt(value) : value
  if (Array.isArray(value)) return value.map(entry => (schema.items ? toCel(schema.items, entry) : entry))
  if (isRecord(value)) return fromObject(schema, value, root)
  if (schema.type === 'integer') return BigInt(value as number)
  if (schema.type === 'string' && schema.format === 'date-time') return new Date(value as string)
  if (schema.type === 'string' && schema.format === 'byte') return new Uint8Array(Buffer.from(value as string, 'base64'))
  return value
}

function fromObject({ properties, additionalProperties }: OpenApi, value: Record<string, unknown>, root: boolean): object {
  if (!properties) {
    const values = typeof additionalProperties === 'object' ? additionalProperties : {}
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toCel(values, entry)]))
  }
  const fields = Object.entries(properties).filter(([name]) => value[name] !== undefined && value[name] !== null)
  const seen = Object.fromEntries(fields.map(([name, schema]) => [escape(name), toCel(schema, value[name])]))
  return root ? { ...seen, metadata: names(value.metadata) } : seen
}

/** Of the metadata a rule sees only the name. */
function names(metadata: unknown): object {
  const { name, generateName } = isRecord(metadata) ? metadata : {}
  return { ...(name !== undefined && { name }), ...(generateName !== undefined && { generateName }) }
}

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' '
  )
)
const signs: Record<string, string> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' }

/** Field names that CEL cannot say are written as Kubernetes documents it: `namespace` is `__namespace__`. */
const escape = (name: string) => (reserved.has(name) ? `__${name}__` : name.replace(/__|[./-]/g, sign => signs[sign] ?? sign))
