// What a CESQL tree says of an event. Errors are thrown at once: a filter asks only whether there was one.
import { callBuiltin } from './functions.ts'
import { castTo, CesqlError, int32, toBoolean, toInteger, toText, type Type, type Value } from './cast.ts'
import type { Node } from './parser.ts'

export type Attributes = Readonly<Record<string, string>>

export function evaluate(node: Node, event: Attributes): Value {
  switch (node.is) {
    case 'literal':
      return node.value
    case 'attribute':
      return attribute(event, node.name)
    case 'exists':
      return event[node.name] !== undefined
    case 'not':
      return !toBoolean(evaluate(node.operand, event))
    case 'negate':
      return int32(0 - toInteger(evaluate(node.operand, event)))
    case 'like':
      return likePattern(node.pattern).test(toText(evaluate(node.operand, event)))
    case 'in':
      return isIn(evaluate(node.operand, event), node.set, event)
    case 'logic':
      return logic(node.operator, node.left, node.right, event)
    case 'compare':
      return compare(node.operator, evaluate(node.left, event), evaluate(node.right, event))
    case 'math':
      return math(node.operator, toInteger(evaluate(node.left, event)), toInteger(evaluate(node.right, event)))
  }
  const args = node.args.map(arg => evaluate(arg, event))
  return callBuiltin(node.name, args)
}

function attribute(event: Attributes, name: string): string {
  const value = event[name]
  if (value === undefined) throw new CesqlError(`the event has no ${name}`)
  return value
}

function logic(operator: string, left: Node, right: Node, event: Attributes): boolean {
  const first = toBoolean(evaluate(left, event))
  if (operator === 'AND' && !first) return false
  if (operator === 'OR' && first) return true
  const second = toBoolean(evaluate(right, event))
  return operator === 'XOR' ? first !== second : second
}

function compare(operator: string, left: Value, right: Value): boolean {
  if (operator === '=') return castTo(typeof right as Type, left) === right
  if (operator === '!=' || operator === '<>') return castTo(typeof right as Type, left) !== right
  const [x, y] = [toInteger(left), toInteger(right)] // order is for integers only
  if (operator === '<') return x < y
  if (operator === '<=') return x <= y
  return operator === '>' ? x > y : x >= y
}

function math(operator: string, x: number, y: number): number {
  if ((operator === '/' || operator === '%') && y === 0) throw new CesqlError('division by zero')
  if (operator === '/') return int32(Math.trunc(x / y))
  if (operator === '%') return int32(x % y)
  if (operator === '*') return int32(x * y)
  return int32(operator === '+' ? x + y : x - y)
}

/** Unlike `=`, the left side gives the type. */
const isIn = (value: Value, set: Node[], event: Attributes): boolean =>
  set.some(element => castTo(typeof value as Type, evaluate(element, event)) === value)

const patterns = new Map<string, RegExp>()

function likePattern(like: string): RegExp {
  let pattern = patterns.get(like)
  if (!pattern) patterns.set(like, (pattern = new RegExp(`^${like.replace(/\\[%_]|[^]/gu, likePart)}$`, 'u')))
  return pattern
}

function likePart(part: string): string {
  if (part === '%') return '[^]*'
  if (part === '_') return '[^]'
  return /^\\[%_]$/.test(part) ? part.slice(1) : part.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')
}
