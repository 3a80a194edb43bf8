// What one server is judged from, for the pure tests of the check and the ladder: a crash at `startMs`, looked at 3 s later.
import type { InstanceAction } from 'openstack-sdk-lite'
import type { Facts } from '../../../functions/ha/check.ts'
import type { Incident } from '../../../functions/ha/seen.ts'
import { drover, evidence, iso, serverId, startMs } from './fixtures.ts'

export const noted: Incident = {
  decisionId: 'd',
  server: serverId(),
  kind: 'crashed',
  state: 'Checking',
  event: 'stopped/failed',
  eventAt: iso(startMs),
  noticedAt: iso(startMs + 2000),
  count: 1
}

export const factsOf = (actions: InstanceAction[] = [], more: Partial<Facts> = {}): Facts => ({
  incident: noted,
  host: 'host-1',
  domain: undefined,
  domainKnown: true,
  shuttingDown: false,
  evidence: evidence({}, actions),
  policy: drover,
  nowMs: startMs + 3000,
  ...more
})
