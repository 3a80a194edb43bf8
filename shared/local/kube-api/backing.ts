// The store's tables in the state file.
import type { StateStore } from '../state.ts'
import type { KubeObject } from './object.ts'
import type { Backing } from './store.ts'

const tables = `
  CREATE TABLE IF NOT EXISTS kube_objects (
    resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, object TEXT NOT NULL,
    PRIMARY KEY (resource, namespace, name)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS kube_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`

export function sqliteBacking(state: StateStore): Backing {
  state.exec(tables)
  const insert = state.prepare('INSERT OR REPLACE INTO kube_objects (resource, namespace, name, object) VALUES (?, ?, ?, ?)')
  const erase = state.prepare('DELETE FROM kube_objects WHERE resource = ? AND namespace = ? AND name = ?')
  const setRevision = state.prepare("INSERT OR REPLACE INTO kube_facts (name, value) VALUES ('revision', ?)")
  // The revision is written with the object: after a kill no number is given out twice.
  const commit = (change: () => void, revision: number): void => {
    state.exec('BEGIN IMMEDIATE')
    try {
      change()
      setRevision.run(String(revision))
      state.exec('COMMIT')
    } catch (err) {
      state.exec('ROLLBACK')
      throw err
    }
  }
  return {
    load() {
      const rows = state.prepare('SELECT resource, object FROM kube_objects').all()
      const objects = rows.map(row => ({ resource: String(row.resource), object: JSON.parse(String(row.object)) as KubeObject }))
      return { revision: Number(readFact(state, 'revision') ?? 1), objects }
    },
    save(resource, object, revision) {
      const { namespace = '', name } = object.metadata
      commit(() => void insert.run(resource, namespace, name, JSON.stringify(object)), revision)
    },
    remove(resource, object, revision) {
      const { namespace = '', name } = object.metadata
      commit(() => void erase.run(resource, namespace, name), revision)
    }
  }
}

export function readFact(state: StateStore, name: string): string | undefined {
  const row = state.prepare('SELECT value FROM kube_facts WHERE name = ?').get(name)
  return row && String(row.value)
}

export function writeFact(state: StateStore, name: string, value: string): void {
  state.prepare('INSERT OR REPLACE INTO kube_facts (name, value) VALUES (?, ?)').run(name, value)
}
