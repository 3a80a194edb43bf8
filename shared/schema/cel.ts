// Evaluates `x-kubernetes-validations` of any structural schema, from the text that the API server gets. Needs nothing of our kinds:
// the embedded API server uses it for whatever CRDs it is given. Slow to load, so import it when there is something to check.
import { Optional, type ParseResult } from '@marcbachmann/cel-js'
import { environment } from './cel-library.ts'
import { toCel } from './cel-value.ts'
import { fieldSchema, isRecord, type OpenApi, type ValidationRule } from './openapi.ts'
import { sameEntry } from './structure.ts'
import { at, type Violation } from './violation.ts'

interface Place {
  schema: OpenApi
  value: unknown
  /** Undefined on create, and where the place is new. */
  old: unknown
  path: string
  root: boolean
  /** Whether what is the very same value in `old` is left out: it was judged before, and no rule can find it broken by this change. */
  changedOnly: boolean
}

/** Breaches of the rules of a schema and of all that is below it. Give `old` on an update: rules that read oldSelf need it. */
export const evaluateRules = (
  schema: OpenApi,
  value: unknown,
  old: unknown,
  path: string,
  root = true,
  changedOnly = false
): Violation[] => evaluate({ schema, value, old, path, root, changedOnly })

function evaluate(place: Place): Violation[] {
  if (place.value === undefined || place.value === null) return []
  if (place.changedOnly && typeof place.value === 'object' && place.value === place.old) return []
  const rules = place.schema['x-kubernetes-validations'] ?? []
  return [...rules.flatMap(rule => breach(rule, place) ?? []), ...below(place).flatMap(evaluate)]
}

function below({ schema, value, old, path, changedOnly }: Place): Place[] {
  const { items } = schema
  if (Array.isArray(value)) {
    if (!items) return []
    return value.map((entry, i) => ({
      schema: items,
      value: entry,
      old: sameEntry(schema, entry, old),
      path: at(path, i),
      root: false,
      changedOnly
    }))
  }
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, field]) => {
    const child = fieldSchema(schema, name)
    const before = isRecord(old) ? old[name] : undefined
    return child ? [{ schema: child, value: field, old: before, path: at(path, name), root: false, changedOnly }] : []
  })
}

function breach(rule: ValidationRule, place: Place): Violation | undefined {
  if (place.old === undefined && !rule.optionalOldSelf && /\boldSelf\b/.test(rule.rule)) return undefined
  const context = { self: toCel(place.schema, place.value, place.root), ...oldSelf(rule, place) }
  try {
    if (program(rule.rule)(context) === true) return undefined
  } catch (err) {
    // The server takes a rule that cannot be evaluated as broken, and so do we.
    return told(rule, place, `rule cannot be evaluated: ${(err as Error).message.split('\n')[0]}`)
  }
  return told(rule, place, messageOf(rule, context))
}

const told = ({ fieldPath = '', reason }: ValidationRule, { path }: Place, message: string): Violation => ({
  path: `${path}${fieldPath}`.replace(/^\./, ''),
  message,
  ...(reason && { reason })
})

function oldSelf({ optionalOldSelf }: ValidationRule, { schema, old, root }: Place): { oldSelf?: unknown } {
  const value = old === undefined ? undefined : toCel(schema, old, root)
  if (optionalOldSelf) return { oldSelf: value === undefined ? Optional.none() : Optional.of(value) }
  return value === undefined ? {} : { oldSelf: value }
}

function messageOf({ rule, message, messageExpression }: ValidationRule, context: object): string {
  const otherwise = message ?? `failed rule: ${rule}`
  if (!messageExpression) return otherwise
  try {
    const said: unknown = program(messageExpression)(context)
    return typeof said === 'string' && said.trim() !== '' ? said : otherwise
  } catch {
    return otherwise // as the server does
  }
}

const library = environment()
const programs = new Map<string, ParseResult>()
function program(text: string): ParseResult {
  const known = programs.get(text)
  if (known) return known
  const parsed = library.parse(text)
  programs.set(text, parsed)
  return parsed
}
