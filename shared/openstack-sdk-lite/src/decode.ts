// Readers for JSON of unknown shape. What is missing or of another type is an error here, not an `undefined` three calls later.
import { OpenStackError } from './error.ts'

export type Row = Readonly<Record<string, unknown>>

export function row(value: unknown, what = 'the answer'): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(what, 'an object', value)
  return value as Row
}

export const text = (from: Row, key: string): string => read(from, key, 'string')
export const number = (from: Row, key: string): number => read(from, key, 'number')
export const flag = (from: Row, key: string): boolean => read(from, key, 'boolean')
export const textOrNull = (from: Row, key: string): string | null => readOrNull(from, key, 'string')
export const numberOrNull = (from: Row, key: string): number | null => readOrNull(from, key, 'number')
export const flagOrNull = (from: Row, key: string): boolean | null => readOrNull(from, key, 'boolean')

export const child = (from: Row, key: string): Row => row(from[key], key)
export const childOrNull = (from: Row, key: string): Row | null =>
  from[key] === undefined || from[key] === null ? null : child(from, key)

export function rows(from: Row, key: string): Row[] {
  const value = from[key]
  if (!Array.isArray(value)) throw wrong(key, 'a list', value)
  return value.map((item, index) => row(item, `${key}[${index}]`))
}

export function texts(from: Row, key: string): string[] {
  const value = from[key]
  if (!Array.isArray(value)) throw wrong(key, 'a list', value)
  return value.map((item, index) => (typeof item === 'string' ? item : fail(`${key}[${index}]`, 'string', item)))
}

/** A map of one kind of value, as metadata (texts) or usages (numbers). */
export function dictionary<T>(from: Row, key: string, read: (from: Row, key: string) => T): Record<string, T> {
  const inner = child(from, key)
  return Object.fromEntries(Object.keys(inner).map(name => [name, read(inner, name)]))
}

interface Kinds {
  string: string
  number: number
  boolean: boolean
}

function read<K extends keyof Kinds>(from: Row, key: string, kind: K): Kinds[K] {
  const value = from[key]
  return typeof value === kind ? (value as Kinds[K]) : fail(key, kind, value)
}

function readOrNull<K extends keyof Kinds>(from: Row, key: string, kind: K): Kinds[K] | null {
  return from[key] === undefined || from[key] === null ? null : read(from, key, kind)
}

function fail(key: string, kind: string, value: unknown): never {
  throw wrong(key, `a ${kind}`, value)
}

function wrong(what: string, wanted: string, value: unknown): OpenStackError {
  const got = value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value
  return new OpenStackError('BadAnswer', `${what} should be ${wanted}, not ${got}`)
}
