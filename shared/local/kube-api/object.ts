// The shape of everything that is stored. Stored objects are never changed in place: whoever writes makes a new one.
import type { ObjectMeta } from '../../schema/kind.ts'

export type Fields = Record<string, unknown>

export interface Metadata extends ObjectMeta {
  generateName?: string
  deletionGracePeriodSeconds?: number
}

export interface KubeObject extends Fields {
  apiVersion: string
  kind: string
  metadata: Metadata
}

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A value in words: a string as it is, anything else as JSON. */
export const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
  if (!isFields(a) || !isFields(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && same(a[key], b[key]))
}

export function at(value: unknown, ...path: string[]): unknown {
  let here = value
  for (const key of path) here = isFields(here) ? here[key] : undefined
  return here
}

/** The keys are such as the type can do without. */
export function omit<T extends object>(object: T, ...keys: string[]): T {
  const rest = { ...object }
  for (const key of keys) delete (rest as Fields)[key]
  return rest
}

export const timestamp = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`
