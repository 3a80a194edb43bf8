// Resource providers: P1, P2, P5, P6, P7, P10, P12. Nova gives a hypervisor and its provider the same id.
import { type Answer, call, deletedOrAbsent, type Send } from '../call.ts'
import { child, dictionary, number, row, type Row, rows, text, textOrNull, texts } from '../decode.ts'

/** A write with another generation than the provider's is refused with 409: read, decide and write again. */
export interface ProviderTraits {
  generation: number
  traits: string[]
}

export interface Provider {
  id: string
  name: string
  generation: number
  parent: string | null
}

export interface Inventory {
  total: number
  reserved: number
  allocationRatio: number
  minUnit: number
  maxUnit: number
  stepSize: number
}

const provider = { service: 'placement', path: '/resource_providers/{provider}', since: '1.28' } as const
const decodeTraits = ({ body }: Answer): ProviderTraits => {
  const answer = row(body)
  return { generation: number(answer, 'resource_provider_generation'), traits: texts(answer, 'traits') }
}

export const getProvider = call({
  ...provider,
  name: 'resourceProviders.get',
  row: 'P6',
  method: 'GET',
  ok: [200, 404],
  decode: ({ status, body }) => (status === 404 ? undefined : decodeProvider(row(body)))
})

// one answer for a whole fleet, where P1 is one for each host
export const listProviders = call({
  name: 'resourceProviders.having',
  row: 'P12',
  service: 'placement',
  method: 'GET',
  path: '/resource_providers',
  since: '1.18', // "required"
  ok: [200],
  decode: ({ body }) => rows(row(body), 'resource_providers').map(decodeProvider)
})

export const deleteProvider = call({
  ...provider,
  name: 'resourceProviders.delete',
  row: 'P10',
  method: 'DELETE',
  ok: [204, 404],
  decode: deletedOrAbsent
})

const traits = {
  service: 'placement',
  path: '/resource_providers/{provider}/traits',
  since: '1.6',
  ok: [200],
  decode: decodeTraits
} as const
export const getProviderTraits = call({ ...traits, name: 'resourceProviders.traits', row: 'P1', method: 'GET' })
export const putProviderTraits = call({ ...traits, name: 'resourceProviders.setTraits', row: 'P2', method: 'PUT' })

export const getInventories = call({
  name: 'resourceProviders.inventories',
  row: 'P5',
  service: 'placement',
  method: 'GET',
  path: '/resource_providers/{provider}/inventories',
  since: '1.28',
  ok: [200],
  decode: ({ body }) => dictionary(row(body), 'inventories', (from, key) => decodeInventory(child(from, key)))
})

export const getUsages = call({
  name: 'resourceProviders.usages',
  row: 'P5',
  service: 'placement',
  method: 'GET',
  path: '/resource_providers/{provider}/usages',
  since: '1.28',
  ok: [200],
  decode: ({ body }) => dictionary(row(body), 'usages', number)
})

export const getProviderAllocations = call({
  name: 'resourceProviders.allocations',
  row: 'P7',
  service: 'placement',
  method: 'GET',
  path: '/resource_providers/{provider}/allocations',
  since: '1.28',
  ok: [200, 404],
  decode: ({ status, body }) =>
    status === 404 ? {} : dictionary(row(body), 'allocations', (from, key) => dictionary(child(from, key), 'resources', number))
})

export interface ResourceProviders {
  get(provider: string): Promise<Provider | undefined>
  /** all that have each of these traits; 400 when one of them does not exist */
  having(traits: readonly string[]): Promise<Provider[]>
  /** 409 while something is allocated from it */
  delete(provider: string): Promise<'deleted' | 'absent'>
  traits(provider: string): Promise<ProviderTraits>
  /** the whole list; 409 `placement.concurrent_update` for a stale generation, 400 for an unknown trait */
  setTraits(provider: string, wanted: ProviderTraits): Promise<ProviderTraits>
  inventories(provider: string): Promise<Record<string, Inventory>>
  usages(provider: string): Promise<Record<string, number>>
  /** by consumer: what it takes from this provider */
  allocations(provider: string): Promise<Record<string, Record<string, number>>>
}

export function resourceProviders(send: Send): ResourceProviders {
  return {
    get: provider => send(getProvider, { provider }),
    having: traits => send(listProviders, {}, { query: { required: traits.length > 0 ? traits.join(',') : undefined } }),
    delete: provider => send(deleteProvider, { provider }),
    traits: provider => send(getProviderTraits, { provider }),
    setTraits: (provider, { generation, traits }) =>
      send(putProviderTraits, { provider }, { body: { traits, resource_provider_generation: generation } }),
    inventories: provider => send(getInventories, { provider }),
    usages: provider => send(getUsages, { provider }),
    allocations: provider => send(getProviderAllocations, { provider })
  }
}

const decodeProvider = (from: Row): Provider => ({
  id: text(from, 'uuid'),
  name: text(from, 'name'),
  generation: number(from, 'generation'),
  parent: textOrNull(from, 'parent_provider_uuid')
})

const decodeInventory = (from: Row): Inventory => ({
  total: number(from, 'total'),
  reserved: number(from, 'reserved'),
  allocationRatio: number(from, 'allocation_ratio'),
  minUnit: number(from, 'min_unit'),
  maxUnit: number(from, 'max_unit'),
  stepSize: number(from, 'step_size')
})
