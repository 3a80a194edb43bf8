// The one file of `npm start --state FILE`: the embedded API and the broker keep their tables in it, through one handle.
import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

export type StateStore = DatabaseSync

export function openState(file: string): StateStore {
  const database = new DatabaseSync(file)
  if (file !== ':memory:') chmodSync(file, 0o600) // it holds Secrets and the key that signs tokens
  // WAL with NORMAL: a commit survives kill -9; only a power cut can lose the last ones.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000')
  return database
}
