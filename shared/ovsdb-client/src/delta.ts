// Three forms of change arrive (RFC 7047 §4.1.6; ovsdb-server(7) §4.1.13–4.1.17); one form leaves.
import { OvsdbError } from './error.ts'
import { type JsonObject, isObject } from './json.ts'

export type Delta =
  /** The whole row; columns left out have their default. */
  | { readonly kind: 'put'; readonly table: string; readonly uuid: string; readonly columns: JsonObject }
  /** Differences of the columns named. */
  | { readonly kind: 'patch'; readonly table: string; readonly uuid: string; readonly columns: JsonObject }
  | { readonly kind: 'remove'; readonly table: string; readonly uuid: string }

export type Dialect = 'update' | 'update2'

export function readDeltas(dialect: Dialect, updates: unknown): Delta[] {
  const read = dialect === 'update' ? readUpdate : readUpdate2
  const deltas: Delta[] = []
  for (const [table, wire] of Object.entries(object(updates))) {
    const rows = object(wire)
    for (const uuid of Object.keys(rows)) deltas.push(read(table, uuid, object(rows[uuid])))
  }
  return deltas
}

function readUpdate(table: string, uuid: string, { new: row }: JsonObject): Delta {
  return row === undefined ? { kind: 'remove', table, uuid } : { kind: 'put', table, uuid, columns: object(row) }
}

function readUpdate2(table: string, uuid: string, change: JsonObject): Delta {
  if (change['modify'] !== undefined) return { kind: 'patch', table, uuid, columns: object(change['modify']) }
  if ('delete' in change) return { kind: 'remove', table, uuid } // its value is null
  return { kind: 'put', table, uuid, columns: object(change['insert'] ?? change['initial']) }
}

function object(wire: unknown): JsonObject {
  if (!isObject(wire)) throw new OvsdbError('protocol', 'malformed table updates')
  return wire
}
