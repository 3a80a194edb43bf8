// Placement: resource providers, with the generation that guards every write.
import { placement } from '../http/refusal.ts'
import { type Incoming, isObject, objectIn, param, type Reply, type Route, textOf } from '../http/request.ts'
import type { InventoryRecord, ProviderRecord, World } from '../world/world.ts'

const path = '/resource_providers/{provider}'

export const providerRoutes: Route[] = [
  { service: 'placement', method: 'GET', path, handle: (world, request) => ({ status: 200, body: show(find(world, request)) }) },
  { service: 'placement', method: 'GET', path: '/resource_providers', handle: list },
  { service: 'placement', method: 'POST', path: '/resource_providers', handle: create },
  { service: 'placement', method: 'DELETE', path, handle: remove },
  { service: 'placement', method: 'GET', path: `${path}/traits`, handle: (world, request) => showTraits(find(world, request)) },
  { service: 'placement', method: 'PUT', path: `${path}/traits`, handle: putTraits },
  {
    service: 'placement',
    method: 'GET',
    path: `${path}/inventories`,
    handle: (world, request) => showInventories(find(world, request))
  },
  { service: 'placement', method: 'PUT', path: `${path}/inventories`, handle: putInventories },
  {
    service: 'placement',
    method: 'GET',
    path: `${path}/usages`,
    handle(world, request) {
      const { inventories, used, generation } = find(world, request)
      const usages = Object.fromEntries([...inventories.keys()].map(name => [name, used.get(name) ?? 0]))
      return { status: 200, body: { usages, resource_provider_generation: generation } }
    }
  },
  {
    service: 'placement',
    method: 'GET',
    path: `${path}/allocations`,
    handle(world, request) {
      const { id, generation } = find(world, request)
      const taken = [...world.consumers].flatMap(([consumer, { allocations, generation: consumer_generation }]) => {
        const amounts = allocations.get(id)
        return amounts ? [[consumer, { resources: Object.fromEntries(amounts), consumer_generation }] as const] : []
      })
      return { status: 200, body: { allocations: Object.fromEntries(taken), resource_provider_generation: generation } }
    }
  }
]

function find(world: World, request: Incoming): ProviderRecord {
  const id = param(request, 'provider')
  const found = world.providers.get(id)
  if (!found) throw placement(404, `No resource provider with uuid ${id} found`)
  return found
}

function list(world: World, { query }: Incoming): Reply {
  const required = query.get('required')?.split(',') ?? []
  const unknown = required.filter(trait => !world.traits.has(trait))
  if (unknown.length > 0) throw placement(400, `No such trait(s): ${unknown.join(', ')}.`)
  const found = [...world.providers.values()].filter(({ traits }) => required.every(trait => traits.has(trait)))
  return { status: 200, body: { resource_providers: found.map(show) } }
}

function create(world: World, { body }: Incoming): Reply {
  const id = textOf(body['uuid']) ?? world.newId()
  const provider: ProviderRecord = {
    id,
    name: textOf(body['name']) ?? id,
    generation: 0,
    traits: new Set(),
    inventories: new Map(),
    used: new Map()
  }
  world.providers.set(id, provider)
  return { status: 200, body: show(provider) }
}

function remove(world: World, request: Incoming): Reply {
  const { id, used } = find(world, request)
  if ([...used.values()].some(amount => amount > 0)) {
    throw placement(
      409,
      `Unable to delete resource provider ${id}: Resource provider has allocations.`,
      'placement.resource_provider.inuse'
    )
  }
  world.providers.delete(id)
  return { status: 204 }
}

function putTraits(world: World, request: Incoming): Reply {
  const provider = find(world, request)
  const { traits, resource_provider_generation: generation } = request.body
  const wanted = new Set(Array.isArray(traits) ? traits.map(String) : [])
  const unknown = [...wanted].filter(trait => !world.traits.has(trait))
  if (generation !== provider.generation)
    throw stale("Resource provider's generation already changed. Please update the generation and try again.")
  if (unknown.length > 0) throw placement(400, `No such trait ${unknown.join(', ')}`)
  if (wanted.symmetricDifference(provider.traits).size > 0) {
    provider.traits = wanted
    provider.generation++
  }
  return showTraits(provider)
}

function putInventories(world: World, request: Incoming): Reply {
  const provider = find(world, request)
  if (request.body['resource_provider_generation'] !== provider.generation) throw stale('resource provider generation conflict')
  const wanted = Object.entries(objectIn(request.body, 'inventories'))
  provider.inventories = new Map(wanted.map(([name, given]) => [name, { ...defaults, ...(isObject(given) ? given : {}) }]))
  provider.generation++
  return showInventories(provider)
}

const defaults: InventoryRecord = {
  total: 0,
  reserved: 0,
  min_unit: 1,
  max_unit: 2_147_483_647,
  step_size: 1,
  allocation_ratio: 1
}
const stale = (words: string) => placement(409, words, 'placement.concurrent_update')

const show = ({ id, name, generation }: ProviderRecord): object => ({
  uuid: id,
  name,
  generation,
  parent_provider_uuid: null,
  root_provider_uuid: id,
  links: [{ rel: 'self', href: `/resource_providers/${id}` }]
})

const showTraits = ({ traits, generation }: ProviderRecord): Reply => ({
  status: 200,
  body: { traits: [...traits], resource_provider_generation: generation }
})

const showInventories = ({ inventories, generation }: ProviderRecord): Reply => ({
  status: 200,
  body: { inventories: Object.fromEntries(inventories), resource_provider_generation: generation }
})
