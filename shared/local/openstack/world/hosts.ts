// Hosts: how they come and go, whether they count as up, and which of them may take a server.
import { capacityOf, fits, needs, setTrait, takeBack } from './placement.ts'
import type { Host, Instance, InventoryRecord, World } from './world.ts'

export type NewHost = { name: string } & Partial<
  Pick<Host, 'id' | 'hypervisorHostname' | 'status' | 'disabledReason' | 'capacity' | 'liveMoveMs' | 'liveMoveLimit'>
>

export function addHost(world: World, given: NewHost): Host {
  const host: Host = {
    hypervisorHostname: given.name,
    id: world.newId(),
    serviceId: world.newId(),
    alive: true,
    status: 'enabled',
    disabledReason: null,
    forcedDown: false,
    updatedMs: world.clock.now(),
    capacity: { VCPU: 1000, MEMORY_MB: 800_000, DISK_GB: 600_000 },
    liveMoveMs: 100,
    liveMoveFails: false,
    liveMoveLimit: 0,
    ...given
  }
  world.hosts.set(host.name, host)
  addProvider(world, host)
  return host
}

function addProvider(world: World, host: Host): void {
  const inventories = new Map(Object.entries(host.capacity).map(([name, total]) => [name, inventory(name, total)]))
  const traits = new Set(['COMPUTE_NODE', 'COMPUTE_TRUSTED_CERTS', 'COMPUTE_VOLUME_EXTEND'])
  world.providers.set(host.id, {
    id: host.id,
    name: host.hypervisorHostname,
    generation: 2,
    traits,
    inventories,
    used: new Map()
  })
  setTrait(world, host.id, 'COMPUTE_STATUS_DISABLED', host.status === 'disabled')
}

const ratios: Readonly<Record<string, number>> = { VCPU: 16, MEMORY_MB: 1.5, DISK_GB: 1 }
const inventory = (name: string, total: number): InventoryRecord => ({
  total,
  reserved: name === 'MEMORY_MB' ? Math.min(512, total) : 0,
  min_unit: 1,
  max_unit: total,
  step_size: 1,
  allocation_ratio: ratios[name] ?? 1
})

export const isUp = (host: Host): boolean => host.alive && !host.forcedDown
export const serversOn = (world: World, host: string): Instance[] =>
  [...world.instances.values()].filter(instance => instance.host === host)

export const zoneOf = (world: World, host: string): string =>
  world.aggregates.find(({ hosts, metadata }) => hosts.includes(host) && metadata['availability_zone'])?.metadata[
    'availability_zone'
  ] ?? 'nova'

export function setStatus(world: World, host: Host, status: Host['status'], reason: string | null): void {
  host.status = status
  host.disabledReason = status === 'disabled' ? reason : null
  host.updatedMs = world.clock.now()
  setTrait(world, host.id, 'COMPUTE_STATUS_DISABLED', status === 'disabled')
}

/** The agent starts: guests that were evacuated meanwhile are cleaned up, and their records end. */
export function startAgent(world: World, host: Host): void {
  host.alive = true
  host.updatedMs = world.clock.now()
  host.serviceId ??= world.newId()
  if (!world.providers.has(host.id)) addProvider(world, host)
  for (const record of world.migrations) {
    if (record.type !== 'evacuation' || record.source !== host.name || record.status !== 'done') continue
    record.status = 'completed'
    takeBack(world, record.instance.id, host.id)
  }
}

/** What DELETE /os-services does: service, hypervisor and provider go. An agent that still runs makes a provider anew. */
export function forget(world: World, host: Host): void {
  host.serviceId = null
  for (const consumer of world.consumers.keys()) takeBack(world, consumer, host.id)
  world.providers.delete(host.id)
  for (const aggregate of world.aggregates) aggregate.hosts = aggregate.hosts.filter(name => name !== host.name)
  world.clock.after(world.pace.audit, () => {
    if (host.alive && !world.providers.has(host.id)) addProvider(world, host)
  })
}

/** Who may take the server: enabled, up, in its zone, with its traits and with room; the emptiest first. */
export function chooseHost(world: World, instance: Instance, wanted: string | null): Host | null {
  const candidates = [...world.hosts.values()].filter(host => {
    const provider = world.providers.get(host.id)
    return (
      host.serviceId !== null &&
      host.status === 'enabled' &&
      isUp(host) &&
      host.name !== instance.host &&
      (wanted === null || wanted === host.name) &&
      (instance.zone === null || instance.zone === zoneOf(world, host.name)) &&
      provider !== undefined &&
      instance.flavor.requiredTraits.every(trait => provider.traits.has(trait)) &&
      fits(provider, needs(instance.flavor))
    )
  })
  return candidates.sort((a, b) => freeMemory(world, b) - freeMemory(world, a))[0] ?? null
}

function freeMemory(world: World, { id }: Host): number {
  const provider = world.providers.get(id)
  return provider ? capacityOf(provider, 'MEMORY_MB') - (provider.used.get('MEMORY_MB') ?? 0) : 0
}
