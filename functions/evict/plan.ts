// Which moves to start now: as many as the limits leave room for, in the right order (EV-15, EV-16). Pure.
import type { Server } from 'openstack-sdk-lite'
import { isMoving, isQueued, type MoveRecord } from './records.ts'
import type { Entry, Options, Peer, Seen } from './seen.ts'

export interface Candidate {
  server: Server
  how: 'live' | 'cold' | 'evacuate'
  entry: Entry
  /** Nova found no host for it when last asked */
  noCapacity: boolean
}

export interface Start {
  server: string
  how: Candidate['how']
  target: string | undefined
  probe: boolean
}

const words = new Map(Object.entries({ highest: 200, high: 100, normal: 0, medium: 0, low: -100, lowest: -200 }))
const mostPriority = 1000

export function priorityOf({ metadata }: Server, key: string): number {
  const text = metadata[key] ?? ''
  const given = words.get(text.toLowerCase()) ?? (Number(text) || 0) // a tenant writes it
  return Math.max(-mostPriority, Math.min(given, mostPriority))
}

const ramOf = ({ flavor }: Server): number => flavor?.ramMiB ?? 0

/** Server metadata, then the wanted order, then age; the id makes it the same in every process. */
export function inOrder(
  candidates: readonly Candidate[],
  order: 'priority' | 'smallestFirst' | 'largestFirst',
  key: string
): Candidate[] {
  const bySize = order === 'largestFirst' ? -1 : 1
  return candidates.toSorted(
    ({ server: a }, { server: b }) =>
      priorityOf(b, key) - priorityOf(a, key) ||
      (ramOf(a) - ramOf(b)) * bySize ||
      (a.created ?? '').localeCompare(b.created ?? '') ||
      a.id.localeCompare(b.id)
  )
}

export interface Traffic {
  /** moves under way from this host: those that Nova knows, and those that were asked for and may yet show */
  moving: readonly { server: string; target: string | undefined }[]
  queued: number
}

export function traffic(records: readonly MoveRecord[], host: string, asked: readonly string[]): Traffic {
  const known = records.filter(record => record.source === host && isMoving(record))
  const servers = new Set(known.map(({ server }) => server))
  const unseen = asked.filter(id => !servers.has(id)).map(server => ({ server, target: undefined }))
  return {
    moving: [...known.map(({ server, target }) => ({ server, target: target ?? undefined })), ...unseen],
    queued: known.filter(isQueued).length
  }
}

const evacuationLimits = { host: 8, region: 32 } // HA-36

/** How many may be started now, and what stands in the way of more. */
export function room(seen: Seen, { moving, queued }: Traffic, options: Options): { free: number; limit: string } {
  const { eviction, hypervisor, peers, targets } = seen
  const dead = eviction.spec.mode === 'evacuate'
  const traits = new Set(hypervisor?.status?.traits)
  const byTrait = options.traitLimits.flatMap(rule => {
    const [trait = '', limit = ''] = rule.split('=')
    return traits.has(trait) ? [Number(limit)] : []
  })
  const most = Math.min(eviction.spec.maxParallel ?? (dead ? evacuationLimits.host : options.maxParallel), ...byTrait)
  const zone = zoneOf(hypervisor)
  const emergency = dead || isEmergency(eviction)
  const total = (some: readonly Peer[]): number => some.reduce((sum, { destinations }) => sum + destinations.length, 0)
  const rooms: Array<[limit: string, free: number]> = [
    ['maxParallel', most - moving.length],
    ['zone', options.zoneLimit * (emergency ? 2 : 1) - total(peers.filter(peer => peer.zone === zone)) - moving.length],
    ['region', (dead ? evacuationLimits.region : options.regionLimit) - total(peers) - moving.length],
    ['destination', destinationRoom(targets, moving, peers, options.destinationLimit)]
  ]
  if (queued > 0) rooms.push(['Nova queues', 0]) // the one in reserve is there already
  else if (seen.novaLimit !== undefined) rooms.push(['Nova queues', seen.novaLimit + 1 - moving.length])
  const [limit, free] = rooms.toSorted(([, a], [, b]) => a - b)[0] ?? ['', 0]
  return { limit, free: Math.max(0, free) }
}

export const zoneOf = (object: { metadata: { labels?: Record<string, string> | undefined } } | undefined): string | undefined =>
  object?.metadata.labels?.['topology.kubernetes.io/zone']

/** Set by `maintenance` when the host is about to shut down (NA-21). */
export const emergencyAnnotation = 'kvm.cloud.sap/emergency'
export const isEmergency = ({ metadata }: Seen['eviction']): boolean => metadata.annotations?.[emergencyAnnotation] === 'true'

/** Nova chooses the destination, so the sum of what all of them may take is the limit. */
function destinationRoom(targets: readonly string[], moving: Traffic['moving'], peers: readonly Peer[], limit: number): number {
  const busy = load(targets, moving, peers)
  const unknown =
    moving.filter(({ target }) => target === undefined).length +
    peers.flatMap(p => p.destinations).filter(d => d === undefined).length
  return [...busy.values()].reduce((sum, count) => sum + Math.max(0, limit - count), 0) - unknown
}

function load(targets: readonly string[], moving: Traffic['moving'], peers: readonly Peer[]): Map<string, number> {
  const busy = new Map(targets.map(target => [target, 0]))
  for (const target of [...moving.map(({ target }) => target), ...peers.flatMap(({ destinations }) => destinations)]) {
    if (target !== undefined && busy.has(target)) busy.set(target, (busy.get(target) ?? 0) + 1)
  }
  return busy
}

/** All that may be started, in order; how many of them is for `room` to say. */
export function plan(candidates: readonly Candidate[], seen: Seen, now: Traffic, options: Options): Start[] {
  const { order = 'priority', targetHosts } = seen.eviction.spec
  const sorted = inOrder(candidates, order, options.priorityKey)
  const firstProbe = sorted.filter(({ noCapacity }) => noCapacity).toSorted((a, b) => ramOf(a.server) - ramOf(b.server))[0]
  // one server asks whether there is room again; the others follow when it has found some
  const startable = sorted.filter(candidate => !candidate.noCapacity || candidate === firstProbe)
  const busy = load(seen.targets, now.moving, seen.peers)
  const targetOf = (): string | undefined => {
    if (!targetHosts?.length) return undefined
    const [target] = [...busy].toSorted(([a, x], [b, y]) => x - y || a.localeCompare(b))[0] ?? []
    if (target !== undefined) busy.set(target, (busy.get(target) ?? 0) + 1)
    return target
  }
  return startable.map(({ server, how, noCapacity }) => ({ server: server.id, how, target: targetOf(), probe: noCapacity }))
}
