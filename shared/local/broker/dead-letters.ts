// Events that no try could deliver, kept whether or not a dead-letter sink took them, the newest ones.
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Commit } from './group-commit.ts'
import { headOf, type Head, type Stored } from './journal.ts'
import type { Cause } from './verdict.ts'

export interface DeadLetter {
  id: number
  /** Milliseconds since the epoch. */
  time: number
  broker: string
  trigger: string
  attributes: Record<string, string>
  /** The last answer; absent where Knative names none (time-out, 3xx, 2xx with a foreign body). */
  cause?: Cause
  /** Whether a dead-letter sink took it. */
  taken: boolean
}

export interface DeadLetters {
  add: (stored: Stored, letter: Pick<DeadLetter, 'time' | 'trigger' | 'cause' | 'taken'>) => Promise<void>
  list: () => DeadLetter[]
  find: (id: number) => { letter: DeadLetter; stored: Pick<Stored, 'broker' | 'event' | 'passed' | 'ttl'> } | undefined
  drop: (id: number) => Promise<boolean>
}

export function openDeadLetters(db: DatabaseSync, commit: Commit, keep: { count: number; bytes: number }): DeadLetters {
  db.exec(`CREATE TABLE IF NOT EXISTS broker_dead_letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, broker TEXT NOT NULL, trigger TEXT NOT NULL, head TEXT NOT NULL,
    body BLOB NOT NULL, cause TEXT, taken INTEGER NOT NULL)`)
  const insert = db.prepare(
    'INSERT INTO broker_dead_letters (time, broker, trigger, head, body, cause, taken) VALUES (?, ?, ?, ?, ?, ?, ?)'
  )
  const all = db.prepare('SELECT id, time, broker, trigger, head, cause, taken FROM broker_dead_letters ORDER BY id')
  const one = db.prepare('SELECT * FROM broker_dead_letters WHERE id = ?')
  const remove = db.prepare('DELETE FROM broker_dead_letters WHERE id = ?')
  const oldest = db.prepare('SELECT id, length(body) AS bytes FROM broker_dead_letters ORDER BY id LIMIT 1')
  const size = db.prepare('SELECT count(*) AS count, coalesce(sum(length(body)), 0) AS bytes FROM broker_dead_letters')

  function trim(): void {
    let { count, bytes } = size.get() as { count: number; bytes: number }
    while (count > keep.count || bytes > keep.bytes) {
      const first = oldest.get() as { id: number; bytes: number }
      remove.run(first.id)
      count--
      bytes -= first.bytes
    }
  }

  return {
    add: (stored, { time, trigger, cause, taken }) =>
      commit(() => {
        const why = cause ? JSON.stringify(cause) : null
        insert.run(time, stored.broker, trigger, headOf(stored), stored.event.body, why, taken ? 1 : 0)
        trim()
      }),
    list: () => all.all().map(toLetter),
    find(id) {
      const row = one.get(id)
      if (!row) return undefined
      const { attributes, passed, ttl } = JSON.parse(String(row.head)) as Head
      const event = { attributes, body: Buffer.from(row.body as Uint8Array) }
      return { letter: toLetter(row), stored: { broker: String(row.broker), event, passed, ttl } }
    },
    async drop(id) {
      let dropped = false
      await commit(() => {
        dropped = remove.run(id).changes > 0
      })
      return dropped
    }
  }
}

function toLetter(row: Record<string, SQLOutputValue>): DeadLetter {
  return {
    id: Number(row.id),
    time: Number(row.time),
    broker: String(row.broker),
    trigger: String(row.trigger),
    attributes: (JSON.parse(String(row.head)) as Head).attributes,
    taken: row.taken === 1,
    ...(row.cause !== null && { cause: JSON.parse(String(row.cause)) as Cause })
  }
}
