// CEL as admission has it: what match conditions, policies and their messages see of a request, and the words for what goes wrong in them.
import type { Environment, ParseResult } from '@marcbachmann/cel-js'
import { environment } from '../../schema/cel-library.ts'
import type { Call, Operation } from './cluster.ts'
import { fieldsOf, isFields, listOf, text, type Fields, type KubeObject } from './object.ts'

export interface Admission {
  call: Call
  operation: Operation
  object: KubeObject | undefined
  old: KubeObject | undefined
}

const declaring = (names: string[]): Environment =>
  names.reduce(
    (library, name) => library.registerVariable(name, 'dyn'),
    environment().clone({ unlistedVariablesAreDyn: false, homogeneousAggregateLiterals: false, enableOptionalTypes: true })
  )

const libraries = {
  condition: declaring(['object', 'oldObject', 'request']),
  policy: declaring(['object', 'oldObject', 'request', 'namespaceObject', 'variables'])
}

export type Place = keyof typeof libraries

/** Read once, evaluated with every request. */
const programs = { condition: new Map<string, ParseResult>(), policy: new Map<string, ParseResult>() }

function program(place: Place, expression: string): ParseResult {
  const known = programs[place].get(expression) ?? libraries[place].parse(expression)
  programs[place].set(expression, known)
  return known
}

/** What is wrong with an expression before any object is seen; undefined when nothing is. */
export function compilationError(place: Place, expression: string, wanted?: 'bool' | 'string'): string | undefined {
  try {
    const parsed = program(place, expression)
    const { valid, error, type } = parsed.check()
    if (!valid) return failedCompilation(error)
    const found = type === 'dyn' && isUntyped(parsed.ast) ? 'dyn' : type
    if (wanted && found !== wanted && (type !== 'dyn' || found === 'dyn')) return `must evaluate to ${wanted} but got ${found}`
  } catch (err) {
    return failedCompilation(err)
  }
  return undefined
}

/** A field of the object, which may be anything: the real server wants a rule to be a bool whatever it holds. */
function isUntyped(ast: ParseResult['ast']): boolean {
  if (ast.op === 'id') return ast.args === 'object' || ast.args === 'oldObject'
  return (ast.op === '.' || ast.op === '[]') && isUntyped(ast.args[0])
}

function failedCompilation(err: unknown): string {
  const { message, range } = err as Error & { range?: { start: number } }
  const said = firstLine(message).replace(/^Unknown variable: (.*)$/, "undeclared reference to '$1' (in container '')")
  return `compilation failed: ERROR: <input>:1:${(range?.start ?? 0) + 1}: ${said}`
}

const firstLine = (message: string): string => message.split('\n')[0] ?? ''

export function evaluate(place: Place, expression: string, context: object): unknown {
  try {
    return program(place, expression)(context)
  } catch (err) {
    const said = firstLine((err as Error).message).replace(/^No such key/, 'no such key')
    throw new Error(`expression '${expression}' resulted in error: ${said}`, { cause: err })
  }
}

/** Read only when an expression asks for it. */
export const contextOf = ({ object, old }: Admission, request: Fields): object => ({
  request,
  get object() {
    return dynamic(object ?? null)
  },
  get oldObject() {
    return dynamic(old ?? null)
  }
})

/** True when all conditions hold, and when none is false but some fail: then that is thrown. */
export function meetsConditions(conditions: unknown, context: object): boolean {
  const errors: string[] = []
  for (const { expression } of listOf(conditions).map(fieldsOf)) {
    try {
      if (evaluate('condition', text(expression), context) === false) return false
    } catch (err) {
      errors.push((err as Error).message)
    }
  }
  if (errors.length > 0) throw new Error(errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`)
  return true
}

const seen = new WeakMap<object, unknown>()

/** No schema is at hand, and so a whole number is an int, as in the JSON that came. What holds none is left as it is. */
export function dynamic(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (seen.has(value)) return seen.get(value)
  const made = converted(value)
  seen.set(value, made)
  return made
}

function converted(value: object): object {
  if (Array.isArray(value)) {
    const items = value.map(dynamic)
    return items.every((item, i) => item === value[i]) ? value : items
  }
  const fields = isFields(value) ? value : {}
  const entries = Object.entries(fields).map(([key, field]) => [key, dynamic(field)] as const)
  return entries.every(([key, field]) => field === fields[key]) ? value : Object.fromEntries(entries)
}
