// ovsdb-server as far as a reader needs it: schemas, monitors, select, echo. Nothing can be written from outside.
import type { Socket } from 'node:net'
import {
  isObject,
  JsonStream,
  parseJson,
  readMessage,
  writeError,
  writeRequest,
  writeResult,
  zeroUuid
} from 'ovsdb-client/server'
import { listenAt, type Listener } from '../listen.ts'
import { encodeChange, encodeRow, type Database } from './database.ts'
import { schemaText } from './schema.ts'

const version = '8.3.1'

export function startOvsdbServer(path: string, databases: readonly Database[]): Promise<Listener> {
  return listenAt(path, socket => serve(socket, databases))
}

function serve(socket: Socket, databases: readonly Database[]): void {
  const stream = new JsonStream()
  const ends: Array<() => void> = []
  const say = (text: string): void => void socket.write(text)
  socket.on('close', () => ends.forEach(end => end()))
  socket.on('data', chunk => {
    try {
      for (const json of stream.push(chunk)) {
        const message = readMessage(parseJson(json))
        if (message.kind !== 'request') continue
        const { id, method, params } = message
        try {
          say(writeResult(id, answer(method, params)))
        } catch (err) {
          say(writeError(id, (err as Error).message))
        }
      }
    } catch {
      socket.destroy() // out of step
    }
  })

  function answer(method: string, params: readonly unknown[]): unknown {
    if (method === 'echo') return params
    if (method === 'set_db_change_aware') return {}
    if (method === 'list_dbs') return databases.map(({ name }) => name)
    if (method === 'get_schema') return schemaOf(find(params[0]))
    if (method === 'monitor_cond_since') return [false, zeroUuid, monitor(find(params[0]), params[1], params[2])]
    if (method === 'transact') return params.slice(1).map(operation => operate(find(params[0]), operation))
    throw new Error('unknown method')
  }

  function find(name: unknown): Database {
    const database = databases.find(one => one.name === name)
    if (!database) throw new Error('unknown database')
    return database
  }

  function monitor(database: Database, id: unknown, wanted: unknown): object {
    if (!isObject(wanted)) throw new Error('syntax error')
    const columns = new Map(Object.entries(wanted).map(([table, request]) => [table, columnsOf(request)]))
    ends.push(
      database.listen(changes => {
        const updates: Record<string, Record<string, object>> = {}
        for (const change of changes) {
          const told = columns.has(change.table) && encodeChange(database, change, columns.get(change.table) ?? [])
          if (told) (updates[change.table] ??= {})[change.id] = told
        }
        if (Object.keys(updates).length > 0) say(writeRequest(null, 'update3', [id, zeroUuid, updates]))
      })
    )
    const initial = [...columns].map(([table, names]) => {
      const rows = [...database.rows(table)].map(([uuid, row]) => [uuid, { initial: encodeRow(database, table, row, names) }])
      return [table, Object.fromEntries(rows)]
    })
    return Object.fromEntries(initial) as object
  }
}

const schemaOf = ({ name, tables }: Database): object => schemaText(name, version, tables)

/** RFC 7047 §4.1.5 allows one request, or a list of them; a client of ours sends one in a list. */
function columnsOf(request: unknown): string[] {
  const one: unknown = Array.isArray(request) ? request[0] : request
  return isObject(one) && Array.isArray(one['columns']) ? (one['columns'] as string[]) : []
}

/** Only reading: a simulated switch is configured by nobody but its simulator. */
function operate(database: Database, operation: unknown): object {
  if (!isObject(operation) || operation['op'] !== 'select')
    return { error: 'not supported', details: 'this switch can only be read' }
  const table = String(operation['table'])
  const columns = (operation['columns'] as string[]).filter(name => name !== '_uuid')
  const where = operation['where'] as unknown[]
  if (where.length > 0) return { rows: [] } // nothing is marked here
  const rows = [...database.rows(table)].map(([id, row]) =>
    Object.assign(encodeRow(database, table, row, columns), { _uuid: ['uuid', id] })
  )
  return { rows }
}
