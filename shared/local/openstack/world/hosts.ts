// Hosts: how they come and go, and which of them may take a server.
import { isUp, work } from './agents.ts'
import { capacityOf, fits, needs, setTrait, takeBack } from './placement.ts'
import type { Host, Instance, InventoryRecord, World } from './world.ts'

export type NewHost = { name: string } & Partial<
  Pick<Host, 'id' | 'hypervisorHostname' | 'status' | 'disabledReason' | 'capacity' | 'liveMoveMs' | 'liveMoveLimit'>
>

export function addHost(world: World, given: NewHost): Host {
  const now = world.clock.now()
  const host: Host = {
    hypervisorHostname: given.name,
    id: world.newId(),
    serviceId: world.newId(),
    alive: true,
    run: 0,
    startedMs: now,
    reportedMs: now,
    inbox: [],
    status: 'enabled',
    disabledReason: null,
    forcedDown: false,
    updatedMs: now,
    capacity: { VCPU: 1000, MEMORY_MB: 800_000, DISK_GB: 600_000 },
    liveMoveMs: 100,
    liveMoveFails: false,
    liveMoveLimit: 0,
    traitCallFails: false,
    claimsFail: false,
    movesObeyNobody: false,
    ...given
  }
  world.hosts.set(host.name, host)
  addProvider(world, host)
  return host
}

export function addProvider(world: World, host: Host): void {
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
  syncTrait(world, host)
}

/** What nova-compute does at its start, at each audit, and when the API calls it. */
export const syncTrait = (world: World, { id, status }: Host): void =>
  setTrait(world, id, 'COMPUTE_STATUS_DISABLED', status === 'disabled')

const ratios: Readonly<Record<string, number>> = { VCPU: 16, MEMORY_MB: 1.5, DISK_GB: 1 }
const inventory = (name: string, total: number): InventoryRecord => ({
  total,
  reserved: name === 'MEMORY_MB' ? Math.min(512, total) : 0,
  min_unit: 1,
  max_unit: total,
  step_size: 1,
  allocation_ratio: ratios[name] ?? 1
})

export const serversOn = (world: World, host: string): Instance[] =>
  [...world.instances.values()].filter(instance => instance.host === host)

export const zoneOf = (world: World, host: string): string =>
  world.aggregates.find(({ hosts, metadata }) => hosts.includes(host) && metadata['availability_zone'])?.metadata[
    'availability_zone'
  ] ?? 'nova'

/**
 * The API stores the status, then calls nova-compute for the trait; it answers 200 even when that call is not made (the service is down)
 * or fails (nova/compute/api.py, HostAPI._update_compute_provider_status).
 */
export function setStatus(world: World, host: Host, status: Host['status'], reason: string | null): void {
  host.status = status
  host.disabledReason = status === 'disabled' ? reason : null
  if (!host.alive || !isUp(world, host)) return
  if (host.traitCallFails) work(world, host, world.pace.audit, () => syncTrait(world, host))
  else syncTrait(world, host)
}

/**
 * What DELETE /os-services does: service, mapping and memberships go. The provider goes only if nothing is booked there: Nova takes back
 * what evacuated servers had (records that are `done`) and swallows Placement's 409 about the rest (nova/scheduler/client/report.py,
 * delete_resource_provider). An agent that still runs makes a new provider.
 */
export function forget(world: World, host: Host): void {
  host.serviceId = null
  for (const { type, source, status, instance } of world.migrations)
    if (type === 'evacuation' && source === host.name && status === 'done') takeBack(world, instance.id, host.id)
  const used = world.providers.get(host.id)?.used.values() ?? []
  if ([...used].every(amount => amount === 0)) world.providers.delete(host.id)
  for (const aggregate of world.aggregates) aggregate.hosts = aggregate.hosts.filter(name => name !== host.name)
  work(world, host, world.pace.audit, () => {
    if (!world.providers.has(host.id)) addProvider(world, host)
  })
}

/** Who may take the server: enabled, up, in its zone and beside its group, with its traits and with room; the emptiest first. */
export function chooseHost(
  world: World,
  instance: Instance,
  wanted: string | null,
  tried: ReadonlySet<string> = new Set()
): Host | null {
  const candidates = [...world.hosts.values()].filter(host => {
    const provider = world.providers.get(host.id)
    return (
      host.serviceId !== null &&
      host.status === 'enabled' &&
      isUp(world, host) &&
      host.name !== instance.host &&
      !tried.has(host.name) &&
      (wanted === null || wanted === host.name) &&
      (instance.zone === null || instance.zone === zoneOf(world, host.name)) &&
      suitsGroups(world, instance, host.name) &&
      provider !== undefined &&
      instance.flavor.requiredTraits.every(trait => provider.traits.has(trait)) &&
      fits(provider, needs(instance.flavor))
    )
  })
  return candidates.sort((a, b) => freeMemory(world, b) - freeMemory(world, a))[0] ?? null
}

/** nova/scheduler/filters/affinity_filter.py; the server's own host counts for affinity, which is why such a group cannot be moved. */
function suitsGroups(world: World, { id, groups }: Instance, host: string): boolean {
  return groups.every(group => {
    const policy = world.groups.get(group)?.policy
    const members = [...world.instances.values()].filter(other => other.groups.includes(group))
    const hosts = new Set(members.flatMap(({ host }) => host ?? []))
    if (policy === 'affinity') return hosts.size === 0 || hosts.has(host)
    return policy !== 'anti-affinity' || members.every(member => member.id === id || member.host !== host)
  })
}

/** What nova-compute itself finds at the last moment: no room, or another member that is on its way here (`_validate_instance_group_policy`). */
export function refusesClaim(world: World, host: Host, { id, groups }: Instance): boolean {
  if (host.claimsFail) return true
  const apart = new Set(groups.filter(group => world.groups.get(group)?.policy === 'anti-affinity'))
  const coming = world.migrations.filter(
    ({ source, target, status }) => isOpen(status) && (source === host.name || target === host.name)
  )
  const there = [...serversOn(world, host.name), ...coming.map(({ instance }) => instance)]
  return there.some(other => other.id !== id && other.groups.some(group => apart.has(group)))
}

// nova/db/main/api.py, migration_get_in_progress_by_host_and_node: these and no others are over
const over = new Set(['confirmed', 'reverted', 'error', 'failed', 'completed', 'cancelled', 'done'])
export const isOpen = (status: string): boolean => !over.has(status)

function freeMemory(world: World, { id }: Host): number {
  const provider = world.providers.get(id)
  return provider ? capacityOf(provider, 'MEMORY_MB') - (provider.used.get('MEMORY_MB') ?? 0) : 0
}
