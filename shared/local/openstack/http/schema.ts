// Request bodies against Nova's API schemas (nova/api/openstack/compute/schemas), refused in the words of its validator.
import { nova } from './refusal.ts'
import { isObject } from './request.ts'

type Kind = 'string' | 'integer' | 'object' | 'null' | 'array'

/** As much of JSON Schema as Nova uses for what is asked of it here. An object refuses every property that it does not name. */
export interface Schema {
  type?: readonly Kind[]
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  enum?: readonly unknown[]
  minLength?: number
  maxLength?: number
  /** properties that are not named are taken as well */
  open?: true
}

// nova/api/validation/parameter_types.py
const truths = [true, 'True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES', 'Yes', 'yes']
const lies = [false, 'False', 'FALSE', 'false', '0', 'OFF', 'Off', 'off', 'NO', 'No', 'no']
export const booleans = [...truths, ...lies]

export const isTrue = (value: unknown): boolean => truths.includes(value as string)

export function validate(schema: Schema, value: unknown): void {
  const fault = check(schema, value, null)
  if (fault !== null) throw nova(400, fault)
}

function check(schema: Schema, value: unknown, path: string | null): string | null {
  const words = wordsAbout(schema, value)
  if (words !== null)
    return path === null ? words : `Invalid input for field/attribute ${path}. Value: ${python(value, false)}. ${words}`
  if (!isObject(value)) return null
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const fault = name in value ? check(inner, value[name], name) : null
    if (fault !== null) return fault
  }
  return null
}

function wordsAbout(
  { type, properties, required, enum: allowed, minLength, maxLength, open }: Schema,
  value: unknown
): string | null {
  const said = python(value)
  const kinds = type ?? (properties ? (['object'] as const) : undefined)
  if (kinds && !kinds.some(kind => isKind(kind, value)))
    return `${said} is not of type ${kinds.map(kind => `'${kind}'`).join(', ')}`
  if (allowed && !allowed.includes(value)) return `${said} is not one of ${python(allowed)}`
  if (typeof value === 'string' && minLength !== undefined && value.length < minLength) return `${said} is too short`
  if (typeof value === 'string' && maxLength !== undefined && value.length > maxLength) return `${said} is too long`
  if (!isObject(value) || !properties) return null
  const strange = open ? [] : Object.keys(value).filter(name => !(name in properties))
  if (strange.length > 0) {
    const verb = strange.length === 1 ? 'was' : 'were'
    return `Additional properties are not allowed (${strange.map(name => python(name)).join(', ')} ${verb} unexpected)`
  }
  const missing = required?.find(name => !(name in value))
  return missing === undefined ? null : `'${missing}' is a required property`
}

function isKind(kind: Kind, value: unknown): boolean {
  if (kind === 'null') return value === null
  if (kind === 'array') return Array.isArray(value)
  if (kind === 'object') return isObject(value)
  return kind === 'integer' ? Number.isInteger(value) : typeof value === kind
}

/** as Python prints a value */
function python(value: unknown, quoted = true): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return quoted ? `'${value}'` : value
  if (Array.isArray(value)) return `[${value.map(one => python(one)).join(', ')}]`
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, one]) => `'${key}': ${python(one)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}
