// A client of a fake server with one table.
import type { Test } from 'tap'
import { type OpenOptions, column, open } from '../../shared/ovsdb-client/src/index.ts'

export const spec = { T: { name: column.string, tags: column.set(column.string) } }

export function client(t: Test, remotes: readonly string[], options: Partial<OpenOptions> = {}) {
  const db = open({ remotes, database: 'Test', delay: async () => {}, ...options })
  t.teardown(() => db.close())
  return db
}
