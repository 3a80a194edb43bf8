// Who is on the host, and which moves there are: what every pass reads from Nova.
import type { Cloud, Server } from 'openstack-sdk-lite'
import type { Eviction } from '../../shared/schema/eviction.ts'
import { atMost } from './at-most.ts'
import type { Memory } from './memory.ts'
import { isMoving, type MoveRecord } from './records.ts'
import { skewMs } from './step.ts'
import { whereabouts } from './whereabouts.ts'

export interface Inventory {
  servers: readonly Server[]
  records: readonly MoveRecord[]
  /** read one by one in place of the list, and no longer here */
  moved: ReadonlyMap<string, Server | undefined>
}

const parallel = 8
const listAgeMs = 5000

export async function inventory(
  eviction: Eviction,
  host: string,
  nowMs: number,
  { cloud, memory }: { cloud: Cloud; memory: Memory }
): Promise<Inventory> {
  const short = await patched(eviction, host, nowMs, cloud, memory)
  if (short) return short
  const servers = await cloud.servers.list({ host, allProjects: true })
  // read after the servers: a record that ends in between is then seen as ended, and its server still as here, which only waits
  const records = await cloud.migrations.list({ host, ...sinceWhen(eviction, servers) })
  memory.lists.set(host, { atMs: nowMs, servers, ended: new Set(records.filter(isEnded).map(({ id }) => id)) })
  return { servers, records, moved: new Map() }
}

const isEnded = (record: MoveRecord): boolean => !isMoving(record)

/**
 * In the midst of a drain the list of seconds ago still holds, but for those whose move ended since: they are read one by one, as they would be
 * anyway. Whoever is to be moved is read again before (EV-10), a late arrival is seen by the next list, and an empty host is never a memory (EV-23).
 */
async function patched(
  eviction: Eviction,
  host: string,
  nowMs: number,
  cloud: Cloud,
  { lists }: Memory
): Promise<Inventory | undefined> {
  const known = lists.get(host)
  const ageMs = known ? nowMs - known.atMs : Number.POSITIVE_INFINITY
  if (!known || ageMs < 0 || ageMs >= listAgeMs || eviction.status?.phase !== 'Draining') return undefined
  const records = await cloud.migrations.list({ host, ...sinceWhen(eviction, known.servers) })
  const ended = new Set(records.filter(record => isEnded(record) && !known.ended.has(record.id)).map(({ server }) => server))
  const touched = known.servers.filter(({ id }) => ended.has(id))
  const reread = new Map(await atMost(parallel, touched, async ({ id }) => [id, await whereabouts(id, cloud)] as const))
  const isHere = (server: Server | undefined): server is Server => server?.host === host
  const servers = known.servers.map(server => (reread.has(server.id) ? reread.get(server.id) : server)).filter(isHere)
  const moved = new Map([...reread].filter(([, server]) => !isHere(server)))
  if (servers.length === 0) return undefined
  lists.set(host, { ...known, servers, ended: new Set(records.filter(isEnded).map(({ id }) => id)) })
  return { servers, records, moved }
}

/** All records when it matters that none is missed: at the beginning, and when the host seems empty. Else those that moved since. */
function sinceWhen({ status }: Eviction, servers: readonly Server[]): { changesSince?: string } {
  if (!status?.startedAt || status.phase === 'Preflight' || servers.length === 0) return {}
  return { changesSince: new Date(Date.parse(status.startedAt) - skewMs).toISOString() }
}
