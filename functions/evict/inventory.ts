// Who is on the host, and which moves there are: what every pass reads from Nova anew (EV-22).
import { type Cloud, OpenStackError, type Server } from 'openstack-sdk-lite'
import type { Eviction } from '../../shared/schema/eviction.ts'
import { isExcluded } from './excluded.ts'
import type { MoveRecord } from './records.ts'
import { skewMs } from './step.ts'
import { whereabouts } from './whereabouts.ts'

export interface Inventory {
  servers: readonly Server[]
  records: readonly MoveRecord[]
}

export async function inventory(
  eviction: Eviction,
  host: string,
  hypervisorId: string | undefined,
  cloud: Cloud
): Promise<Inventory> {
  const servers = await listed(host, cloud)
  // read after the servers: a record that ends in between is then seen as ended, and its server still as here, which only waits
  const records = await cloud.migrations.list({ host, ...sinceWhen(eviction, servers) })
  return servers.length > 0 ? { servers, records } : { servers: await lookedAgain(host, hypervisorId, cloud), records }
}

const listed = (host: string, { servers }: Cloud): Promise<Server[]> => servers.list({ host, allProjects: true })

/**
 * All records when it matters that none is missed: at the beginning, when nobody is left who is to go, and for a dead host, since Nova counts a
 * record that was only made as not changed since. Else those that moved since.
 */
function sinceWhen({ spec, status }: Eviction, servers: readonly Server[]): { changesSince?: string } {
  const toGo = servers.some(server => !isExcluded(server, spec.exclude ?? []))
  if (!status?.startedAt || status.phase === 'Preflight' || !toGo || spec.mode === 'evacuate') return {}
  return { changesSince: new Date(Date.parse(status.startedAt) - skewMs).toISOString() }
}

/**
 * EV-23: a host that seems empty is looked at a second time in the same pass. A move to it may have ended between the two lists, and a list by host leaves
 * out a cell that does not answer, where the host's own entry (C2) is refused.
 */
async function lookedAgain(host: string, hypervisorId: string | undefined, cloud: Cloud): Promise<readonly Server[]> {
  const own = hypervisorId === undefined ? undefined : await ownEntry(hypervisorId, cloud)
  if (own?.service.host !== host) return listed(host, cloud)
  if (own.servers.length === 0) return []
  const found = await whereabouts(
    own.servers.map(({ id }) => ({ id, target: undefined })),
    cloud
  )
  return [...found.values()].filter(server => server !== undefined).filter(server => server.partial || server.host === host)
}

/** Undefined: an id that Nova no longer knows; the host may have been registered anew (HV-28). */
async function ownEntry(id: string, { hypervisors }: Cloud) {
  try {
    return await hypervisors.withServers(id)
  } catch (err) {
    if (err instanceof OpenStackError && err.status === 404) return undefined
    throw err
  }
}
