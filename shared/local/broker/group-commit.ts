// Writes of one turn of the event loop share one transaction, so that a commit for each event does not bound the rate.
import type { DatabaseSync } from 'node:sqlite'

/** Resolves once the write is committed. */
export type Commit = (write: () => void) => Promise<void>

export function groupCommit(db: DatabaseSync): Commit {
  let waiting: Array<{ write: () => void; resolve: () => void; reject: (err: unknown) => void }> = []

  function flush(): void {
    const batch = waiting
    waiting = []
    // Begun and ended in one turn: others may use the same handle in between.
    try {
      db.exec('BEGIN IMMEDIATE')
      for (const { write } of batch) write()
      db.exec('COMMIT')
    } catch (err) {
      if (db.isTransaction) db.exec('ROLLBACK')
      for (const { reject } of batch) reject(err)
      return
    }
    for (const { resolve } of batch) resolve()
  }

  return write =>
    new Promise((resolve, reject) => {
      waiting.push({ write, resolve, reject })
      if (waiting.length === 1) setImmediate(flush)
    })
}
