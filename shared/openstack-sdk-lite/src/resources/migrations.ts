// Migration records: of all servers (C13) and of one that is moving (C16, C17, C20).
import { call, nothing, type Send } from '../call.ts'
import { number, numberOrNull, row, type Row, rows, text, textOrNull } from '../decode.ts'
import { collect, decodePage, stream } from '../pages.ts'

export interface Migration {
  id: number
  uuid: string
  server: string
  /** live-migration, migration, resize, evacuation */
  type: string | null
  /** accepted, queued, preparing, running, post-migrating, … then completed, done, confirmed, reverted, cancelled, failed or error */
  status: string
  source: string
  /** null until a host was chosen */
  target: string | null
  created: string
  updated: string | null
}

/** A live move under way, with the bytes that the hypervisor reported. */
export interface RunningMigration {
  id: number
  uuid: string
  server: string
  status: string
  source: string
  target: string | null
  memoryTotal: number | null
  memoryDone: number | null
  memoryLeft: number | null
  created: string
  updated: string | null
}

export const listMigrations = call({
  name: 'migrations.list',
  row: 'C13',
  service: 'compute',
  method: 'GET',
  path: '/os-migrations',
  since: '2.80',
  ok: [200],
  decode: decodePage('migrations', decodeMigration)
})

export const listRunning = call({
  name: 'migrations.running',
  row: 'C17',
  service: 'compute',
  method: 'GET',
  path: '/servers/{server}/migrations',
  since: '2.80',
  ok: [200],
  decode: ({ body }) => rows(row(body), 'migrations').map(decodeRunning)
})

export const abortMigration = call({
  name: 'migrations.abort',
  row: 'C16',
  service: 'compute',
  method: 'DELETE',
  path: '/servers/{server}/migrations/{migration}',
  since: '2.65', // queued and preparing ones too
  ok: [202],
  decode: nothing
})

export const forceComplete = call({
  name: 'migrations.forceComplete',
  row: 'C20',
  service: 'compute',
  method: 'POST',
  path: '/servers/{server}/migrations/{migration}/action',
  since: '2.22',
  ok: [202],
  decode: nothing
})

export interface MigrationFilter {
  /** as source or as target */
  host?: string
  source?: string
  status?: string
  type?: 'live-migration' | 'migration' | 'resize' | 'evacuation'
  server?: string
  changesSince?: string
  pageSize?: number
}

export interface Migrations {
  stream(filter?: MigrationFilter): AsyncGenerator<Migration>
  list(filter?: MigrationFilter): Promise<Migration[]>
  running(server: string): Promise<RunningMigration[]>
  abort(server: string, migration: number): Promise<void>
  forceComplete(server: string, migration: number): Promise<void>
}

export function migrations(send: Send): Migrations {
  const pages = ({
    host,
    source,
    status,
    type,
    server,
    changesSince,
    pageSize
  }: MigrationFilter = {}): AsyncGenerator<Migration> =>
    stream(marker => {
      const query = {
        host,
        source_compute: source,
        status,
        migration_type: type,
        instance_uuid: server,
        'changes-since': changesSince
      }
      return send(listMigrations, {}, { query: { ...query, limit: pageSize, marker } })
    })
  return {
    stream: pages,
    list: filter => collect(pages(filter)),
    running: server => send(listRunning, { server }),
    abort: (server, migration) => send(abortMigration, { server, migration: String(migration) }),
    forceComplete: (server, migration) =>
      send(forceComplete, { server, migration: String(migration) }, { body: { force_complete: null } })
  }
}

function decodeMigration(from: Row): Migration {
  return {
    id: number(from, 'id'),
    uuid: text(from, 'uuid'),
    server: text(from, 'instance_uuid'),
    type: textOrNull(from, 'migration_type'),
    status: text(from, 'status'),
    source: text(from, 'source_compute'),
    target: textOrNull(from, 'dest_compute') || null,
    created: text(from, 'created_at'),
    updated: textOrNull(from, 'updated_at')
  }
}

function decodeRunning(from: Row): RunningMigration {
  return {
    id: number(from, 'id'),
    uuid: text(from, 'uuid'),
    server: text(from, 'server_uuid'),
    status: text(from, 'status'),
    source: text(from, 'source_compute'),
    target: textOrNull(from, 'dest_compute') || null,
    memoryTotal: numberOrNull(from, 'memory_total_bytes'),
    memoryDone: numberOrNull(from, 'memory_processed_bytes'),
    memoryLeft: numberOrNull(from, 'memory_remaining_bytes'),
    created: text(from, 'created_at'),
    updated: textOrNull(from, 'updated_at')
  }
}
