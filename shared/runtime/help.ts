import type { TObject, TSchema } from 'typebox'
import { expected, fieldOf } from './config-field.ts'
import { envName } from './config.ts'

const words = (schema: TSchema): string => ('description' in schema ? String(schema.description) : '')

function byDefault(schema: TSchema): string {
  const { default: value, duration } = fieldOf(schema)
  if (value === undefined) return ''
  return duration ? `${Number(value) / 1000}s` : Array.isArray(value) ? value.join(',') : `${value as string | number | boolean}`
}

interface Setting {
  name: string
  meaning: string
  expected: string
  byDefault: string
  required: boolean
}

/** Every variable that the schemas read, in the order in which they are declared. */
export function settingsOf(...schemas: readonly TObject[]): Setting[] {
  return schemas.flatMap(({ properties, required }) =>
    Object.entries<TSchema>(properties).map(([field, schema]) => ({
      name: envName(field),
      meaning: words(schema),
      expected: expected(schema),
      byDefault: byDefault(schema),
      required: (required as readonly string[] | undefined)?.includes(field) === true && fieldOf(schema).default === undefined
    }))
  )
}

export function helpText(name: string, ...schemas: readonly TObject[]): string {
  const lines = settingsOf(...schemas).map(setting => {
    const more = setting.required ? 'required' : setting.byDefault === '' ? 'optional' : `default ${setting.byDefault}`
    return `  ${setting.name}\n      ${[setting.meaning, setting.expected, more].filter(part => part !== '').join('; ')}`
  })
  return `${name}: everything is set by environment variables, or by the file that VARIABLE_FILE names\n\n${lines.join('\n')}\n`
}

/** For a README. */
export const settingsTable = (...schemas: readonly TObject[]): string =>
  [
    '| variable | default | meaning |',
    '|---|---|---|',
    ...settingsOf(...schemas).map(
      ({ name, meaning, byDefault: value, required }) =>
        `| \`${name}\` | ${required ? 'required' : value === '' ? '–' : `\`${value}\``} | ${meaning} |`
    )
  ].join('\n')
