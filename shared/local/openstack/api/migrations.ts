// Nova: migration records, and the two things that can be done to a live move under way.
import { nova } from '../http/refusal.ts'
import { type Incoming, iso, isoOrNull, pageOf, param, type Route } from '../http/request.ts'
import { beginAction } from '../world/instances.ts'
import { abort, forceComplete } from '../world/live-moves.ts'
import type { MigrationRecord, World } from '../world/world.ts'
import { findInstance } from './servers.ts'

const inProgress = new Set(['queued', 'preparing', 'running', 'post-migrating'])

export const migrationRoutes: Route[] = [
  {
    service: 'compute',
    method: 'GET',
    path: '/os-migrations',
    handle(world, request) {
      const { items, links } = pageOf(selected(world, request.query), ({ uuid }) => uuid, request, '/os-migrations')
      return { status: 200, body: { migrations: items.map(show), ...(links && { migrations_links: links }) } }
    }
  },
  {
    service: 'compute',
    method: 'GET',
    path: '/servers/{server}/migrations',
    handle(world, request) {
      const instance = findInstance(world, param(request, 'server'))
      const moving = world.migrations.filter(
        record => record.instance === instance && record.type === 'live-migration' && inProgress.has(record.status)
      )
      return { status: 200, body: { migrations: moving.map(record => showRunning(world, record)) } }
    }
  },
  {
    service: 'compute',
    method: 'DELETE',
    path: '/servers/{server}/migrations/{migration}',
    handle(world, request) {
      const record = moving(world, request, 'abort live migration')
      beginAction(world, record.instance, 'live_migration_cancel', request.requestId)
      if (!abort(world, record)) throw wrongState(record)
      return { status: 202 }
    }
  },
  {
    service: 'compute',
    method: 'POST',
    path: '/servers/{server}/migrations/{migration}/action',
    handle(world, request) {
      const record = moving(world, request, 'force_complete')
      beginAction(world, record.instance, 'live_migration_force_complete', request.requestId)
      if (!forceComplete(record)) throw wrongState(record)
      return { status: 202 }
    }
  }
]

const wrongState = ({ id, status }: MigrationRecord) =>
  nova(400, `Migration ${id} state of instance is ${status}. Cannot be changed in this state.`)

function selected(world: World, query: URLSearchParams): MigrationRecord[] {
  const [host, source, status, type, server] = ['host', 'source_compute', 'status', 'migration_type', 'instance_uuid'].map(name =>
    query.get(name)
  )
  const since = Date.parse(query.get('changes-since') ?? '')
  return world.migrations.filter(
    record =>
      (!host || record.source === host || record.target === host) &&
      (!source || record.source === source) &&
      (!status || record.status === status) &&
      (!type || record.type === type) &&
      (!server || record.instance.id === server) &&
      (Number.isNaN(since) || (record.updatedMs !== null && record.updatedMs >= since)) // Nova asks for updated_at alone
  )
}

function moving(world: World, request: Incoming, what: string): MigrationRecord {
  const instance = findInstance(world, param(request, 'server'))
  if (instance.taskState !== 'migrating') throw nova(409, `Instance ${instance.id} is in an invalid state for '${what}'`)
  const id = param(request, 'migration')
  const record = world.migrations.find(record => record.instance === instance && String(record.id) === id)
  if (!record) throw nova(404, `Migration ${id} for instance ${instance.id} not found.`)
  return record
}

const places = ({ source, target }: MigrationRecord): object => ({
  source_compute: source,
  source_node: source,
  dest_compute: target,
  dest_node: target,
  dest_host: null
})

function show(record: MigrationRecord): object {
  const { id, uuid, instance, type, status, createdMs, updatedMs } = record
  const dates = { created_at: iso(createdMs), updated_at: isoOrNull(updatedMs) }
  const { projectId: project_id, userId: user_id } = instance
  return { id, uuid, instance_uuid: instance.id, migration_type: type, status, project_id, user_id, ...places(record), ...dates }
}

function showRunning(world: World, record: MigrationRecord): object {
  const { id, uuid, instance, status, createdMs, updatedMs, runningSinceMs } = record
  const total = instance.flavor.ramMiB * 2 ** 20
  const durationMs = Math.max(1, world.hosts.get(record.source)?.liveMoveMs ?? 1)
  const done = runningSinceMs === null ? 0 : Math.floor(total * Math.min(1, (world.clock.now() - runningSinceMs) / durationMs))
  return {
    id,
    uuid,
    server_uuid: instance.id,
    status,
    ...places(record),
    memory_total_bytes: total,
    memory_processed_bytes: done,
    memory_remaining_bytes: total - done,
    disk_total_bytes: 0,
    disk_processed_bytes: 0,
    disk_remaining_bytes: 0,
    created_at: iso(createdMs),
    updated_at: isoOrNull(updatedMs)
  }
}
