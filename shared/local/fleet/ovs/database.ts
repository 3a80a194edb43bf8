// An OVSDB database in memory: rows, transactions, and what a monitor is told of them (ovsdb-server(7) §4.1.14, "update2").
import { encodeValue, type Value } from 'ovsdb-client/server'
import type { ColumnType, Tables } from './schema.ts'

/** Undefined: an optional column that is empty. */
export type Cells = Readonly<Record<string, Value | undefined>>

export interface RowChange {
  table: string
  id: string
  before: Cells | undefined
  after: Cells | undefined
}

export class Database {
  readonly name: string
  readonly tables: Tables
  readonly #newId: () => string
  readonly #rows = new Map<string, Map<string, Cells>>()
  readonly #listeners = new Set<(changes: readonly RowChange[]) => void>()
  #changes: Map<string, RowChange> | undefined

  constructor(name: string, tables: Tables, newId: () => string) {
    this.name = name
    this.tables = tables
    this.#newId = newId
    for (const table of Object.keys(tables)) this.#rows.set(table, new Map())
  }

  rows(table: string): ReadonlyMap<string, Cells> {
    return this.#rows.get(table) ?? new Map()
  }

  listen(heard: (changes: readonly RowChange[]) => void): () => void {
    this.#listeners.add(heard)
    return () => this.#listeners.delete(heard)
  }

  /** Everything within is told at once. */
  transact<T>(work: () => T): T {
    if (this.#changes) return work()
    this.#changes = new Map()
    try {
      return work()
    } finally {
      const changes = [...this.#changes.values()]
      this.#changes = undefined
      if (changes.length > 0) for (const heard of this.#listeners) heard(changes)
    }
  }

  insert(table: string, row: Cells): string {
    const id = this.#newId()
    this.#put(table, id, row)
    return id
  }

  update(table: string, id: string, cells: Cells): void {
    const before = this.rows(table).get(id)
    if (before) this.#put(table, id, { ...before, ...cells })
  }

  remove(table: string, id: string): void {
    this.#put(table, id, undefined)
  }

  #put(table: string, id: string, after: Cells | undefined): void {
    this.transact(() => {
      const rows = this.#rows.get(table) as Map<string, Cells>
      const before = rows.get(id)
      if (after) rows.set(id, after)
      else rows.delete(id)
      const noted = this.#changes?.get(id)
      this.#changes?.set(id, { table, id, before: noted ? noted.before : before, after })
    })
  }
}

const encoded = (cell: Value | undefined): unknown => (cell === undefined ? ['set', []] : encodeValue(cell))

/** What an omitted column holds: RFC 7047 §5.2.1. */
const empty = (type: ColumnType | undefined): unknown => {
  if (type === 'string') return ''
  if (type === 'integer') return 0
  if (type === 'boolean') return false
  return [typeof type === 'object' && type.value !== undefined ? 'map' : 'set', []]
}

export function encodeRow(database: Database, table: string, row: Cells, columns: readonly string[]): Record<string, unknown> {
  const types = database.tables[table] ?? {}
  return Object.fromEntries(columns.map(name => [name, name in row ? encoded(row[name]) : empty(types[name])]))
}

const text = (wire: unknown): string => JSON.stringify(wire)
const elements = (wire: unknown): unknown[] =>
  Array.isArray(wire) && (wire[0] === 'set' || wire[0] === 'map') ? (wire[1] as unknown[]) : [wire]

/** Of a set what came or went, of a map the pairs that differ, of everything else the new value. */
function difference(type: ColumnType | undefined, before: unknown, after: unknown): unknown {
  if (typeof type !== 'object' || type.max === 1) return after
  const [old, now] = [new Map(elements(before).map(pair)), new Map(elements(after).map(pair))]
  const gone = elements(before).filter(one => !now.has(pair(one)[0]))
  const changed = elements(after).filter(one => old.get(pair(one)[0]) !== pair(one)[1])
  return [type.value === undefined ? 'set' : 'map', [...gone, ...changed]]

  function pair(one: unknown): [key: string, value: string] {
    if (typeof type !== 'object' || type.value === undefined) return [text(one), '']
    const [key, value] = one as [unknown, unknown]
    return [text(key), text(value)]
  }
}

/** One change as an update2 tells it; undefined when none of the columns differs. */
export function encodeChange(database: Database, change: RowChange, columns: readonly string[]): object | undefined {
  const { table, before, after } = change
  if (!after) return before && { delete: null }
  const now = encodeRow(database, table, after, columns)
  if (!before) return { insert: now }
  const old = encodeRow(database, table, before, columns)
  const differing = columns.filter(name => text(old[name]) !== text(now[name]))
  if (differing.length === 0) return undefined
  const types = database.tables[table] ?? {}
  return { modify: Object.fromEntries(differing.map(name => [name, difference(types[name], old[name], now[name])])) }
}
