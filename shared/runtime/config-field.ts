import { Type, type TNumber, type TSchema, type TString } from 'typebox'

// What the reader must know of a field: JSON Schema's own keywords, and the two of ours.
export interface Field {
  type?: string
  enum?: readonly unknown[]
  anyOf?: readonly { const?: unknown }[]
  items?: TSchema
  default?: unknown
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  duration?: boolean
  secret?: boolean
}

export interface FieldOptions {
  description?: string
}

// TypeBox types only the keywords that a schema was made with; the reader asks for any of them.
export const fieldOf = (schema: TSchema): Field => schema

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** `30s`, `5m`, `250ms`, `1h30m` → milliseconds; undefined when it is none of the kind. */
export function durationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smh]))+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smh])/g)) total += Number(amount) * (unitMs[unit] ?? 0)
  return total
}

/** A field that is written as `30s` or `5m` and read as a number of milliseconds. */
export function Duration({ default: text, ...options }: FieldOptions & { default?: string } = {}): TNumber {
  const byDefault = text === undefined ? undefined : durationMs(text)
  if (text !== undefined && byDefault === undefined) throw new TypeError(`${text} is not a duration`)
  return Type.Number({ minimum: 0, ...options, duration: true, ...(byDefault !== undefined && { default: byDefault }) })
}

/** A field that is never printed. */
export const Secret = (options: FieldOptions = {}): TString => Type.String({ minLength: 1, ...options, secret: true })

/** The value that a text stands for, or undefined when it is not of the field's type. */
export function coerce(schema: TSchema, text: string): unknown {
  const field = fieldOf(schema)
  if (field.duration) return durationMs(text)
  switch (field.type) {
    case 'number':
    case 'integer':
      return text.trim() === '' || Number.isNaN(Number(text)) ? undefined : Number(text)
    case 'boolean':
      return { true: true, false: false }[text.toLowerCase()]
    case 'array': {
      const { items } = field
      const words = text.split(',').map(word => word.trim())
      const values = items ? words.filter(word => word !== '').map(word => coerce(items, word)) : words
      return values.includes(undefined) ? undefined : values
    }
    default:
      return text
  }
}

/** The field in words, for whoever has to correct it. */
export function expected(schema: TSchema): string {
  const field = fieldOf(schema)
  const choices = field.enum ?? field.anyOf?.map(choice => choice.const)
  if (choices) return `one of ${choices.join(', ')}`
  if (field.duration) return 'a duration such as 30s or 5m'
  if (field.items) return `a comma-separated list, each ${expected(field.items)}`
  const limits = [
    field.minimum === undefined ? '' : `at least ${field.minimum}`,
    field.maximum === undefined ? '' : `at most ${field.maximum}`,
    field.pattern === undefined ? '' : `like ${field.pattern}`
  ].filter(limit => limit !== '')
  const article = field.type === 'integer' ? 'an' : 'a'
  return [`${article} ${field.type ?? 'string'}`, ...limits].join(', ')
}
