// The rows of one monitor as last heard of. Rows are never changed in place: a change makes a new row, so that whoever holds the old
// one may compare.
import type { JsonObject } from './json.ts'
import type { Delta } from './delta.ts'
import { OvsdbError } from './error.ts'
import { zeroUuid } from './notation.ts'
import type { Plan, PlannedColumn } from './schema.ts'

export type AnyRow = { readonly _uuid: string; readonly [column: string]: unknown }
/** `before` is undefined for a new row, `after` for one that is gone. */
export type AnyChange = {
  readonly table: string
  readonly uuid: string
  readonly before: AnyRow | undefined
  readonly after: AnyRow | undefined
}

export class Replica {
  readonly #tables: ReadonlyMap<string, Map<string, AnyRow>>
  #plan: Plan = new Map()
  #empty: ReadonlyMap<string, AnyRow> = new Map()

  constructor(tables: readonly string[]) {
    this.#tables = new Map(tables.map(table => [table, new Map()]))
  }

  /** The schema may differ from one connection to the next. */
  follow(plan: Plan): void {
    this.#plan = plan
    this.#empty = new Map(Array.from(plan, ([table, columns]) => [table, emptyRow(columns)]))
  }

  rows(table: string): ReadonlyMap<string, AnyRow> {
    return this.#rows(table)
  }

  /** All or nothing: a delta that makes no sense leaves every row as it was. */
  apply(deltas: readonly Delta[]): AnyChange[] {
    const changes: AnyChange[] = []
    for (const delta of deltas) {
      const change = this.#resolve(delta)
      if (change) changes.push(change)
    }
    for (const { table, uuid, after } of changes) {
      if (after) this.#rows(table).set(uuid, after)
      else this.#rows(table).delete(uuid)
    }
    return changes
  }

  /** A snapshot: what differs from the rows held is a change, and a row that it lacks is gone. */
  replace(deltas: readonly Delta[]): AnyChange[] {
    const gone: Delta[] = []
    for (const [table, rows] of this.#tables) {
      if (rows.size === 0) continue
      const present = new Set(deltas.filter(delta => delta.table === table).map(({ uuid }) => uuid))
      for (const uuid of rows.keys()) if (!present.has(uuid)) gone.push({ kind: 'remove', table, uuid })
    }
    return this.apply(gone.length === 0 ? deltas : [...gone, ...deltas])
  }

  same(table: string, a: AnyRow | undefined, b: AnyRow | undefined): boolean {
    if (!a || !b) return a === b
    return this.#columns(table).every(({ name, column }) => column.same(a[name], b[name]))
  }

  #resolve(delta: Delta): AnyChange | undefined {
    const { table, uuid } = delta
    const before = this.#rows(table).get(uuid)
    if (delta.kind === 'remove') {
      if (!before) throw new OvsdbError('protocol', `row ${uuid} of ${table} was removed before it was known`)
      return { table, uuid, before, after: undefined }
    }
    const plan = this.#columns(table)
    if (delta.kind === 'patch') {
      if (!before) throw new OvsdbError('protocol', `row ${uuid} of ${table} was modified before it was known`)
      return { table, uuid, before, after: patch(before, plan, delta.columns) }
    }
    const after = build(uuid, plan, this.#empty.get(table) as AnyRow, delta.columns)
    return this.same(table, before, after) ? undefined : { table, uuid, before, after }
  }

  #columns(table: string): readonly PlannedColumn[] {
    return this.#plan.get(table) ?? []
  }

  #rows(table: string): Map<string, AnyRow> {
    const rows = this.#tables.get(table)
    if (!rows) throw new OvsdbError('protocol', `table ${table} is not monitored`)
    return rows
  }
}

const emptyRow = (plan: readonly PlannedColumn[]): AnyRow => ({
  _uuid: zeroUuid,
  ...Object.fromEntries(plan.map(({ name, column }) => [name, column.empty]))
})

function build(uuid: string, plan: readonly PlannedColumn[], empty: AnyRow, columns: JsonObject): AnyRow {
  const row: { _uuid: string; [column: string]: unknown } = { ...empty } // copied whole, a row takes less memory than one that grows
  row._uuid = uuid
  for (const { name, column } of plan) {
    const value = columns[name]
    if (value !== undefined) row[name] = column.decode(value)
  }
  return row
}

function patch(before: AnyRow, plan: readonly PlannedColumn[], columns: JsonObject): AnyRow {
  const row: { _uuid: string; [column: string]: unknown } = { ...before }
  for (const { name, column, replaced } of plan) {
    const change = columns[name]
    if (change !== undefined) row[name] = replaced ? column.decode(change) : column.patch(before[name], change)
  }
  return row
}
