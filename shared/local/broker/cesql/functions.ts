// Built-in functions of CESQL 1.0 (§3.5). Characters are code points.
import { CesqlError, int32, toBoolean, toInteger, toText, type Value } from './cast.ts'

interface Builtin {
  /** Fewest and most arguments. */
  arity: [least: number, most: number]
  call: (args: Value[]) => Value
}

const one = (call: (value: Value) => Value): Builtin => ({ arity: [1, 1], call: ([value]) => call(value!) })

const builtins: Record<string, Builtin> = {
  INT: one(toInteger),
  BOOL: one(toBoolean),
  STRING: one(toText),
  IS_INT: one(value => succeeds(() => toInteger(value))),
  IS_BOOL: one(value => succeeds(() => toBoolean(value))),
  ABS: one(value => int32(Math.abs(toInteger(value)))),
  LENGTH: one(value => characters(value).length),
  LOWER: one(value => toText(value).toLowerCase()),
  UPPER: one(value => toText(value).toUpperCase()),
  TRIM: one(value => toText(value).trim()),
  CONCAT: { arity: [0, Infinity], call: args => args.map(toText).join('') },
  CONCAT_WS: { arity: [1, Infinity], call: ([by, ...rest]) => rest.map(toText).join(toText(by!)) },
  LEFT: { arity: [2, 2], call: ([text, count]) => characters(text!).slice(0, atLeastZero(count!)).join('') },
  RIGHT: { arity: [2, 2], call: ([text, count]) => lastOf(characters(text!), atLeastZero(count!)).join('') },
  SUBSTRING: { arity: [2, 3], call: ([text, from, length]) => substring(characters(text!), toInteger(from!), length) }
}

export function callBuiltin(name: string, args: Value[]): Value {
  const builtin = builtins[name]
  if (!builtin || args.length < builtin.arity[0] || args.length > builtin.arity[1]) {
    throw new CesqlError(`there is no function ${name} of ${args.length} arguments`)
  }
  return builtin.call(args)
}

const characters = (value: Value): string[] => Array.from(toText(value))
const lastOf = (all: string[], count: number): string[] => all.slice(Math.max(0, all.length - count))

function atLeastZero(value: Value): number {
  const count = toInteger(value)
  if (count < 0) throw new CesqlError(`${count} is negative`)
  return count
}

/** Counts from 1, or from the end when negative; position 0 is before everything. */
function substring(all: string[], from: number, length: Value | undefined): string {
  if (Math.abs(from) > all.length) throw new CesqlError(`position ${from} is outside a text of ${all.length} characters`)
  if (from === 0) return ''
  const start = from > 0 ? from - 1 : all.length + from
  return all.slice(start, length === undefined ? undefined : start + atLeastZero(length)).join('')
}

function succeeds(cast: () => Value): boolean {
  try {
    cast()
    return true
  } catch {
    return false
  }
}
