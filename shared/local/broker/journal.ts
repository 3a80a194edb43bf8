// Events that were answered 202 and are not done with. Kept on disk when a state file is given.
import type { DatabaseSync } from 'node:sqlite'
import type { Event } from './event.ts'
import type { Commit } from './group-commit.ts'
import type { Headers } from './types.ts'

export interface Stored {
  seq: number
  /** namespace/name */
  broker: string
  event: Event
  /** Of the sender's headers, those that go on. */
  passed: Headers
  /** How many replies may still follow one another. */
  ttl: number
  /** Triggers that have not finished with it, by key. */
  left: Set<string>
}

export interface Journal {
  /** Resolves once the event would outlive the process. */
  add: (stored: Stored) => Promise<void>
  /** One trigger fewer is left. */
  progress: (stored: Stored) => Promise<void>
  /** What an earlier process left, oldest first. */
  restore: () => Stored[]
}

/** Without a state file there is nothing to outlive. */
export const forgetful: Journal = {
  add: () => Promise.resolve(),
  progress: () => Promise.resolve(),
  restore: () => []
}

export function openJournal(db: DatabaseSync, commit: Commit): Journal {
  db.exec(`CREATE TABLE IF NOT EXISTS broker_events (
    seq INTEGER PRIMARY KEY, broker TEXT NOT NULL, triggers TEXT NOT NULL, head TEXT NOT NULL, body BLOB NOT NULL)`)
  const insert = db.prepare('INSERT INTO broker_events (seq, broker, triggers, head, body) VALUES (?, ?, ?, ?, ?)')
  const update = db.prepare('UPDATE broker_events SET triggers = ? WHERE seq = ?')
  const remove = db.prepare('DELETE FROM broker_events WHERE seq = ?')
  const all = db.prepare('SELECT seq, broker, triggers, head, body FROM broker_events ORDER BY seq')

  return {
    add: stored => {
      const { seq, broker, event, left } = stored
      return commit(() => insert.run(seq, broker, keysOf(left), headOf(stored), event.body))
    },
    progress: ({ seq, left }) => commit(() => (left.size === 0 ? remove.run(seq) : update.run(keysOf(left), seq))),
    restore: () => all.all().map(row => toStored(row as unknown as Row))
  }
}

interface Row {
  seq: number
  broker: string
  triggers: string
  head: string
  body: Uint8Array
}

export interface Head {
  attributes: Event['attributes']
  passed: Headers
  ttl: number
}

const keysOf = (left: Set<string>): string => JSON.stringify([...left])
export const headOf = ({ event, passed, ttl }: Stored): string =>
  JSON.stringify({ attributes: event.attributes, passed, ttl } satisfies Head)

function toStored({ seq, broker, triggers, head, body }: Row): Stored {
  const { attributes, passed, ttl } = JSON.parse(head) as Head
  return {
    seq,
    broker,
    event: { attributes, body: Buffer.from(body) },
    passed,
    ttl,
    left: new Set(JSON.parse(triggers) as string[])
  }
}
