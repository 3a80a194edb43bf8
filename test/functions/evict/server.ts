// A server, its migration record and what is known around it, as `classify` reads them.
import type { Server } from 'openstack-sdk-lite'
import { cautious, type Action, type Circumstances } from '../../../functions/evict/classify.ts'
import type { MoveRecord } from '../../../functions/evict/records.ts'

export const now = Date.parse('2026-11-16T12:00:00Z')
export const minute = 60_000
export const agoMs = (ms: number): string => new Date(now - ms).toISOString()
export const ago = (minutes: number): string => agoMs(minutes * minute)

export function server(more: Partial<Server> = {}): Server {
  const none = {
    hypervisorHostname: null,
    instanceName: null,
    zone: null,
    projectId: null,
    userId: null,
    imageId: null,
    hostStatus: null,
    fault: null,
    locked: false
  }
  const lists = { metadata: {}, tags: [], groups: [], volumes: [] }
  const times = { created: ago(1000), updated: ago(2), launchedAt: ago(1000) }
  return {
    id: 's',
    name: 's',
    status: 'ACTIVE',
    vmState: 'active',
    taskState: null,
    powerState: 1,
    host: 'hv1',
    flavor: null,
    partial: false,
    ...none,
    ...lists,
    ...times,
    ...more
  }
}
export const around = (more: Partial<Circumstances> = {}): Circumstances => ({
  host: 'hv1',
  nowMs: now,
  strategy: 'auto',
  policy: cautious,
  excluded: false,
  domain: undefined,
  records: [],
  ...more
})
export const record = (more: Partial<MoveRecord> = {}): MoveRecord => ({
  id: 1,
  uuid: 'u',
  server: 's',
  type: 'live-migration',
  status: 'running',
  source: 'hv1',
  target: 'hv2',
  created: ago(3),
  updated: ago(1),
  ...more
})

export type Case = [name: string, server: Server | undefined, circumstances: Partial<Circumstances>, then: Action]

export const wait = (reason: Extract<Action, { do: 'wait' }>['reason'], message: string): Action => ({
  do: 'wait',
  reason,
  message
})
export const blocked = (reason: Extract<Action, { do: 'blocked' }>['reason'], message: string): Action => ({
  do: 'blocked',
  reason,
  message
})
export const running = record()
