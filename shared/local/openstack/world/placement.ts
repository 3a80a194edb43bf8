// Providers and what is taken from them. As in the real Placement, every change of a provider raises its generation.
import type { Flavor, Person, ProviderRecord, World } from './world.ts'

export const needs = ({ vcpus, ramMiB, diskGiB }: Flavor): Map<string, number> =>
  new Map([
    ['VCPU', vcpus],
    ['MEMORY_MB', ramMiB],
    ['DISK_GB', diskGiB]
  ])

export function capacityOf(provider: ProviderRecord, resource: string): number {
  const inventory = provider.inventories.get(resource)
  return inventory ? Math.floor((inventory.total - inventory.reserved) * inventory.allocation_ratio) : 0
}

export function fits(provider: ProviderRecord, wanted: ReadonlyMap<string, number>): boolean {
  return [...wanted].every(([resource, amount]) => (provider.used.get(resource) ?? 0) + amount <= capacityOf(provider, resource))
}

type Amounts = ReadonlyMap<string, number>

/** Gives a consumer exactly these allocations, taking away what it had. */
export function allocate(world: World, id: string, who: Person, allocations: Map<string, Amounts>, type = 'INSTANCE'): void {
  const before = world.consumers.get(id)
  for (const [provider, amounts] of before?.allocations ?? []) book(world, provider, amounts, -1)
  for (const [provider, amounts] of allocations) book(world, provider, amounts, 1)
  for (const provider of new Set([...(before?.allocations.keys() ?? []), ...allocations.keys()])) bump(world, provider)
  if (allocations.size === 0) world.consumers.delete(id)
  else
    world.consumers.set(id, {
      projectId: who.projectId,
      userId: who.userId,
      type,
      generation: (before?.generation ?? 0) + 1,
      allocations
    })
}

export const release = (world: World, id: string): void => allocate(world, id, { userId: '', projectId: '' }, new Map())

/** What a consumer takes from one provider only. */
export function takeBack(world: World, id: string, provider: string): void {
  const consumer = world.consumers.get(id)
  if (!consumer?.allocations.has(provider)) return
  const left = new Map(consumer.allocations)
  left.delete(provider)
  allocate(world, id, consumer, left, consumer.type)
}

function book(world: World, providerId: string, amounts: Amounts, sign: 1 | -1): void {
  const used = world.providers.get(providerId)?.used
  if (used) for (const [resource, amount] of amounts) used.set(resource, (used.get(resource) ?? 0) + sign * amount)
}

function bump(world: World, provider: string): void {
  const found = world.providers.get(provider)
  if (found) found.generation++
}

export function setTrait(world: World, providerId: string, trait: string, present: boolean): void {
  const provider = world.providers.get(providerId)
  if (!provider || provider.traits.has(trait) === present) return
  if (present) provider.traits.add(trait)
  else provider.traits.delete(trait)
  provider.generation++
}
