// Several processes look after one Eviction, on a Kubernetes API that refuses a write of an old version: EV-10, EV-23.
import { setTimeout as pause } from 'node:timers/promises'
import { type Cloud, connect as connectCloud } from 'openstack-sdk-lite'
import t from 'tap'
import { createEngine, type Engine } from '../../../functions/evict/engine.ts'
import { createMemory } from '../../../functions/evict/memory.ts'
import type { Status } from '../../../functions/evict/seen.ts'
import { withFacts } from '../../../functions/evict/together.ts'
import { connect, type Kube } from '../../../shared/kube/index.ts'
import { type FakeOpenStack, startOpenStack } from '../../../shared/local/openstack/index.ts'
import { createListings } from '../../../shared/openstack/listings.ts'
import type { Platform } from '../../../shared/runtime/function.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { embedded } from '../../local/kube-api/embedded.ts'
import { passwordOf } from '../../openstack-sdk-lite/fake.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { readCrds } from './crds.ts'
import { options } from './options.ts'
import { quiet } from './world.ts'

const { kubeconfig } = await embedded(t, { objects: await readCrds() })
const kube = await connect({ manager: 'drover-evict', kubeconfig })
t.teardown(() => kube.close())

interface Scene {
  fake: FakeOpenStack
  cloud: Cloud
  /** another process of the function */
  process: (more?: { kube?: Kube; cloud?: Cloud; verifyGapMs?: number }) => Engine
  status: () => Promise<Status>
}

async function scene(t: { teardown(close: () => unknown): void }, name: string, spec: object = {}): Promise<Scene> {
  const pace = { schedule: 50, evacuate: 300, settle: 10 }
  const fake = await startOpenStack({ hosts: ['hv1', 'hv2', 'hv3'], pace })
  t.teardown(() => fake.close())
  const cloud = await connectCloud({ ...passwordOf(fake), rate: { perSecond: 1e6, burst: 1e6 } })
  t.teardown(() => cloud.close())
  const { serviceId, id } = fake.host('hv1')
  await kube.create(Hypervisor, { metadata: { name } })
  const status = { serviceId: serviceId ?? '', hypervisorId: id, nova: { host: 'hv1' } }
  await kube.applyStatus(Hypervisor, { metadata: { name }, status })
  await kube.create(Eviction, { metadata: { name }, spec: { hypervisor: name, reason: 'proof', ...spec } })
  return {
    fake,
    cloud,
    process({ verifyGapMs = 0, ...more } = {}) {
      const engine = createEngine({
        kube,
        cloud,
        listings: createListings(cloud, { maxAgeMs: 0 }),
        memory: createMemory(),
        hostForms: [],
        observe: false,
        migrationNamespace: 'monsoon3',
        extended: true,
        clock: () => new Date(),
        log: quiet as unknown as Platform['log'],
        emit: async () => {},
        measure() {},
        options: { ...options, settleGapMs: 0, verifyGapMs, destinationLimit: 8 },
        ...more
      })
      t.teardown(() => engine.close())
      return engine
    },
    status: async () => (await kube.find(Eviction, name))?.status ?? {}
  }
}

/** Several processes push on until it has ended; the time limit of the file ends a drain that does not. */
async function untilVerdict(crew: readonly Engine[], name: string, status: Scene['status']): Promise<Status['verdict']> {
  for (;;) {
    const { verdict } = await status()
    if (verdict !== undefined) return verdict
    await Promise.all(crew.map(one => one.pass(name)))
    await pause(20) // Nova moves meanwhile
  }
}

t.test('EV-23: a process that was held up does not call a host empty on which another has seen a server since', async t => {
  const name = 'held-up'
  const { fake, process, status } = await scene(t, name)
  const other = process({ verifyGapMs: 3_600_000 })
  for (let at = 0; at < 10 && (await status()).phase !== 'Verifying'; at++) await other.pass(name)
  t.equal((await status()).phase, 'Verifying')
  await other.close()
  const asked = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const applyStatus: Kube['applyStatus'] = async (...given) => {
    asked.resolve()
    await goOn.promise
    return kube.applyStatus(...given)
  }
  const slow = process({ kube: { ...kube, applyStatus } }).pass(name)
  await asked.promise // the host was empty, twice: it is about to say so
  fake.host('hv1').liveMoveMs = 60_000
  const { id } = fake.addServer({ name: 'late', host: 'hv1' })
  await process().pass(name)
  matchWhole(t, await status(), { phase: 'Draining', instances: [{ id }] })
  goOn.resolve()
  await slow
  t.equal((await status()).verdict, undefined)
  matchWhole(t, await status(), { instances: [{ id }] })
})

t.test('Nova would rescue a server twice; of processes that come at once one is let through', async t => {
  const name = 'dead'
  const { fake, cloud, process, status } = await scene(t, name, { mode: 'evacuate', maxParallel: 4 })
  fake.stopAgent('hv1')
  fake.host('hv1').forcedDown = true
  const ids = Array.from({ length: 8 }, (_, at) => fake.addServer({ name: `s${at}`, host: 'hv1' }).id)
  const get: Cloud['servers']['get'] = async id => {
    const found = await cloud.servers.get(id)
    await pause(20) // the moment in which both have looked and neither has asked
    return found
  }
  const drowsy = { ...cloud, servers: { ...cloud.servers, get } }
  const crew = [0, 1, 2].map(() => process({ cloud: drowsy }))
  t.equal(await untilVerdict(crew, name, status), 'Succeeded')
  const records = fake.world.migrations.map(({ instance }) => instance.id)
  t.strictSame(records.toSorted(), ids.toSorted(), 'each was asked for once')
})

t.test('EV-10: of a drain that several processes push on, each server is moved once', async t => {
  const name = 'drained'
  const { fake, process, status } = await scene(t, name, { maxParallel: 3 })
  fake.host('hv1').liveMoveMs = 50
  for (let at = 0; at < 8; at++) fake.addServer({ name: `s${at}`, host: 'hv1' })
  const crew = [0, 1, 2].map(() => process())
  t.equal(await untilVerdict(crew, name, status), 'Succeeded')
  t.equal(fake.world.migrations.length, 8)
})

t.test('EV-24: what has ended stays so until a new order, whatever else of its spec is changed', async t => {
  const name = 'over'
  const { fake, process, status } = await scene(t, name, { exclude: [{ name: 'keep' }] })
  const { id } = fake.addServer({ name: 'keep', host: 'hv1' })
  const one = process()
  t.equal(await untilVerdict([one], name, status), 'SucceededWithExclusions')
  await kube.patch(Eviction, { name }, { spec: { exclude: [], maxParallel: 2 } })
  await one.pass(name)
  t.equal(fake.world.migrations.length, 0)
  await kube.patch(Eviction, { name }, { spec: { retryToken: 'again' } })
  await one.pass(name)
  t.equal((await status()).verdict, undefined)
  t.equal(await untilVerdict([one], name, status), 'Succeeded')
  t.not(fake.world.instances.get(id)?.host, 'hv1')
})

t.test('what a process did is kept, what it concluded is not', async t => {
  const base: Status = { outstandingRamMb: 0, phase: 'Draining' }
  const newer: Status = {
    ...base,
    instances: [
      { id: 'a', state: 'Waiting' },
      { id: 'b', state: 'Migrating' },
      { id: 'c', state: 'Waiting' }
    ]
  }
  const own: Status = {
    ...base,
    verdict: 'Succeeded',
    instances: [
      { id: 'a', state: 'Blocked', reason: 'NotMigratable' },
      { id: 'b', state: 'Queued' },
      { id: 'c', state: 'Done' }
    ]
  }
  t.strictSame(withFacts(newer, own, new Set(['a', 'b'])), {
    ...base,
    instances: [
      { id: 'a', state: 'Blocked', reason: 'NotMigratable' },
      { id: 'b', state: 'Migrating' },
      { id: 'c', state: 'Waiting' }
    ]
  })
  t.strictSame(withFacts(newer, own, new Set()), newer)
})
