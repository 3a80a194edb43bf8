import type { Fleet } from '../fleet.ts'
import { hostIn, hostsOfZone, Undoable } from './find.ts'
import type { Deeds } from './perform.ts'

const nova = 'nova'

/** One fault of Nova at a time: the newer takes the place of the older. */
function setNova(fleet: Fleet, state: 'slow' | 'down', add: () => () => void): void {
  lift(fleet, nova)
  const end = add()
  fleet.nova = state
  fleet.faults.set(nova, () => {
    fleet.nova = 'up'
    end()
  })
}

function lift(fleet: Fleet, name: string): boolean {
  const end = fleet.faults.get(name)
  fleet.faults.delete(name)
  end?.()
  return end !== undefined
}

/** Placement is told that all which is free is reserved; what servers take stays as it is. */
function fill(fleet: Fleet, zone: string): () => void {
  const { world } = fleet.cloud
  const before = hostsOfZone(fleet, zone).flatMap(({ name }) => {
    const provider = world.providers.get(world.hosts.get(name)?.id ?? '')
    return [...(provider?.inventories ?? [])].map(([resource, inventory]) => ({ provider, resource, inventory }))
  })
  const reserved = before.map(({ inventory }) => inventory.reserved)
  for (const { provider, resource, inventory } of before) {
    const used = provider?.used.get(resource) ?? 0
    inventory.reserved = Math.max(inventory.reserved, Math.floor(inventory.total - used / inventory.allocation_ratio))
    if (provider) provider.generation++
  }
  return () => {
    for (const [at, { provider, inventory }] of before.entries()) {
      inventory.reserved = reserved[at] ?? 0
      if (provider) provider.generation++
    }
  }
}

function novaHost(fleet: Fleet, name: string) {
  return fleet.cloud.host(hostIn(fleet, name).name)
}

type Names = 'fill-zone' | 'free-zone' | 'fail-moves' | 'heal-moves' | 'slow-moves' | 'slow-nova' | 'stop-nova' | 'heal-nova'

export const cloudDeeds: Pick<Deeds, Names> = {
  'fill-zone': (fleet, { zone }) => {
    if (fleet.faults.has(zone)) throw new Undoable('conflict', `${zone} is full already`)
    fleet.faults.set(zone, fill(fleet, zone))
    return { did: `${zone} is full` }
  },
  'free-zone': (fleet, { zone }) => {
    hostsOfZone(fleet, zone)
    if (!lift(fleet, zone)) throw new Undoable('conflict', `${zone} was not filled`)
    return { did: `${zone} has room again` }
  },
  'fail-moves': (fleet, { host }) => {
    novaHost(fleet, host).liveMoveFails = true
    return { did: `live moves away from ${host} will fail` }
  },
  'heal-moves': (fleet, { host }) => {
    novaHost(fleet, host).liveMoveFails = false
    lift(fleet, `moves of ${host}`)
    return { did: `live moves away from ${host} will succeed` }
  },
  'slow-moves': (fleet, { host, seconds }) => {
    const moved = novaHost(fleet, host)
    const usual = fleet.faults.has(`moves of ${host}`) ? undefined : moved.liveMoveMs
    moved.liveMoveMs = seconds * 1000
    if (usual !== undefined) fleet.faults.set(`moves of ${host}`, () => (moved.liveMoveMs = usual))
    return { did: `a live move away from ${host} will take ${seconds} s` }
  },
  'slow-nova': (fleet, { seconds }) => {
    setNova(fleet, 'slow', () => fleet.cloud.faults.add({ service: 'compute', effect: { delayMs: seconds * 1000 } }))
    return { did: `Nova takes ${seconds} s for every answer` }
  },
  'stop-nova': fleet => {
    const answer = { status: 503, body: { message: 'Service Unavailable' } }
    setNova(fleet, 'down', () => fleet.cloud.faults.add({ service: 'compute', effect: { answer } }))
    return { did: 'Nova is down' }
  },
  'heal-nova': fleet => {
    lift(fleet, nova)
    return { did: 'Nova answers' }
  }
}
