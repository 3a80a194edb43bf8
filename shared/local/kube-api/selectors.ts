// Label and field selectors, from a query or from a LabelSelector object.
import { fieldsOf, listOf, shown, type KubeObject } from './object.ts'
import type { Resource } from './resource.ts'
import { badRequest } from './status.ts'

export type Labels = Record<string, string>
export type LabelTest = (labels: Labels) => boolean

const operators = 'in, notin, =, ==, !=, gt, lt'
const word = /[A-Za-z0-9_./-]*/y

export function parseLabelSelector(text: string): LabelTest {
  const tests = splitTop(text).map(parseRequirement)
  return labels => tests.every(test => test(labels))
}

// Commas inside of parentheses belong to the set.
function splitTop(text: string): string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map(part => part.trim())
    .filter(part => part !== '')
}

function parseRequirement(part: string): LabelTest {
  if (part.startsWith('!')) {
    const key = part.slice(1).trim()
    return labels => labels[key] === undefined
  }
  word.lastIndex = 0
  const key = word.exec(part)?.[0] ?? ''
  const rest = part.slice(key.length).trim()
  if (rest === '') return labels => labels[key] !== undefined
  const [, operator = '', value = ''] = /^(notin\b|in\b|==|!=|=|>|<)\s*(.*)$/.exec(rest) ?? []
  if (operator === 'in' || operator === 'notin') return parseSet(key, operator, value)
  if (operator === '=' || operator === '==') return labels => labels[key] === value
  if (operator === '!=') return labels => labels[key] !== value
  if (operator === '>') return labels => Number(labels[key]) > Number(value)
  if (operator === '<') return labels => Number(labels[key]) < Number(value)
  throw badRequest(`unable to parse requirement: found '${rest.split(/\s/)[0]}', expected: ${operators}`)
}

function parseSet(key: string, operator: string, text: string): LabelTest {
  const [, inner] = /^\(([^)]*)\)$/.exec(text) ?? []
  if (inner === undefined) throw badRequest(`unable to parse requirement: found '${text}' expected: '('`)
  const values = new Set(inner.split(',').map(value => value.trim()))
  if (operator === 'in') return labels => labels[key] !== undefined && values.has(labels[key])
  return labels => labels[key] === undefined || !values.has(labels[key])
}

/** A LabelSelector object; an absent or empty one selects everything. */
export function labelSelector(selector: unknown): LabelTest {
  const { matchLabels, matchExpressions } = fieldsOf(selector)
  const wanted = Object.entries(fieldsOf(matchLabels))
  const expressions = listOf(matchExpressions).map(fieldsOf)
  return labels =>
    wanted.every(([key, value]) => labels[key] === value) &&
    expressions.every(({ key, operator, values }) => {
      const value = labels[String(key)]
      if (operator === 'Exists') return value !== undefined
      if (operator === 'DoesNotExist') return value === undefined
      const listed = value !== undefined && listOf(values).includes(value)
      return operator === 'In' ? listed : !listed
    })
}

export type ObjectTest = (object: KubeObject) => boolean

export function parseFieldSelector(text: string): Array<{ field: string; value: string; equal: boolean }> {
  return text
    .split(/(?<!\\),/)
    .filter(part => part !== '')
    .map(part => {
      const [, field = '', operator = '', value = ''] = /^(.*?)(!=|==|=)(.*)$/.exec(part) ?? []
      if (!operator) throw badRequest(`invalid selector: '${part}'; can't understand '${part}'`)
      return { field, value: value.replaceAll(/\\(.)/g, '$1'), equal: operator !== '!=' }
    })
}

/** The one name that a selector asks for, if it asks for one. */
export const nameIn = (text: string): string | undefined =>
  parseFieldSelector(text).find(({ field, equal }) => field === 'metadata.name' && equal)?.value

export function fieldTest(resource: Resource, text: string): ObjectTest {
  const tests = parseFieldSelector(text).map(({ field, value, equal }): ObjectTest => {
    const read = fieldReader(resource, field)
    return object => (shown(read(object) ?? '') === value) === equal
  })
  return object => tests.every(test => test(object))
}

function fieldReader(resource: Resource, field: string): (object: KubeObject) => unknown {
  if (field === 'metadata.name') return object => object.metadata.name
  if (field === 'metadata.namespace') return object => object.metadata.namespace
  const read = Object.hasOwn(resource.selectable, field) ? resource.selectable[field] : undefined
  if (read) return read
  const others = Object.keys(resource.selectable).length > 0 || resource.custom
  throw badRequest(
    others
      ? `field label not supported: ${field}`
      : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
  )
}
