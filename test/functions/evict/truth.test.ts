// What must not be said of a host, and what must not be done to one that is nobody's business any more: EV-1, EV-5, EV-23…EV-25, HV-15, HV-46.
import { type ComputeService, OpenStackError } from 'openstack-sdk-lite'
import t from 'tap'
import { kept } from '../../../functions/evict/kept.ts'
import type { Entry } from '../../../functions/evict/seen.ts'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { drain, type Drain } from './world.ts'

t.setTimeout(110_000)
const minuteMs = 60_000

async function scene(
  t: { teardown(close: () => unknown): void },
  servers: number,
  spec: Partial<Eviction['spec']> = {}
): Promise<Drain & { ids: string[] }> {
  const drained = await drain(spec)
  t.teardown(() => drained.close())
  drained.fake.host('hv1').liveMoveMs = 10_000
  const ids = Array.from({ length: servers }, (_, at) => drained.fake.addServer({ name: `s${at}`, host: 'hv1' }).id)
  return Object.assign(drained, { ids })
}
const order = (drained: Drain, spec: Partial<Eviction['spec']>): void => {
  drained.eviction = { ...drained.eviction, spec: { ...drained.eviction.spec, ...spec } }
}
const open = ({ fake }: Drain) =>
  fake.world.migrations.filter(({ status }) => ['accepted', 'queued', 'preparing', 'running'].includes(status))
async function untilMoving(drained: Drain): Promise<void> {
  for (let at = 0; at < 20 && open(drained).length === 0; at++)
    drained.clock.advance(Math.min((await drained.pass()).nextCheckMs, 500))
  drained.clock.advance(100)
}

/** Nova's own rule: a list with a filter leaves out the cells that do not answer. */
function cutOff(drained: Drain): void {
  const { cloud } = drained
  const unknown = (service: ComputeService): ComputeService =>
    service.host === 'hv1' ? { ...service, id: '', status: 'unknown', state: 'unknown' } : service
  const away = async (): Promise<never> => {
    throw new OpenStackError('ServiceFault', 'the cell does not answer')
  }
  const blind = {
    ...cloud,
    servers: { ...cloud.servers, list: async () => [] },
    hypervisors: { ...cloud.hypervisors, withServers: away },
    services: { ...cloud.services, list: async () => (await cloud.services.list({ binary: 'nova-compute' })).map(unknown) }
  }
  drained.deps = { ...drained.newProcess(), cloud: blind, listings: { ...drained.deps.listings, services: blind.services.list } }
}

t.test('EV-23: a host whose cell does not answer is not empty, though Nova lists nobody on it', async t => {
  const drained = await scene(t, 3)
  cutOff(drained)
  await drained.run(10 * minuteMs)
  t.not(drained.eviction.status?.verdict, 'Succeeded')
  t.match(drained.eviction.status, { waitingFor: /OpenStack/ })

  const rescue = await scene(t, 3, { mode: 'evacuate' })
  rescue.fake.stopAgent('hv1')
  rescue.fake.host('hv1').forcedDown = true
  cutOff(rescue)
  const { hypervisorId: _, ...status } = rescue.hypervisor.status ?? {}
  rescue.hypervisor = { ...rescue.hypervisor, status } as Hypervisor
  await rescue.run(10 * minuteMs)
  t.equal(rescue.eviction.status?.verdict, undefined, 'HA: a rescue that saw nobody has rescued nobody')
  t.match(rescue.eviction.status, { waitingFor: /its cell does not answer/ })
})

t.test('EV-23: who arrives between the list of servers and the list of moves is seen', async t => {
  for (const known of [true, false]) {
    const drained = await scene(t, 0)
    if (!known) {
      const { hypervisorId: _, ...status } = drained.hypervisor.status ?? {}
      drained.hypervisor = { ...drained.hypervisor, status } as Hypervisor
    }
    while (drained.eviction.status?.phase !== 'Verifying')
      drained.clock.advance(Math.min((await drained.pass()).nextCheckMs, 1000))
    drained.clock.advance(6000)
    const { migrations } = drained.cloud
    const list: typeof migrations.list = async filter => {
      drained.fake.addServer({ name: 'reverted', host: 'hv1' })
      return migrations.list(filter)
    }
    await drained.pass({ deps: { ...drained.deps, cloud: { ...drained.cloud, migrations: { ...migrations, list } } } })
    t.equal(drained.eviction.status?.verdict, undefined)
    matchWhole(t, drained.eviction.status, { phase: 'Draining', instances: [{ name: 'reverted' }] })
  }
})

t.test('EV-1, HV-28: a host of which Nova may know something is not called empty because its name was not found', async t => {
  const drained = await scene(t, 2)
  const { cloud } = drained
  const dotted = (one: ComputeService): ComputeService => (one.host === 'hv1' ? { ...one, host: 'hv1.example.com' } : one)
  const services = async () => (await cloud.services.list({ binary: 'nova-compute' })).map(dotted)
  drained.deps = { ...drained.deps, listings: { ...drained.deps.listings, services } }
  drained.hypervisor = { ...drained.hypervisor, status: {} } as Hypervisor
  await drained.pass()
  t.match(drained.eviction.status, { phase: 'Preflight', waitingFor: /AmbiguousHost: it may be hv1\.example\.com/ })
  t.equal((await drained.run(10 * minuteMs)).verdict, 'HostMissing')

  const running = await scene(t, 0)
  running.hypervisor = {
    ...running.hypervisor,
    metadata: { name: 'young' },
    status: { numInstances: 1, instances: [{ id: 'x', name: 'x', active: true }] }
  }
  t.equal((await running.run(10 * minuteMs)).verdict, 'HostMissing', 'libvirt runs something there')
})

t.test('HV-46: only a host that is still held back is emptied again', async t => {
  const drained = await scene(t, 1, { reenable: true })
  t.equal((await drained.run()).verdict, 'Succeeded')
  t.equal(drained.fake.host('hv1').status, 'enabled')
  const moves = drained.fake.world.migrations.length
  drained.fake.addServer({ name: 'welcome', host: 'hv1' })
  drained.clock.advance(10 * minuteMs)
  await drained.pass()
  t.equal(drained.fake.host('hv1').status, 'enabled')
  t.equal(drained.fake.world.migrations.length, moves)
  t.equal(drained.eviction.status?.verdict, 'Succeeded')
  // later somebody disables it for another reason: an old Eviction has no part in that
  await drained.cloud.services.update(drained.fake.host('hv1').serviceId ?? '', { status: 'disabled', disabledReason: 'noise' })
  drained.clock.advance(minuteMs)
  await drained.pass()
  t.equal(drained.eviction.status?.verdict, 'Succeeded')
  drained.hypervisor = { ...drained.hypervisor, spec: { maintenance: 'manual' } } as unknown as Hypervisor
  await drained.pass()
  t.equal(drained.eviction.status?.verdict, undefined, 'in maintenance it is emptied again')
})

t.test('EV-24, EV-25: empty after its time is empty', async t => {
  const drained = await scene(t, 3, { maxParallel: 1, timeout: '15s' })
  t.equal((await drained.run()).verdict, 'Incomplete')
  t.match(drained.eviction.status, { waitingFor: /its time is over/ })
  for (const { id, host } of drained.fake.world.instances.values()) if (host === 'hv1') await drained.cloud.servers.delete(id)
  for (let at = 0; at < 20 && drained.eviction.status?.verdict !== 'Succeeded'; at++) {
    drained.clock.advance(5000)
    await drained.pass()
  }
  t.equal(drained.eviction.status?.verdict, 'Succeeded')
})

t.test('EV-25: Abort gives up moves also while a check stands in the way; a lost order to give one up is repeated', async t => {
  const drained = await scene(t, 2)
  await untilMoving(drained)
  await drained.cloud.services.update(drained.fake.host('hv1').serviceId ?? '', { status: 'enabled' })
  drained.deps.listings.forget()
  order(drained, { cancel: 'Abort' })
  drained.fake.faults.add({ method: 'DELETE', times: 2, effect: { answer: { status: 503 } } })
  await drained.pass()
  t.equal(open(drained).length, 2, 'Nova was away')
  await drained.pass()
  drained.clock.advance(100)
  t.equal(open(drained).length, 0)
  t.equal((await drained.run()).verdict, 'Cancelled')
  t.equal(drained.fake.host('hv1').status, 'enabled', 'and it is not disabled again')
})

t.test('EV-5: the host has settled when nothing came twice, also after something came', async t => {
  const drained = await scene(t, 1)
  const { id } = drained.fake.addServer({ name: 'coming', host: 'hv2' })
  drained.fake.host('hv2').liveMoveMs = 10_000
  await drained.cloud.servers.liveMigrate(id, 'hv1')
  drained.clock.advance(1000)
  await drained.pass() // disables
  await drained.pass() // gives it up
  matchWhole(t, drained.eviction.status, { phase: 'Settling', incoming: [{ serverId: id }] })
  drained.clock.advance(1000)
  await drained.pass()
  t.match(drained.eviction.status, { phase: 'Settling', waitingFor: 'a second look at moves to this host' })
  await drained.pass()
  t.equal(drained.eviction.status?.phase, 'Draining')
})

t.test(
  'EV-3: a plan that is to be carried out begins at the beginning; so does what was cancelled and is wanted after all',
  async t => {
    const drained = await scene(t, 2, { dryRun: true })
    t.equal((await drained.run()).verdict, 'Planned')
    const { id } = drained.fake.addServer({ name: 'coming', host: 'hv2' })
    drained.fake.host('hv2').liveMoveMs = 600_000
    await drained.cloud.servers.liveMigrate(id, 'hv1')
    drained.clock.advance(1000)
    order(drained, { dryRun: false })
    await drained.pass()
    await drained.pass()
    matchWhole(t, drained.eviction.status, { phase: 'Settling', incoming: [{ serverId: id, action: 'abort' }] })
    order(drained, { cancel: 'Finish' })
    t.equal((await drained.run()).verdict, 'Cancelled')
    order(drained, { cancel: '' })
    t.equal((await drained.run()).verdict, 'Succeeded')
  }
)

t.test('EV-3: those left alone need no room, and candidates are hosts that may be used', async t => {
  const drained = await scene(t, 1, { dryRun: true, targetHosts: ['hv3'], exclude: [{ name: 'giant' }], requireCapacity: true })
  const [flavor] = drained.fake.world.flavors.values()
  if (!flavor) throw new Error('no flavor')
  drained.fake.addServer({ name: 'giant', host: 'hv1', flavor: { ...flavor, id: '9', name: 'giant', ramMiB: 1e7 } })
  const { preflight } = await drained.run()
  t.match(
    preflight?.find(({ check }) => check === 'capacity'),
    { result: 'Pass' }
  )
  t.match(drained.entry(drained.ids[0] ?? ''), { message: /Candidates: hv3\./ })
})

t.test('HV-29: a server that is on no host for good does not count as moved, and holds up nobody', async t => {
  const drained = await scene(t, 2)
  await untilMoving(drained)
  const lost = drained.fake.addServer({ name: 'lost', host: 'hv1' })
  lost.vmState = 'error'
  await drained.pass()
  t.match(drained.entry(lost.id), { state: 'Blocked', reason: 'ServerError' })
  Object.assign(lost, { host: null, updatedMs: drained.clock.now() })
  await drained.run(5 * minuteMs)
  t.match(drained.entry(lost.id), { state: 'Waiting', reason: 'Unknown' })
  t.equal(drained.eviction.status?.verdict, undefined)
  t.equal((await drained.run(20 * minuteMs)).verdict, 'Succeeded')
  t.match(drained.entry(lost.id), { state: 'Failed', reason: 'Disagreement', message: /on no host/ })
})

t.test('HV-15: the entries stay within their share of 256 KiB, whatever Nova says', async t => {
  const entry = (at: number, state: Entry['state'], words: number): Entry => ({
    id: `${String(at).padStart(8, '0')}-0000-4000-8000-000000000000`,
    name: 'n'.repeat(255),
    state,
    message: 'w'.repeat(words),
    finishedAt: new Date(at * 1000).toISOString(),
    destination: 'd'.repeat(60)
  })
  const many = (count: number, state: Entry['state'], words: number) =>
    Array.from({ length: count }, (_, at) => entry(at, state, words))
  const bytes = (entries: Entry[]) => JSON.stringify(entries).length
  t.strictSame(kept(many(10, 'Blocked', 900)), many(10, 'Blocked', 900), 'few are left as they are')
  t.ok(bytes(kept(many(300, 'Blocked', 9000))) <= 190_000)
  t.equal(kept(many(300, 'Blocked', 9000)).length, 300, 'words go before servers')
  const full = kept([...many(490, 'Done', 300), ...many(800, 'Waiting', 300).slice(490)])
  t.ok(bytes(full) <= 190_000)
  t.equal(full.filter(({ state }) => state === 'Waiting').length, 310, 'those that ended go first')
  t.equal(
    full.find(({ state }) => state === 'Done')?.finishedAt,
    entry(490 - (full.length - 310), 'Done', 0).finishedAt,
    'the oldest first'
  )
})
