// Placement: traits, allocations and where something would fit.
import { placement } from '../http/refusal.ts'
import { type Incoming, isObject, objectIn, param, type Reply, type Route, textOf } from '../http/request.ts'
import { allocate, capacityOf, fits, release } from '../world/placement.ts'
import type { ProviderRecord, World } from '../world/world.ts'

export const allocationRoutes: Route[] = [
  {
    service: 'placement',
    method: 'GET',
    path: '/traits',
    handle(world, { query }) {
      const asked = query.get('name')?.replace(/^in:/, '').split(',')
      const traits = [...world.traits].filter(trait => !asked || asked.includes(trait))
      return { status: 200, body: { traits } }
    }
  },
  {
    service: 'placement',
    method: 'PUT',
    path: '/traits/{trait}',
    handle(world, request) {
      const trait = param(request, 'trait')
      if (!/^CUSTOM_[A-Z0-9_]{1,248}$/.test(trait)) {
        throw placement(
          400,
          'The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix "CUSTOM_"'
        )
      }
      const status = world.traits.has(trait) ? 204 : 201
      world.traits.add(trait)
      return { status }
    }
  },
  {
    service: 'placement',
    method: 'DELETE',
    path: '/traits/{trait}',
    handle(world, request) {
      const trait = param(request, 'trait')
      if ([...world.providers.values()].some(({ traits }) => traits.has(trait)))
        throw placement(409, `The trait ${trait} is in use`)
      if (!world.traits.delete(trait)) throw placement(404, `No such trait ${trait}.`)
      return { status: 204 }
    }
  },
  {
    service: 'placement',
    method: 'GET',
    path: '/allocations/{consumer}',
    handle(world, request) {
      const consumer = world.consumers.get(param(request, 'consumer'))
      if (!consumer) return { status: 200, body: { allocations: {} } } // Placement knows no unknown consumer
      const allocations = [...consumer.allocations].map(([provider, amounts]) => {
        return [provider, { resources: Object.fromEntries(amounts), generation: world.providers.get(provider)?.generation }]
      })
      const { projectId, userId, generation, type } = consumer
      const owner = { project_id: projectId, user_id: userId, consumer_generation: generation, consumer_type: type }
      return { status: 200, body: { allocations: Object.fromEntries(allocations), ...owner } }
    }
  },
  { service: 'placement', method: 'PUT', path: '/allocations/{consumer}', handle: putAllocations },
  {
    service: 'placement',
    method: 'DELETE',
    path: '/allocations/{consumer}',
    handle(world, request) {
      const id = param(request, 'consumer')
      if (!world.consumers.has(id)) throw placement(404, `No allocations for consumer '${id}'`)
      release(world, id)
      return { status: 204 }
    }
  },
  { service: 'placement', method: 'GET', path: '/allocation_candidates', handle: candidates }
]

function putAllocations(world: World, request: Incoming): Reply {
  const wanted = new Map<string, Map<string, number>>()
  for (const [id, given] of Object.entries(objectIn(request.body, 'allocations'))) {
    const provider = world.providers.get(id)
    const amounts = new Map(
      Object.entries(isObject(given) ? objectIn(given, 'resources') : {}).map(([name, amount]) => [name, Number(amount)])
    )
    if (!provider) throw placement(400, `Allocation for resource provider '${id}' that does not exist.`)
    if (!fits(provider, amounts))
      throw placement(409, 'Unable to allocate inventory: The requested amount would exceed the capacity.')
    wanted.set(id, amounts)
  }
  const { project_id, user_id, consumer_type } = request.body
  const who = { projectId: textOf(project_id) ?? '', userId: textOf(user_id) ?? '' }
  allocate(world, param(request, 'consumer'), who, wanted, textOf(consumer_type) ?? 'INSTANCE')
  return { status: 204 }
}

function candidates(world: World, { query }: Incoming): Reply {
  const wanted = new Map(
    (query.get('resources') ?? '').split(',').map(part => [part.split(':')[0] ?? '', Number(part.split(':')[1])] as const)
  )
  const strange = [...wanted.keys()].find(name => ![...world.providers.values()].some(({ inventories }) => inventories.has(name)))
  if (strange !== undefined)
    throw placement(400, `Invalid resource class in resources parameter: No such resource class ${strange}.`)
  const traits = (query.get('required') ?? '').split(',').filter(Boolean)
  const unknown = traits.map(trait => trait.replace('!', '')).filter(trait => !world.traits.has(trait))
  if (unknown.length > 0) throw placement(400, `No such trait(s): ${unknown.join(', ')}.`)
  const suits = (provider: ProviderRecord): boolean =>
    fits(provider, wanted) &&
    traits.every(trait => (trait.startsWith('!') ? !provider.traits.has(trait.slice(1)) : provider.traits.has(trait)))
  const found = [...world.providers.values()].filter(suits).slice(0, Number(query.get('limit') ?? Infinity))
  const resources = Object.fromEntries(wanted)
  return {
    status: 200,
    body: {
      allocation_requests: found.map(({ id }) => ({ allocations: { [id]: { resources } }, mappings: { '': [id] } })),
      provider_summaries: Object.fromEntries(found.map(provider => [provider.id, summary(provider)]))
    }
  }
}

function summary(provider: ProviderRecord): object {
  const resources = [...provider.inventories.keys()].map(name => [
    name,
    { capacity: capacityOf(provider, name), used: provider.used.get(name) ?? 0 }
  ])
  return {
    resources: Object.fromEntries(resources),
    traits: [...provider.traits],
    parent_provider_uuid: null,
    root_provider_uuid: provider.id
  }
}
