// Who is on the host, and which moves there are: what every pass reads from Nova anew (EV-22).
import type { Cloud, Server } from 'openstack-sdk-lite'
import type { Eviction } from '../../shared/schema/eviction.ts'
import type { MoveRecord } from './records.ts'
import { skewMs } from './step.ts'

export interface Inventory {
  servers: readonly Server[]
  records: readonly MoveRecord[]
}

export async function inventory(eviction: Eviction, host: string, cloud: Cloud): Promise<Inventory> {
  const servers = await cloud.servers.list({ host, allProjects: true })
  // read after the servers: a record that ends in between is then seen as ended, and its server still as here, which only waits
  return { servers, records: await cloud.migrations.list({ host, ...sinceWhen(eviction, servers) }) }
}

/** All records when it matters that none is missed: at the beginning, and when the host seems empty. Else those that moved since. */
function sinceWhen({ status }: Eviction, servers: readonly Server[]): { changesSince?: string } {
  if (!status?.startedAt || status.phase === 'Preflight' || servers.length === 0) return {}
  return { changesSince: new Date(Date.parse(status.startedAt) - skewMs).toISOString() }
}
