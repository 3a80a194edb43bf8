// RFC 7047 §3.2: the part of a database schema that says how values are written.
import type { Base, Column, Columns } from './column.ts'
import { OvsdbError } from './error.ts'
import { isObject } from './json.ts'

export type ColumnType = { readonly key: Base; readonly value?: Base; readonly min: number; readonly max: number }
export type Schema = {
  readonly name: string
  readonly version: string
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, ColumnType>>
}

const bases: ReadonlySet<unknown> = new Set<Base>(['integer', 'real', 'boolean', 'string', 'uuid'])

const malformed = (what: string): never => {
  throw new OvsdbError('protocol', `malformed schema: ${what}`)
}

function parseBase(wire: unknown): Base {
  const type = isObject(wire) ? wire['type'] : wire
  return bases.has(type) ? (type as Base) : malformed(`base type ${JSON.stringify(wire)}`)
}

function parseType(wire: unknown): ColumnType {
  if (!isObject(wire)) return { key: parseBase(wire), min: 1, max: 1 }
  const { key, value, min = 1, max = 1 } = wire
  return {
    key: parseBase(key),
    ...(value !== undefined && { value: parseBase(value) }),
    min: Number(min),
    max: max === 'unlimited' ? Infinity : Number(max)
  }
}

function parseColumns(table: unknown): ReadonlyMap<string, ColumnType> {
  if (!isObject(table) || !isObject(table['columns'])) return malformed('a table has no columns')
  return new Map(Object.entries(table['columns']).map(([name, wire]) => [name, parseType(isObject(wire) ? wire['type'] : wire)]))
}

export function parseSchema(wire: unknown): Schema {
  if (!isObject(wire)) return malformed('not an object')
  const { name, version, tables } = wire
  if (typeof name !== 'string' || typeof version !== 'string' || !isObject(tables)) return malformed('no name, version or tables')
  return { name, version, tables: new Map(Object.entries(tables).map(([table, columns]) => [table, parseColumns(columns)])) }
}

export type Spec = { readonly [table: string]: Columns }
/** A column as it will be read; `replaced` when an update2 "modify" carries its new value instead of a difference. */
export type PlannedColumn = { readonly name: string; readonly column: Column<unknown>; readonly replaced: boolean }
export type Plan = ReadonlyMap<string, readonly PlannedColumn[]>

/** Holds what the caller said about each column against what the database says: a mistake is told at once, not at the first odd value. */
export function planFor(spec: Spec, { name, tables }: Schema): Plan {
  return new Map(
    Object.entries(spec).map(([table, columns]) => {
      const types = tables.get(table)
      if (!types) throw new OvsdbError('schema', `database ${name} has no table ${table}`)
      return [table, Object.entries(columns).map(([column, said]) => plan(`${table}.${column}`, column, said, types.get(column)))]
    })
  )
}

function plan(path: string, name: string, said: Columns[string], type: ColumnType | undefined): PlannedColumn {
  if (!type) throw new OvsdbError('schema', `there is no column ${path}`)
  if (!fits(said, type)) {
    throw new OvsdbError('schema', `${path} is ${describe(type)} in the database, but was declared as ${declared(said)}`)
  }
  return { name, column: said, replaced: type.max === 1 }
}

function fits({ shape, key, value }: Columns[string], type: ColumnType): boolean {
  if (key !== type.key || value !== type.value) return false
  if (shape === 'scalar') return type.min === 1 && type.max === 1
  if (shape === 'optional') return type.min === 0 && type.max === 1
  return true
}

function describe({ key, value, min, max }: ColumnType): string {
  if (value) return `a map of ${key} to ${value}`
  if (max > 1) return `a set of ${key}`
  return min === 0 ? `an optional ${key}` : `one ${key}`
}

const declared = ({ shape, key, value }: Columns[string]) => (value ? `map of ${key} to ${value}` : `${shape} ${key}`)
