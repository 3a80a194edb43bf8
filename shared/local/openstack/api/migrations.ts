// Nova: migration records, and the two things that can be done to a live move under way.
import { nova } from '../http/refusal.ts'
import { type Incoming, iso, isoOrNull, pageOf, param, type Route, since } from '../http/request.ts'
import { validate } from '../http/schema.ts'
import { beginAction } from '../world/instances.ts'
import { abort, forceComplete } from '../world/live-moves.ts'
import type { Instance, MigrationRecord, World } from '../world/world.ts'
import { actionSchema } from './action-schemas.ts'
import { findInstance } from './servers.ts'

const inProgress = new Set(['queued', 'preparing', 'running', 'post-migrating'])

export const migrationRoutes: Route[] = [
  {
    service: 'compute',
    method: 'GET',
    path: '/os-migrations',
    handle(world, request) {
      const { items, links } = pageOf(selected(world, request.query), ({ uuid }) => uuid, request, '/os-migrations')
      return {
        status: 200,
        body: { migrations: items.map(record => show(record, request)), ...(links && { migrations_links: links }) }
      }
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
      return { status: 200, body: { migrations: moving.map(record => showRunning(world, record, request)) } }
    }
  },
  {
    service: 'compute',
    method: 'DELETE',
    path: '/servers/{server}/migrations/{migration}',
    handle(world, request) {
      const instance = inMove(world, request, 'abort live migration')
      const record = find(world, request, instance, 404)
      const stoppable = request.version >= 65 ? ['queued', 'preparing', 'running'] : ['running']
      if (!stoppable.includes(record.status)) throw wrongState(record, 'abort live migration')
      abort(world, record, beginAction(world, instance, 'live_migration_cancel', request.requestId))
      return { status: 202 }
    }
  },
  {
    service: 'compute',
    method: 'POST',
    path: '/servers/{server}/migrations/{migration}/action',
    handle(world, request) {
      validate(actionSchema('force_complete', request.version), request.body)
      const instance = inMove(world, request, 'force_complete')
      const record = find(world, request, instance, 400)
      if (record.status !== 'running') throw wrongState(record, 'force complete')
      forceComplete(world, record, beginAction(world, instance, 'live_migration_force_complete', request.requestId))
      return { status: 202 }
    }
  }
]

const wrongState = ({ id, instance, status }: MigrationRecord, what: string) =>
  nova(400, `Migration ${id} state of instance ${instance.id} is ${status}. Cannot ${what} while the migration is in this state.`)

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

function inMove(world: World, request: Incoming, what: string): Instance {
  const instance = findInstance(world, param(request, 'server'))
  if (instance.taskState === 'migrating') return instance
  const none = `Instance ${instance.id} is in an invalid state for '${what}'`
  throw nova(
    409,
    instance.taskState ? `Cannot '${what}' instance ${instance.id} while it is in task_state ${instance.taskState}` : none
  )
}

function find(world: World, request: Incoming, instance: Instance, missing: 400 | 404): MigrationRecord {
  const id = param(request, 'migration')
  const record = world.migrations.find(record => record.instance === instance && String(record.id) === id)
  if (!record) throw nova(missing, `Migration ${id} not found for instance ${instance.id}`)
  return record
}

const places = ({ type, source, target }: MigrationRecord): object => ({
  source_compute: source,
  source_node: type === 'live-migration' && target === null ? null : source, // the conductor fills both in when it has a destination
  dest_compute: target,
  dest_node: target,
  dest_host: null
})

function show(record: MigrationRecord, request: Incoming): object {
  const { id, uuid, instance, type, status, createdMs, updatedMs } = record
  const dates = { created_at: iso(createdMs), updated_at: isoOrNull(updatedMs) }
  const { projectId: project_id, userId: user_id } = instance
  return {
    id,
    instance_uuid: instance.id,
    status,
    ...places(record),
    ...dates,
    ...since(request, 23, { migration_type: type }),
    ...since(request, 59, { uuid }),
    ...since(request, 80, { project_id, user_id })
  }
}

function showRunning(world: World, record: MigrationRecord, request: Incoming): object {
  const { id, uuid, instance, status, createdMs, updatedMs, runningSinceMs } = record
  const total = instance.flavor.ramMiB * 2 ** 20
  const durationMs = Math.max(1, world.hosts.get(record.source)?.liveMoveMs ?? 1)
  const done = runningSinceMs === null ? 0 : Math.floor(total * Math.min(1, (world.clock.now() - runningSinceMs) / durationMs))
  return {
    id,
    ...since(request, 59, { uuid }),
    ...since(request, 80, { project_id: instance.projectId, user_id: instance.userId }),
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
