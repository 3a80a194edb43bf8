// The tables of README.md, as the code has them; a test compares, and says how to write them anew.
import type { TObject, TSchema } from 'typebox'
import { Policy } from './policy.ts'
import { rows } from './reactions.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|')

export function reactionTable(): string {
  const lines = rows.map(({ kind, when, vm, host }) => {
    const type = kind.type.replace(/^sap\.cloud\.kvm\.|\.v1$/g, '')
    return `| \`${type}\` | ${cell(when)} | ${cell(vm)} | ${cell(host)} |`
  })
  return ['| event | when | the server | the host |', '|---|---|---|---|', ...lines].join('\n')
}

interface Field {
  path: string
  value: string
  description: string
}

function fields(schema: TObject, path = ''): Field[] {
  return Object.entries<TSchema>(schema.properties).flatMap(([name, type]) => {
    const { type: kind, default: value, description = '' } = type as { type?: string; default?: unknown; description?: string }
    if (kind === 'object') return fields(type as TObject, `${path}${name}.`)
    return [{ path: `${path}${name}`, value: JSON.stringify(value), description }]
  })
}

export function policyTable(): string {
  const lines = fields(Policy).map(({ path, value, description }) => `| \`${path}\` | \`${value}\` | ${cell(description)} |`)
  return ['| value | default | what it is, and why so |', '|---|---|---|', ...lines].join('\n')
}

/** The text with its tables as they are now. */
export function withTables(text: string): string {
  const put = (into: string, name: string, table: string): string => {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [from, to] = [into.indexOf(start), into.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`no place for the table: ${start} … ${end}`)
    return `${into.slice(0, from + start.length)}\n${table}\n${into.slice(to)}`
  }
  return put(put(text, 'reactions', reactionTable()), 'policy', policyTable())
}
