// Values and implicit casts of CESQL 1.0 (§3.1, §3.7).

export type Value = string | number | boolean
export type Type = 'string' | 'number' | 'boolean'

/** An error while an expression is evaluated: a filter then does not match (§1.2). */
export class CesqlError extends Error {
  override name = 'CesqlError'
}

export const toText = (value: Value): string => String(value)

export function toInteger(value: Value): number {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number') return value
  if (!/^[+-]?\d+$/.test(value)) throw new CesqlError(`cannot cast "${value}" to Integer`)
  return int32(Number(value))
}

export function toBoolean(value: Value): boolean {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return value !== 0
  const text = value.toLowerCase()
  if (text !== 'true' && text !== 'false') throw new CesqlError(`cannot cast "${value}" to Boolean`)
  return text === 'true'
}

export function castTo(type: Type, value: Value): Value {
  return type === 'number' ? toInteger(value) : type === 'boolean' ? toBoolean(value) : toText(value)
}

export function int32(value: number): number {
  if (value !== (value | 0)) throw new CesqlError(`${value} is not a 32 bit integer`)
  return value
}
