// What one pass sees of a host that is to be emptied, as the pure parts read it: disabled, up, with one host to go to and no server.
import type { ComputeService } from 'openstack-sdk-lite'
import type { Scene } from '../../../functions/evict/judge.ts'
import type { Peer, Seen, Status } from '../../../functions/evict/seen.ts'
import type { Step } from '../../../functions/evict/step.ts'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { ago, now } from './server.ts'

type HostStatus = NonNullable<Hypervisor['status']>

export const service = (more: Partial<ComputeService> = {}): ComputeService => ({
  id: 'service-1',
  host: 'hv1',
  binary: 'nova-compute',
  zone: 'a',
  status: 'disabled',
  state: 'up',
  forcedDown: false,
  disabledReason: 'new fans',
  updated: ago(0),
  ...more
})

/** A host that Nova has never known. */
export const unregistered = (status: Partial<HostStatus> = {}, spec: object = {}): Hypervisor =>
  ({ metadata: { name: 'hv1', labels: { 'topology.kubernetes.io/zone': 'a' } }, spec, status }) as unknown as Hypervisor

export const hypervisor = (status: Partial<HostStatus> = {}, spec: object = {}): Hypervisor =>
  unregistered({ hypervisorId: 'hv-id', serviceId: 'service-1', nova: { host: 'hv1' }, ...status }, spec)

export const eviction = (
  spec: Partial<Eviction['spec']> = {},
  status?: Status,
  metadata: Partial<Eviction['metadata']> = {}
): Eviction => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata: { name: 'e', generation: 2, creationTimestamp: ago(10), ...metadata },
  spec: { hypervisor: 'hv1', reason: 'new fans', ...spec },
  ...(status && { status })
})

export const seen = (more: Partial<Seen> = {}): Seen => ({
  eviction: eviction(),
  hypervisor: hypervisor(),
  peers: [],
  host: 'hv1',
  service: service(),
  alike: [],
  targets: ['hv2'],
  servers: [],
  records: [],
  dead: [],
  left: new Map(),
  words: new Map(),
  nearlyDone: new Set(),
  stalled: new Set(),
  copied: new Map(),
  novaLimit: undefined,
  ...more
})

/** Another Eviction of the same host, a little older. */
export const peer = (more: Partial<Peer> = {}): Peer => ({
  name: 'd',
  hypervisor: 'hv1',
  mode: 'drain',
  created: ago(11),
  zone: 'a',
  destinations: [],
  ...more
})

export const place: Scene = { host: 'hv1', nowMs: now, sinceMs: 0, lastSuccessMs: 0, lastFullMs: 0 }

export const step = (more: Partial<Step> = {}): Step => ({
  phase: 'Preflight',
  anew: false,
  startedMs: now,
  preflight: { checks: [], rescued: false },
  incoming: [],
  judged: [],
  calls: [],
  starts: [],
  free: 0,
  moving: [],
  nextCheckMs: 30_000,
  ...more
})
