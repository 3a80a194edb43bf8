// A host to be drained in the fake OpenStack, with time in our hands: the engine's passes run against it without Kubernetes in between.
import { randomUUID } from 'node:crypto'
import { type Cloud, connect } from 'openstack-sdk-lite'
import { createMemory } from '../../../functions/evict/memory.ts'
import { pass, type PassDeps, type Passed } from '../../../functions/evict/pass.ts'
import type { Options, Peer, Status } from '../../../functions/evict/seen.ts'
import { withFacts } from '../../../functions/evict/together.ts'
import {
  type FakeOpenStack,
  type FakeOptions,
  type ManualClock,
  manualClock,
  startOpenStack
} from '../../../shared/local/openstack/index.ts'
import { createListings } from '../../../shared/openstack/listings.ts'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { passwordOf } from '../../openstack-sdk-lite/fake.ts'
import { options } from './options.ts'

export interface Drain {
  fake: FakeOpenStack
  cloud: Cloud
  clock: ManualClock
  eviction: Eviction
  hypervisor: Hypervisor
  /** other hosts of the fleet, as Kubernetes has them */
  others: Hypervisor[]
  deps: PassDeps
  /** one pass; its status is stored unless `lose` says that the process died before it could be written; `meanwhile` happens before that */
  pass(more?: { lose?: boolean; peers?: Peer[]; deps?: PassDeps; meanwhile?: () => Promise<unknown> }): Promise<Passed>
  /** another process: nothing remembered */
  newProcess(): PassDeps
  entry(id: string): NonNullable<Status['instances']>[number] | undefined
  /** passes and time until there is a verdict, or the given time is over */
  run(limitMs?: number): Promise<Status>
  close(): Promise<void>
}

/** As the engine writes: what another process wrote since `read` stands, but for what this one did. */
export const asWritten = (now: Status | undefined, read: Status | undefined, { status, acted }: Passed): Status =>
  now === read ? status : withFacts(now ?? {}, status, acted)

export const quiet = { info() {}, warn() {} }

export async function drain(
  spec: Partial<Eviction['spec']> = {},
  given: FakeOptions & { options?: Partial<Options> } = {}
): Promise<Drain> {
  const clock = manualClock(Math.floor(Date.now() / 1000) * 1000) // the client judges its token by the real clock
  const fake = await startOpenStack({ hosts: ['hv1', 'hv2', 'hv3'], clock, ...given })
  const cloud = await connect({
    ...passwordOf(fake),
    retry: { repeats: 0, firstWaitMs: 0, factor: 1, longestWaitMs: 0, jitter: 0 },
    breaker: { failures: 1e9, pauseMs: 0 },
    rate: { perSecond: 1e6, burst: 1e6 }
  })
  const hypervisor = {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata: { name: 'hv1', labels: { 'topology.kubernetes.io/zone': 'nova' } },
    spec: {},
    status: { serviceId: fake.host('hv1').serviceId, hypervisorId: fake.host('hv1').id, nova: { host: 'hv1' } }
  } as unknown as Hypervisor
  const eviction: Eviction = {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Eviction',
    metadata: { name: 'hv1', uid: randomUUID(), generation: 1, creationTimestamp: new Date(clock.now()).toISOString() },
    spec: { hypervisor: 'hv1', reason: 'new fans', ...spec }
  }
  const kube = {
    find: async () => drained.hypervisor,
    list: async () => ({ items: [drained.hypervisor, ...drained.others] })
  } as unknown as PassDeps['kube']
  const newProcess = (): PassDeps => ({
    kube,
    cloud,
    listings: createListings(cloud, { now: () => clock.now() }),
    memory: createMemory(),
    hostForms: [],
    clock: () => new Date(clock.now()),
    log: quiet,
    options: { ...options, ...given.options },
    observe: false,
    claim: async () => true
  })
  const drained: Drain = {
    fake,
    cloud,
    clock,
    eviction,
    hypervisor,
    others: [],
    deps: newProcess(),
    newProcess,
    async pass({ lose = false, peers = [], deps = drained.deps, meanwhile } = {}) {
      let read = drained.eviction.status
      const store = (status: Status): void => {
        read = JSON.parse(JSON.stringify(status)) as Status
        drained.eviction = { ...drained.eviction, status: read }
      }
      const claim = async (status: Status): Promise<boolean> => {
        if (drained.eviction.status !== read) return false
        store(status)
        return true
      }
      const passed = await pass(structuredClone(drained.eviction), peers, { ...deps, claim })
      await meanwhile?.()
      if (!lose && !passed.superseded) store(asWritten(drained.eviction.status, read, passed))
      return passed
    },
    entry: id => drained.eviction.status?.instances?.find(entry => entry.id === id),
    async run(limitMs = 3_600_000) {
      const untilMs = clock.now() + limitMs
      for (;;) {
        const { nextCheckMs, status } = await drained.pass()
        if (status.verdict !== undefined || clock.now() >= untilMs) return status
        clock.advance(Math.max(1, Math.min(nextCheckMs, 10_000)))
      }
    },
    async close() {
      cloud.close()
      await fake.close()
    }
  }
  return drained
}
