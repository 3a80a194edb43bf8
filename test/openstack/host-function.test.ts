// HV-9: a tick looks at many hosts of one listing; what was changed since then is not undone by it.
import type { Aggregate, ComputeService } from 'openstack-sdk-lite'
import t from 'tap'
import { settle as settleAggregates } from '../../functions/aggregates/act.ts'
import { settle as settleMaintenance } from '../../functions/maintenance/act.ts'
import { hostReactions, type HostDeps, type HostFunction } from '../../shared/openstack/host-function.ts'
import { createListings } from '../../shared/openstack/listings.ts'
import { keyLock } from '../../shared/runtime/key-lock.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now } from '../functions/host-life/fixtures.ts'
import { testPlatform } from '../runtime/platform.ts'

interface Scene {
  /** As the API server has it now. */
  stored: Hypervisor | undefined
  eviction?: object
  service?: Partial<ComputeService>
  aggregates?: Aggregate[]
}

/** Dependencies that note what was changed. */
function depsOf({ stored, eviction, service, aggregates = [] }: Scene): { deps: HostDeps; did: string[] } {
  const did: string[] = []
  const note =
    (what: string) =>
    async (...given: unknown[]): Promise<unknown> => {
      did.push(what)
      return given.at(-1)
    }
  const kube = {
    find: async (kind: unknown) => (kind === Hypervisor ? stored : eviction),
    list: async () => ({ items: [hypervisor()] }),
    delete: note('deleted the Eviction'),
    patch: note('patched the Eviction'),
    apply: note('applied the Eviction'),
    applyStatus: async () => {},
    event: async () => {}
  }
  const cloud = {
    services: { list: async () => [{ id: 'service-id', host: 'host-1', ...service }], update: note('changed the service') },
    aggregates: { list: async () => aggregates, addHost: note('joined'), removeHost: note('left') },
    hypervisors: { list: async () => [] }
  }
  const { log } = testPlatform()
  const hosts = { all: async () => [hypervisor()] }
  const deps = {
    kube,
    hosts,
    cloud,
    listings: createListings(cloud as never),
    extended: true,
    observe: false,
    clock: () => now,
    log
  }
  return { deps: { ...deps, countDrift: () => {}, inTurn: keyLock() } as unknown as HostDeps, did }
}

const done = condition('Onboarding', 'False')
const listed = hypervisor({ maintenance: '' }, { conditions: [done] })
const changed: Hypervisor = { ...listed, metadata: { ...listed.metadata, generation: 4 } }
const owner = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name: 'host-1', uid: 'u', controller: true }
const eviction = { metadata: { name: 'host-1', ownerReferences: [owner] }, spec: { hypervisor: 'host-1', reason: 'x' } }
const disabled = { status: 'disabled', state: 'up', disabledReason: 'drover: maintenance=manual (drover-maintenance)' } as const

void t.test('maintenance: what was asked for after the listing is not taken back', async t => {
  const run = async (scene: Scene): Promise<string[]> => {
    const { deps, did } = depsOf({ service: disabled, ...scene })
    await settleMaintenance(listed, { ...deps, takeover: false })
    return did
  }
  t.strictSame(await run({ stored: changed, eviction }), [], 'its Eviction stays')
  t.strictSame(await run({ stored: changed }), [], 'it stays disabled')
  t.strictSame(await run({ stored: undefined }), [], 'it is gone')
  t.strictSame(await run({ stored: { ...listed, metadata: { ...listed.metadata, uid: 'another' } } }), [])
  t.strictSame(await run({ stored: listed, eviction }), ['deleted the Eviction'])
  t.strictSame(await run({ stored: listed }), ['changed the service'])
})

void t.test('aggregates: nor is a host put back where it has just left', async t => {
  const zone = { id: 1, uuid: 'u', name: 'z1', zone: 'z1', hosts: [], metadata: {} }
  const run = async (stored: Hypervisor): Promise<string[]> => {
    const { deps, did } = depsOf({ stored, aggregates: [zone] })
    const options = { testAggregate: 'tests', alwaysZone: true, ignore: [], drift: 'repair', missing: 'report' } as const
    await settleAggregates(listed, { ...deps, options })
    return did
  }
  t.strictSame(await run(changed), [])
  t.strictSame(await run(listed), ['joined'])
})

void t.test('a host under way is read again when its turn comes', async t => {
  const settled: Array<number | undefined> = []
  const fn = (isOpen: boolean): HostFunction<HostDeps> => ({
    changed: [],
    isOpen: () => isOpen,
    settle: async ({ metadata }) => void settled.push(metadata.generation)
  })
  const tick = async (isOpen: boolean, stored: Hypervisor | undefined, speed = 'slow'): Promise<void> => {
    const reaction = hostReactions(fn(isOpen)).find(({ kind }) => kind.type === 'dev.knative.sources.ping')
    const { deps } = depsOf({ stored })
    const { log, signal } = testPlatform()
    const event = { id: 'e', source: '/t', type: 'dev.knative.sources.ping', data: { tick: speed } }
    await reaction?.handle(event as never, deps, { log, signal })
  }
  await tick(true, changed)
  await tick(true, undefined)
  await tick(false, changed)
  t.strictSame(settled, [4, 3], 'one that rests is taken from the listing')
  await tick(true, changed, 'fast')
  await tick(false, changed, 'fast')
  t.strictSame(settled, [4, 3, 4], 'the fast tick looks only at those under way')
})

void t.test('an event and a tick look at a host one after the other', async t => {
  const { deps } = depsOf({ stored: changed })
  let atOnce = 0
  let most = 0
  const fn: HostFunction<HostDeps> = {
    changed: [],
    isOpen: () => true,
    async settle() {
      most = Math.max(most, (atOnce += 1))
      await new Promise(resolve => setImmediate(resolve))
      atOnce -= 1
    }
  }
  const { log, signal } = testPlatform()
  const data = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name: 'host-1', tick: 'fast' }
  const event = { id: 'e', source: '/t', type: 'x', data } as never
  await Promise.all([...hostReactions(fn), ...hostReactions(fn)].map(reaction => reaction.handle(event, deps, { log, signal })))
  t.equal(most, 1)
})
