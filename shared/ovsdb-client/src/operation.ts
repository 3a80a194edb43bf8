// RFC 7047 §5.2: operations are values; nothing happens until a list of them is given to `transact`.
import { type Columns, type Row, column } from './column.ts'
import { OvsdbError, serverRefusal } from './error.ts'
import { isObject } from './json.ts'
import { type Value, encodeValue, rowName, uuid } from './notation.ts'

export type Comparison = '<' | '<=' | '==' | '!=' | '>=' | '>' | 'includes' | 'excludes'
export type Mutator = '+=' | '-=' | '*=' | '/=' | '%=' | 'insert' | 'delete'
/** In an operation all conditions must hold, in a monitor any of them; an empty list means every row. */
export type Where = ReadonlyArray<readonly [column: string, compare: Comparison, value: Value]>
export type Mutations = ReadonlyArray<readonly [column: string, mutator: Mutator, value: Value]>
export type NewRow = { readonly [column: string]: Value }

export type Insert = { op: 'insert'; table: string; row: NewRow; named?: string; uuid?: string }
export type Select<C extends Columns = Columns> = { op: 'select'; table: string; where: Where; columns: C }
export type Update = { op: 'update'; table: string; where: Where; row: NewRow }
export type Mutate = { op: 'mutate'; table: string; where: Where; mutations: Mutations }
export type Delete = { op: 'delete'; table: string; where: Where }
export type Wait = {
  op: 'wait'
  table: string
  where: Where
  columns: readonly string[]
  until: '==' | '!='
  rows: readonly NewRow[]
  timeoutMs?: number
}
export type Commit = { op: 'commit'; durable: boolean }
export type Abort = { op: 'abort' }
export type Comment = { op: 'comment'; comment: string }
export type Assert = { op: 'assert'; lock: string }
export type Operation = Insert | Select | Update | Mutate | Delete | Wait | Commit | Abort | Comment | Assert

export type ResultOf<O> =
  O extends Select<infer C>
    ? { readonly rows: ReadonlyArray<Row<C>> }
    : O extends Insert
      ? { readonly uuid: string }
      : O extends Update | Mutate | Delete
        ? { readonly count: number }
        : { readonly [key: string]: never }
export type Results<O extends readonly Operation[]> = { -readonly [K in keyof O]: ResultOf<O[K]> }

/** `named` lets the other operations of the transaction refer to the row; `uuid` chooses its uuid (OVS 2.16 or later). */
export const insert = (table: string, row: NewRow, as: { named?: string; uuid?: string } = {}): Insert => ({
  op: 'insert',
  table,
  row,
  ...as
})
export const select = <const C extends Columns>(table: string, where: Where, columns: C): Select<C> => ({
  op: 'select',
  table,
  where,
  columns
})
export const update = (table: string, where: Where, row: NewRow): Update => ({ op: 'update', table, where, row })
export const mutate = (table: string, where: Where, mutations: Mutations): Mutate => ({ op: 'mutate', table, where, mutations })
export const remove = (table: string, where: Where): Delete => ({ op: 'delete', table, where })
export const wait = (question: Omit<Wait, 'op'>): Wait => ({ op: 'wait', ...question })
export const commit = ({ durable }: { durable: boolean }): Commit => ({ op: 'commit', durable })
export const abort = (): Abort => ({ op: 'abort' })
export const comment = (text: string): Comment => ({ op: 'comment', comment: text })
export const assert = (lock: string): Assert => ({ op: 'assert', lock })

export const encodeClauses = (clauses: Where | Mutations) =>
  clauses.map(([name, verb, value]) => [name, verb, encodeValue(value)])
const encodeRow = (row: NewRow) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, encodeValue(value)]))

export function encodeOperation(operation: Operation): unknown {
  switch (operation.op) {
    case 'insert': {
      const { op, table, row, named, uuid: id } = operation
      return {
        op,
        table,
        row: encodeRow(row),
        ...(named !== undefined && { 'uuid-name': rowName(named) }),
        ...(id !== undefined && { uuid: uuid(id).id })
      }
    }
    case 'select':
      return { ...operation, where: encodeClauses(operation.where), columns: ['_uuid', ...Object.keys(operation.columns)] }
    case 'update':
      return { ...operation, where: encodeClauses(operation.where), row: encodeRow(operation.row) }
    case 'mutate':
      return { ...operation, where: encodeClauses(operation.where), mutations: encodeClauses(operation.mutations) }
    case 'delete':
      return { ...operation, where: encodeClauses(operation.where) }
    case 'wait': {
      const { timeoutMs, ...rest } = operation
      return {
        ...rest,
        where: encodeClauses(rest.where),
        rows: rest.rows.map(encodeRow),
        ...(timeoutMs !== undefined && { timeout: timeoutMs })
      }
    }
    default:
      return operation
  }
}

/** The outer `error` of a refused transaction is null: its failure sits in the list, after the last operation when the commit failed. */
export function decodeResults(operations: readonly Operation[], result: unknown): unknown[] {
  if (!Array.isArray(result)) throw new OvsdbError('protocol', 'transact answered with something that is not a list')
  for (const [index, entry] of result.entries()) {
    if (!isObject(entry) || entry['error'] === undefined) continue
    const operation = operations[index]
    throw serverRefusal(operation ? `operation ${index} (${operation.op})` : 'commit', entry, operation && index)
  }
  if (result.length < operations.length) throw new OvsdbError('protocol', 'transact answered with too few results')
  return operations.map((operation, index) => decodeResult(operation, result[index]))
}

function decodeResult(operation: Operation, entry: unknown): unknown {
  if (!isObject(entry)) throw new OvsdbError('protocol', `malformed result of ${operation.op}`)
  if (operation.op === 'insert') return { uuid: column.uuid.decode(entry['uuid']) }
  if (operation.op === 'select') return { rows: decodeRows(operation.columns, entry['rows']) }
  if ('where' in operation && operation.op !== 'wait') return { count: column.safeInteger.decode(entry['count']) }
  return {}
}

function decodeRows(columns: Columns, rows: unknown): unknown[] {
  if (!Array.isArray(rows)) throw new OvsdbError('protocol', 'malformed result of select')
  return rows.map((row: unknown) => {
    if (!isObject(row)) throw new OvsdbError('protocol', 'malformed row')
    const values = Object.entries(columns).map(([name, { decode }]) => [name, decode(row[name])])
    return { _uuid: column.uuid.decode(row['_uuid']), ...Object.fromEntries(values) }
  })
}
