// Everything that one pass must know, from Kubernetes and Nova.
import { type Cloud, type ComputeService, OpenStackError, type Server } from 'openstack-sdk-lite'
import type { Kube } from '../../shared/kube/index.ts'
import { namesOf } from '../../shared/openstack/host.ts'
import type { Listings } from '../../shared/openstack/listings.ts'
import type { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { atMost } from './at-most.ts'
import { capacityOf } from './capacity.ts'
import { isDead, mayBeDead } from './dead.ts'
import { isNews } from './failure.ts'
import { inventory } from './inventory.ts'
import type { Progress } from './eta.ts'
import { learnLimit, learnStalls, type Memory } from './memory.ts'
import { beganMs, byServer, canAbort, departure, type MoveRecord } from './records.ts'
import type { Entry, Peer, Seen } from './seen.ts'
import { skewMs } from './step.ts'
import { whereabouts } from './whereabouts.ts'

export interface Eyes {
  kube: Pick<Kube, 'find' | 'list'>
  cloud: Cloud
  listings: Listings
  memory: Memory
  hostForms: readonly string[]
  /** what the agents say of moves under way, by server */
  progress?: ReadonlyMap<string, Progress>
  /** how many bytes they copied, by server */
  copied?: ReadonlyMap<string, number>
}

const ended = new Set<Entry['state']>(['Done', 'Gone'])
const parallel = 8

export async function look(eviction: Eviction, peers: readonly Peer[], nowMs: number, eyes: Eyes): Promise<Seen> {
  const { kube, cloud, listings, memory, hostForms } = eyes
  const hypervisor = await kube.find(Hypervisor, eviction.spec.hypervisor)
  const services = hypervisor ? await listings.services({ fresh: seemsEmpty(eviction) }) : []
  const service = hypervisor && serviceOf(hypervisor, services, hostForms)
  const host = service?.host
  const nothing = {
    servers: [],
    records: [],
    dead: [],
    left: new Map(),
    words: new Map(),
    nearlyDone: new Set<number>(),
    stalled: new Set<string>(),
    novaLimit: undefined
  }
  const known = {
    eviction,
    hypervisor,
    peers,
    host,
    service,
    copied: eyes.copied ?? new Map<string, number>(),
    alike: hypervisor && !service ? alikeOf(hypervisor, services, hostForms) : [],
    targets: targetsOf(service, services, eviction)
  }
  if (!hypervisor || !host) return { ...known, ...nothing }

  const { servers, records: all } = await inventory(eviction, host, hypervisor.status?.hypervisorId, cloud)
  const { records, dead } = await parted(all, servers, nowMs, cloud)
  const left = await departed(eviction, host, servers, records, nowMs, cloud)
  const words = await wordsOf(eviction, host, servers, records, cloud)
  const nearlyDone = await nearlyDoneOf(eviction, host, records, cloud)
  const capacity = asksForRoom(eviction) ? await capacityOf(eviction, hypervisor, servers, eyes) : undefined
  return {
    ...known,
    servers,
    records,
    dead,
    left,
    words,
    nearlyDone,
    stalled: learnStalls(memory, eyes.progress ?? new Map(), nowMs),
    ...(capacity && { capacity }),
    novaLimit: learnLimit(memory, host, records)
  }
}

/** EV-12a: the records of moves, and those of none. */
async function parted(
  all: readonly MoveRecord[],
  servers: readonly Server[],
  nowMs: number,
  cloud: Cloud
): Promise<{ records: MoveRecord[]; dead: MoveRecord[] }> {
  const old = all.filter(record => mayBeDead(record, nowMs))
  const here = new Map(servers.map(server => [server.id, server]))
  const elsewhere = new Set(old.map(({ server }) => server).filter(id => !here.has(id)))
  const found = await whereabouts(
    [...elsewhere].map(id => ({ id, target: undefined })),
    cloud
  )
  const of = byServer(all)
  const dead = old.filter(record =>
    isDead(record, here.get(record.server) ?? found.get(record.server), of.get(record.server) ?? [], nowMs)
  )
  return { records: all.filter(record => !dead.includes(record)), dead }
}

const beforeTheFirst = new Set(['Preflight', 'Done']) // done: a plan that is now carried out, or one that begins anew

/** Before the first move; later it would tell of the room that our own moves took. */
const asksForRoom = ({ spec, status }: Eviction): boolean =>
  Boolean(spec.dryRun || (spec.requireCapacity && beforeTheFirst.has(status?.phase ?? 'Preflight')))

/** EV-5: with a tenth of its memory left, a move to this host ends sooner than it is given up. */
async function nearlyDoneOf(
  { status }: Eviction,
  host: string,
  records: readonly MoveRecord[],
  { migrations }: Cloud
): Promise<Set<number>> {
  if (status?.phase === 'Draining' || status?.phase === 'Verifying') return new Set()
  const coming = records.filter(record => record.target === host && record.status === 'running' && canAbort(record))
  const found = await atMost(parallel, coming, async ({ id, server }) => {
    try {
      const copy = (await migrations.running(server)).find(running => running.id === id)
      return copy?.memoryTotal && copy.memoryLeft !== null && copy.memoryLeft <= copy.memoryTotal / 10 ? [id] : []
    } catch (err) {
      if (err instanceof OpenStackError) return []
      throw err
    }
  })
  return new Set(found.flat())
}

/** HV-28: by the stored id or by equality of names, never by a part of one. */
function serviceOf(
  hypervisor: Hypervisor,
  services: readonly ComputeService[],
  forms: readonly string[]
): ComputeService | undefined {
  const { serviceId, nova } = hypervisor.status ?? {}
  const byId = serviceId === undefined ? undefined : services.find(({ id }) => id === serviceId)
  if (byId) return byId
  const names = nova?.host === undefined ? namesOf(hypervisor, forms) : [nova.host]
  const found = services.filter(({ host }) => names.includes(host))
  return found.length === 1 ? found[0] : undefined
}

/** HV-28: a part of a name says nothing for sure, and so it is enough for a doubt. */
function alikeOf(hypervisor: Hypervisor, services: readonly ComputeService[], forms: readonly string[]): string[] {
  if (hypervisor.status?.nova?.host !== undefined) return [] // its name is known; that service is gone
  const first = (name: string): string => name.split('.')[0] ?? name
  const names = new Set(namesOf(hypervisor, forms).flatMap(name => [name, first(name)]))
  return services.flatMap(({ host }) => (names.has(host) || names.has(first(host)) ? [host] : []))
}

/** Whether the next look may be the one that calls the host empty: what Nova says of it must not be from before. */
const seemsEmpty = ({ status }: Eviction): boolean => status?.phase === 'Verifying'

function targetsOf(service: ComputeService | undefined, services: readonly ComputeService[], { spec }: Eviction): string[] {
  const able = services.filter(({ host, status, state }) => host !== service?.host && status === 'enabled' && state === 'up')
  const near = able.filter(({ zone }) => zone === service?.zone)
  return (near.length > 0 ? near : able)
    .map(({ host }) => host)
    .filter(host => !spec.targetHosts?.length || spec.targetHosts.includes(host))
    .toSorted()
}

/** Servers that were here, or that left while nobody looked: where each is now (EV-19). */
async function departed(
  eviction: Eviction,
  host: string,
  servers: readonly Server[],
  records: readonly MoveRecord[],
  nowMs: number,
  cloud: Cloud
): Promise<Map<string, Server | undefined>> {
  const { instances = [], startedAt, progress } = eviction.status ?? {}
  const here = new Set(servers.map(({ id }) => id))
  const known = new Map(instances.map(entry => [entry.id, entry.state]))
  const sinceMs = startedAt === undefined ? nowMs : Date.parse(startedAt) - skewMs
  const unheard =
    (progress?.total ?? 0) > instances.length // HV-15: some that ended were dropped, and are not to be counted twice
      ? []
      : records.filter(record => record.source === host && beganMs(record) >= sinceMs && !known.has(record.server))
  const open = instances.filter(({ state }) => !ended.has(state))
  const ids = new Set([...open.map(({ id }) => id), ...unheard.map(({ server }) => server)].filter(id => !here.has(id)))
  const moves = byServer(records)
  const wanted = [...ids].map(id => ({ id, target: departure(moves.get(id) ?? [], host)?.target ?? undefined }))
  return whereabouts(wanted, cloud)
}

/** Nova's own words on each failure that is not accounted for yet. */
async function wordsOf(
  { status }: Eviction,
  host: string,
  servers: readonly Server[],
  records: readonly MoveRecord[],
  cloud: Cloud
): Promise<Map<number, string>> {
  const entries = new Map((status?.instances ?? []).map(entry => [entry.id, entry]))
  const moves = byServer(records)
  const failed = servers.flatMap(({ id, taskState }) => {
    const last = departure(moves.get(id) ?? [], host)
    return last && taskState === null && last.status !== 'cancelled' && isNews(last, entries.get(id)) ? [last] : []
  })
  const told = await atMost(parallel, failed, async last => [last.id, await detailsOf(last, cloud)] as const)
  return new Map(told.flatMap(([id, words]) => (words === undefined ? [] : [[id, words]])))
}

const actionOf: Readonly<Record<string, string>> = {
  'live-migration': 'live-migration',
  migration: 'migrate',
  evacuation: 'evacuate',
  resize: 'resize'
}

/** Undefined when Nova could not be asked: the failure is then judged in a later pass. */
async function detailsOf({ server, type }: MoveRecord, { instanceActions }: Cloud): Promise<string | undefined> {
  try {
    const actions = await instanceActions.list(server)
    const action = actions.find(({ action }) => action === actionOf[type ?? ''])
    if (!action) return ''
    const { steps } = await instanceActions.get(server, action.requestId)
    return steps.find(({ result, details }) => result === 'Error' && details)?.details ?? ''
  } catch (err) {
    if (err instanceof OpenStackError) return undefined
    throw err
  }
}
