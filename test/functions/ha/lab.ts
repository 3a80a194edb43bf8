// functions/ha as it runs, on the embedded Kubernetes API and the fake OpenStack, with time in our hands. Any number of processes may run it.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { connect as connectCloud } from 'openstack-sdk-lite'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { createEngine, type Engine } from '../../../functions/ha/engine.ts'
import { haMetrics } from '../../../functions/ha/metrics.ts'
import { outline } from '../../../functions/ha/outline.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import { hear } from '../../../functions/ha/reactions.ts'
import { manager } from '../../../functions/ha/scheduling.ts'
import type { Ha } from '../../../functions/ha/seen.ts'
import type { EventKind } from '../../../shared/events/kind.ts'
import { connect, type Kube } from '../../../shared/kube/index.ts'
import { manualClock, startOpenStack, type FakeOpenStack, type ManualClock } from '../../../shared/local/openstack/index.ts'
import { createListings } from '../../../shared/openstack/listings.ts'
import { createLog } from '../../../shared/runtime/log.ts'
import type { Outgoing } from '../../../shared/runtime/emitter.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { embedded } from '../../local/kube-api/embedded.ts'
import { passwordOf } from '../../openstack-sdk-lite/fake.ts'

export interface Lab {
  fake: FakeOpenStack
  admin: Kube
  clock: ManualClock
  told: Outgoing[]
  /** another process */
  process(policy: string, wrap?: (kube: Kube) => Kube): Promise<Engine>
  /** an event of the agent of the host, given to a process */
  tell(engine: Engine, host: string, kind: EventKind, data: Record<string, unknown>, atMs?: number): Promise<void>
  /** what the agent of the host writes: how its domains are */
  domains(host: string, state: (server: string) => string): Promise<void>
  ha(host: string): Promise<Ha>
  /** servers of the host */
  servers(host: string): string[]
  /** hard reboots that Nova was asked for, by server */
  restarts(): string[]
}

/** Time is in our hands: no client may give up by another clock, after which an outage of Nova would be waited for by ours. */
const never = 2 ** 31 - 1
const limits = { timeoutMs: never, connectTimeoutMs: never }

export const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

export async function lab(t: Test, hosts: readonly string[], each: number): Promise<Lab> {
  const clock = manualClock(Math.floor(Date.now() / 1000) * 1000) // the client judges its token by the real clock
  const fake = await startOpenStack({ hosts: [...hosts], clock })
  t.teardown(() => fake.close())
  const folder = join(import.meta.dirname, '..', '..', '..', 'crds')
  const files = (await readdir(folder)).filter(file => file.includes('kvm.cloud.sap') || file.includes('ovs.c5c3.io'))
  const objects = await Promise.all(files.map(async file => parse(await readFile(join(folder, file), 'utf8')) as object))
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ovn-system' } }
  const { kubeconfig } = await embedded(t, { objects: [...objects, namespace] })
  const admin = await connect({ manager: 'hypervisor-agent', kubeconfig, timeoutMs: never })
  t.teardown(() => admin.close())
  const on = new Map(
    hosts.map(host => [host, Array.from({ length: each }, (_, n) => fake.addServer({ name: `${host}-${n}`, host }).id)])
  )
  const told: Outgoing[] = []
  const now = (): Date => new Date(clock.now())

  const it: Lab = {
    fake,
    admin,
    clock,
    told,
    async process(policy, wrap = kube => kube) {
      const parsed = parsePolicy(policy)
      const kube = wrap(await connect({ manager, kubeconfig, timeoutMs: never }))
      const cloud = await connectCloud({ ...passwordOf(fake), ...limits, rate: { perSecond: 1e6, burst: 1e6 } })
      const engine = createEngine({
        kube,
        // as the watch of keepList would have them, which waits by the real clock for what it has not brought yet
        hosts: { all: async () => (await kube.list(Hypervisor, { trim: outline })).items },
        cloud,
        listings: createListings(cloud, { now: () => clock.now(), maxAgeMs: 0 }),
        ovsNamespace: 'ovn-system',
        observe: false,
        extended: true,
        policy: async () => parsed,
        clock: now,
        log: createLog({ name: 'ha', level: process.env['TEST_LOG'] ? 'debug' : 'silent' }),
        emit: async event => void told.push(event),
        measure: haMetrics(new Registry(), now)
      })
      t.teardown(async () => {
        await engine.close()
        kube.close()
        cloud.close()
      })
      return engine
    },
    tell: (engine, host, kind, data, atMs = clock.now()) => {
      const base = { host, at: new Date(atMs).toISOString(), bootId: 'boot-1', epoch: 1, name: 'instance' }
      return engine.hear(host, hear(kind, { ...base, ...data }, trace, parsePolicy('')))
    },
    async domains(host, state) {
      const before = (await admin.find(Hypervisor, host))?.status?.instances ?? []
      const instances = (on.get(host) ?? []).toSorted().map(id => {
        const known = before.find(one => one.id === id)
        const is = state(id)
        const since = (known?.state === is ? known.since : undefined) ?? now().toISOString()
        return { id, name: 'instance', active: is === 'running', state: is, since }
      })
      await admin.applyStatus(Hypervisor, {
        metadata: { name: host },
        status: { instances, numInstances: instances.length, agent: { bootId: 'boot-1' } }
      })
    },
    ha: async host => (await admin.find(Hypervisor, host))?.status?.ha ?? {},
    servers: host => on.get(host) ?? [],
    restarts: () =>
      [...fake.world.instances.values()].flatMap(({ id, actions }) =>
        actions.filter(({ action }) => action === 'reboot').map(() => id)
      )
  }
  const onboarding = await connect({ manager: 'drover-onboarding', kubeconfig, timeoutMs: never })
  for (const host of hosts) {
    await admin.create(Hypervisor, { metadata: { name: host } })
    const serviceId = fake.host(host).serviceId ?? ''
    const settled = {
      type: 'Onboarding',
      status: 'False',
      reason: 'Succeeded',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z'
    } as const
    await onboarding.applyStatus(Hypervisor, {
      metadata: { name: host },
      status: { serviceId, nova: { host }, conditions: [settled] }
    })
    await it.domains(host, () => 'running')
  }
  onboarding.close()
  // Nova's record of a server that has run for long
  for (const instance of fake.world.instances.values())
    instance.actions.push({
      requestId: `req-${instance.id}`,
      action: 'create',
      userId: 'jane',
      projectId: 'p',
      startedMs: clock.now() - 86_400_000,
      updatedMs: clock.now() - 86_400_000,
      message: null,
      steps: []
    })
  return it
}
