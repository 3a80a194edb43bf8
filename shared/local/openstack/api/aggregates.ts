// Nova: host aggregates. A host may be in many, but all that name an availability zone must name the same.
import { nova } from '../http/refusal.ts'
import { iso, isObject, objectIn, param, type Route, textOf } from '../http/request.ts'
import { type Schema, validate } from '../http/schema.ts'
import type { AggregateRecord, World } from '../world/world.ts'

export function addAggregate(world: World, name: string, zone: string | null = null, hosts: string[] = []): AggregateRecord {
  const metadata: Record<string, string> = zone === null ? {} : { availability_zone: zone }
  const record = { id: ++world.counters.aggregate, uuid: world.newId(), name, hosts, metadata, createdMs: world.clock.now() }
  world.aggregates.push(record)
  return record
}

const text: Schema = { type: ['string'], minLength: 1, maxLength: 255 }
const only = (name: string, properties: Record<string, Schema>, required: string[]): Schema => ({
  properties: { [name]: { properties, required } },
  required: [name]
})
const create = only('aggregate', { name: text, availability_zone: { ...text, type: ['string', 'null'] } }, ['name'])
const actions: Readonly<Record<string, Schema>> = {
  add_host: only('add_host', { host: text }, ['host']),
  remove_host: only('remove_host', { host: text }, ['host']),
  set_metadata: only('set_metadata', { metadata: { type: ['object'] } }, ['metadata'])
}

export const aggregateRoutes: Route[] = [
  {
    service: 'compute',
    method: 'GET',
    path: '/os-aggregates',
    handle: world => ({ status: 200, body: { aggregates: world.aggregates.map(show) } })
  },
  {
    service: 'compute',
    method: 'POST',
    path: '/os-aggregates',
    handle(world, { body }) {
      validate(create, body)
      const wanted = objectIn(body, 'aggregate')
      const name = textOf(wanted['name']) ?? ''
      if (world.aggregates.some(aggregate => aggregate.name === name)) throw nova(409, `Aggregate ${name} already exists.`)
      const { hosts: _hosts, metadata: _metadata, ...made } = show(addAggregate(world, name, textOf(wanted['availability_zone'])))
      return { status: 200, body: { aggregate: made } } // as Nova does: without both
    }
  },
  {
    service: 'compute',
    method: 'DELETE',
    path: '/os-aggregates/{aggregate}',
    handle(world, request) {
      const aggregate = find(world, param(request, 'aggregate'))
      if (aggregate.hosts.length > 0)
        throw nova(400, `Cannot remove host from aggregate ${aggregate.id}. Reason: Host aggregate is not empty.`)
      world.aggregates = world.aggregates.filter(other => other !== aggregate)
      return { status: 200 }
    }
  },
  {
    service: 'compute',
    method: 'POST',
    path: '/os-aggregates/{aggregate}/action',
    handle(world, request) {
      const [name = ''] = Object.keys(request.body)
      const schema = actions[name]
      if (!schema) throw nova(400, `There is no such action: ${name}`)
      validate(schema, request.body)
      const aggregate = find(world, param(request, 'aggregate'))
      const { add_host: add, remove_host: remove, set_metadata: set } = request.body
      if (isObject(add)) addTo(world, aggregate, textOf(add['host']) ?? '')
      else if (isObject(remove)) removeFrom(world, aggregate, textOf(remove['host']) ?? '')
      else if (isObject(set)) setMetadata(aggregate, objectIn(set, 'metadata'))
      return { status: 200, body: { aggregate: show(aggregate) } }
    }
  }
]

function find(world: World, id: string): AggregateRecord {
  const found = world.aggregates.find(aggregate => String(aggregate.id) === id)
  if (!found) throw nova(404, `Aggregate ${id} could not be found.`)
  return found
}

function addTo(world: World, aggregate: AggregateRecord, name: string): void {
  const host = world.hosts.get(name)
  if (!host?.serviceId) throw nova(404, `Compute host ${name} could not be found.`)
  if (aggregate.hosts.includes(name)) throw nova(409, `Aggregate ${aggregate.id} already has host ${name}.`)
  const zone = aggregate.metadata['availability_zone']
  const others = world.aggregates
    .filter(({ hosts }) => hosts.includes(name))
    .flatMap(({ metadata }) => metadata['availability_zone'] ?? [])
  if (zone && others.some(other => other !== zone)) {
    throw nova(
      409,
      `Cannot add host to aggregate ${aggregate.id}. Reason: One or more hosts already in availability zone(s) ['${others[0]}'].`
    )
  }
  aggregate.hosts.push(name)
  mirror(world, host.id)
}

function removeFrom(world: World, aggregate: AggregateRecord, name: string): void {
  if (!aggregate.hosts.includes(name)) throw nova(404, `Cannot remove host ${name} in aggregate ${aggregate.id}`)
  aggregate.hosts = aggregate.hosts.filter(other => other !== name)
  const host = world.hosts.get(name)
  if (host) mirror(world, host.id)
}

/** Nova tells Placement of the change, which raises the provider's generation under everybody's feet. */
function mirror(world: World, provider: string): void {
  const found = world.providers.get(provider)
  if (found) found.generation++
}

function setMetadata(aggregate: AggregateRecord, given: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === 'string') aggregate.metadata[key] = value
    else delete aggregate.metadata[key] // null takes a key away
  }
}

const show = ({ id, uuid, name, hosts, metadata, createdMs }: AggregateRecord) => ({
  id,
  uuid,
  name,
  availability_zone: metadata['availability_zone'] ?? null,
  hosts: [...hosts],
  metadata,
  created_at: iso(createdMs),
  updated_at: null,
  deleted: false,
  deleted_at: null
})
