// How an Eviction begins, is stopped and ends: EV-1…EV-5, EV-17…EV-25, on the behaving OpenStack with time in our hands.
import t from 'tap'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { drain, type Drain } from './world.ts'

t.setTimeout(110_000)
const minuteMs = 60_000
const left = ({ fake }: Drain) => [...fake.world.instances.values()].filter(({ host }) => host === 'hv1').map(({ id }) => id)
const open = ({ fake }: Drain) =>
  fake.world.migrations.filter(({ status }) => ['accepted', 'queued', 'preparing', 'running'].includes(status))
const told = ({ eviction }: Drain, type: string) => eviction.status?.conditions?.find(known => known.type === type)
const order = (drained: Drain, spec: Partial<Eviction['spec']>): void => {
  drained.eviction = { ...drained.eviction, spec: { ...drained.eviction.spec, ...spec } }
}
/** Passes until moves are under way. */
async function underWay(drained: Drain): Promise<void> {
  for (let at = 0; at < 20 && open(drained).length === 0; at++) {
    const { nextCheckMs } = await drained.pass()
    drained.clock.advance(Math.min(nextCheckMs, 500))
  }
  drained.clock.advance(100)
}

async function scene(
  t: { teardown(close: () => unknown): void },
  servers: number,
  spec: Partial<Eviction['spec']> = {},
  given: Parameters<typeof drain>[1] = {}
): Promise<Drain & { ids: string[] }> {
  const drained = await drain(spec, given)
  t.teardown(() => drained.close())
  drained.fake.host('hv1').liveMoveMs = 10_000
  const ids = Array.from({ length: servers }, (_, at) => drained.fake.addServer({ name: `s${at}`, host: 'hv1' }).id)
  return Object.assign(drained, { ids })
}

t.test('EV-25: Finish starts nothing more and waits; each server says where it is', async t => {
  const drained = await scene(t, 6, { maxParallel: 2 })
  await underWay(drained)
  const moving = open(drained).map(({ instance }) => instance.id)
  order(drained, { cancel: 'Finish' })
  const { verdict, instances = [] } = await drained.run()
  t.equal(verdict, 'Cancelled')
  t.strictSame(
    instances
      .filter(({ state }) => state === 'Done')
      .map(({ id }) => id)
      .toSorted(),
    moving.toSorted(),
    'those under way ended'
  )
  t.equal(left(drained).length, 4)
  t.match(told(drained, 'Evicting'), { status: 'False', reason: 'Cancelled' })
})

t.test('EV-25: Abort also gives up what can be given up', async t => {
  const drained = await scene(t, 6, { maxParallel: 3 })
  await underWay(drained)
  order(drained, { cancel: 'Abort' })
  t.equal((await drained.run()).verdict, 'Cancelled')
  t.equal(left(drained).length, 6, 'nobody moved')
  t.strictSame([...new Set(drained.fake.world.migrations.map(({ status }) => status))], ['cancelled'])
})

t.test('EV-25: paused starts nothing new, and goes on when it ends', async t => {
  const drained = await scene(t, 5, { maxParallel: 2 })
  await underWay(drained)
  order(drained, { paused: true })
  await drained.run(5 * minuteMs)
  t.match(drained.eviction.status, { phase: 'Draining', waitingFor: 'the pause to end' })
  t.equal(left(drained).length, 3)
  order(drained, { paused: false })
  t.equal((await drained.run()).verdict, 'Succeeded')
})

t.test('EV-25: its time is over: what moves may end, then it is Incomplete', async t => {
  const drained = await scene(t, 6, { maxParallel: 1, timeout: '15s' })
  t.equal((await drained.run()).verdict, 'Incomplete')
  t.ok(left(drained).length > 0)
  t.strictSame(open(drained), [])
})

t.test('EV-18: a move that takes too long is given up, and tried again as often as allowed', async t => {
  const drained = await scene(t, 1, { timeoutPerInstance: '1m', maxAttempts: 2 })
  drained.fake.host('hv1').liveMoveMs = 60 * minuteMs
  const { verdict, instances } = await drained.run()
  t.equal(verdict, 'Incomplete')
  matchWhole(t, instances, [{ state: 'Failed', reason: 'TimedOut', attempts: 2 }])
})

t.test('EV-18: … or forced to its end, if wanted', async t => {
  const drained = await scene(t, 1, { timeoutPerInstance: '1m', onTimeout: 'forceComplete' })
  drained.fake.host('hv1').liveMoveMs = 60 * minuteMs
  t.equal((await drained.run()).verdict, 'Succeeded')
  t.equal(drained.entry(drained.ids[0] ?? '')?.attempts, 1)
})

t.test('exclude: by id, name or metadata; they are never touched, and the host is not called empty', async t => {
  const drained = await scene(t, 2)
  const { fake } = drained
  const named = fake.addServer({ name: 'keep', host: 'hv1' })
  const marked = fake.addServer({ name: 'pinned', host: 'hv1', metadata: { stay: 'yes' } })
  const [first = ''] = drained.ids
  order(drained, { exclude: [{ id: first }, { name: 'keep' }, { metadata: { key: 'stay', value: 'yes' } }] })
  const { verdict, progress } = await drained.run()
  t.equal(verdict, 'SucceededWithExclusions')
  t.match(progress, { excluded: 3, done: 1 })
  t.strictSame(left(drained).toSorted(), [first, named.id, marked.id].toSorted())
  t.match(drained.entry(first), { state: 'Excluded' })
})

t.test('EV-3, EV-8: a plan tells of each server, of what is in the way and how long it takes; nothing is changed', async t => {
  const drained = await scene(t, 2, { dryRun: true })
  const { fake } = drained
  const giant = fake.addServer({
    name: 'giant',
    host: 'hv1',
    flavor: { ...flavorOf(drained), id: '9', name: 'giant', ramMiB: 1e7 }
  })
  const rescued = fake.addServer({ name: 'rescued', host: 'hv1' })
  rescued.vmState = 'rescued'
  const off = fake.addServer({ name: 'off', host: 'hv1' })
  Object.assign(off, { vmState: 'stopped', powerState: 4 })
  fake.forget()
  const { status } = await drained.pass()
  t.match(status, { verdict: 'Planned', phase: 'Done', etaConfidence: 'low' })
  t.type(status.eta, 'string')
  t.match(drained.entry(drained.ids[0] ?? ''), {
    strategy: 'live',
    reason: 'Planned',
    message: /^Would be moved live\. Candidates: hv2, hv3\. Mind/
  })
  t.match(drained.entry(off.id), { strategy: 'cold', message: /^Would be moved cold/ })
  t.match(drained.entry(giant.id), { reason: 'NoCapacity', message: /No host has room/ })
  t.match(drained.entry(rescued.id), { state: 'Blocked', reason: 'Rescue' })
  t.match(
    status.preflight?.find(({ check }) => check === 'plan'),
    { result: 'Warn', message: 'Live 3, cold 1, blocked 1, of 5 servers.' }
  )
  t.match(
    status.preflight?.find(({ check }) => check === 'capacity'),
    { result: 'Warn' },
    'only told'
  )
  t.match(
    status.preflight?.find(({ check }) => check === 'limits'),
    { result: 'Pass', message: '4 moves at a time (maxParallel).' }
  )
  t.strictSame(
    fake.requests.filter(({ method, service }) => method !== 'GET' && service === 'compute').map(({ path }) => path),
    []
  )
  t.equal(fake.host('hv1').status, 'enabled')
})

const flavorOf = ({ fake }: Drain) => {
  const [flavor] = fake.world.flavors.values()
  if (!flavor) throw new Error('no flavor')
  return flavor
}

t.test('EV-3: requireCapacity holds the drain until there is room', async t => {
  const drained = await scene(t, 2, { requireCapacity: true })
  const { fake } = drained
  const freeUp = fillUp(drained)
  await drained.run(5 * minuteMs)
  t.match(drained.eviction.status, { phase: 'Preflight', waitingFor: /Placement knows no host with room/ })
  t.match(told(drained, 'PreflightChecksSucceeded'), { status: 'False', reason: 'Failed' })
  t.equal(fake.world.migrations.length, 0, 'nothing was tried')
  freeUp()
  drained.others = [hostWith('hv2', '100Mi'), hostWith('hv3', '10Gi', 'False')]
  await drained.run(minuteMs)
  t.match(drained.eviction.status, { phase: 'Preflight', waitingFor: /need 128 MiB; Ready hosts of the zone have 100 MiB left/ })
  drained.others = [hostWith('hv2', '1Gi')]
  t.equal((await drained.run()).verdict, 'Succeeded')
  t.match(
    drained.eviction.status?.preflight?.find(({ check }) => check === 'capacity'),
    { result: 'Pass' },
    'kept as it was found'
  )
})

/** No room on the other hosts, until the answer is called. */
function fillUp({ fake }: Drain): () => void {
  const inventories = ['hv2', 'hv3'].map(host => fake.world.providers.get(fake.host(host).id)?.inventories.get('MEMORY_MB'))
  const before = inventories.map(inventory => ({ ...inventory }))
  for (const inventory of inventories) if (inventory) Object.assign(inventory, { total: 512, reserved: 512 })
  return () => inventories.forEach((inventory, at) => inventory && Object.assign(inventory, before[at]))
}

const hostWith = (name: string, memory: string, ready = 'True'): Hypervisor =>
  ({
    metadata: { name, labels: { 'topology.kubernetes.io/zone': 'nova' } },
    spec: {},
    status: { effectiveCapacity: { memory }, allocation: { memory: '0' }, conditions: [{ type: 'Ready', status: ready }] }
  }) as unknown as Hypervisor

t.test('EV-4, EV-5: what comes to the host is given up, but not in its last tenth', async t => {
  for (const [passed, ends] of [
    [2000, 'cancelled'],
    [9500, 'completed']
  ] as const) {
    const drained = await scene(t, 0)
    const { fake, clock, cloud } = drained
    const { id } = fake.addServer({ name: 'coming', host: 'hv2' })
    fake.host('hv2').liveMoveMs = 10_000
    await cloud.servers.liveMigrate(id, 'hv1')
    clock.advance(passed)
    await drained.pass() // disables the host
    await drained.pass()
    matchWhole(t, drained.eviction.status, {
      phase: 'Settling',
      incoming: [{ serverId: id, action: ends === 'cancelled' ? 'abort' : 'wait' }]
    })
    t.match(told(drained, 'IncomingMigrationsSettled'), {
      status: 'False',
      reason: ends === 'cancelled' ? 'AbortingIncomingMigrations' : 'WaitingForIncomingMigrations'
    })
    t.equal((await drained.run()).verdict, 'Succeeded', 'who arrived leaves again (EV-22)')
    t.equal(fake.world.migrations.at(-1)?.status, ends)
    t.match(told(drained, 'IncomingMigrationsSettled'), { status: 'True', reason: 'Settled' })
  }
})

t.test('EV-5: after its time it goes on, and says what still comes', async t => {
  const drained = await scene(t, 1, {}, { options: { settleLimitMs: minuteMs } })
  const { fake, cloud } = drained
  const { id } = fake.addServer({ name: 'coming', host: 'hv2' })
  fake.host('hv2').liveMoveMs = 60 * minuteMs
  await cloud.servers.liveMigrate(id, 'hv1')
  drained.clock.advance(10)
  const [record] = fake.world.migrations
  if (record) record.status = 'post-migrating' // nobody can give it up any more
  await drained.run(5 * minuteMs)
  matchWhole(t, drained.eviction.status, { phase: 'Draining', incoming: [{ serverId: id, action: 'wait' }] })
  t.match(told(drained, 'IncomingMigrationsSettled'), {
    status: 'False',
    message: 'Goes on all the same, with 1 move to this host under way.'
  })
  t.notOk(left(drained).includes(drained.ids[0] ?? ''), 'its own servers left')
  t.equal(drained.eviction.status?.verdict, undefined, 'EV-23: not empty while a move to it is open')
})

t.test('EV-1: a host that Nova does not know: told, then missing; one that never was there is empty', async t => {
  const drained = await scene(t, 0)
  drained.hypervisor = {
    ...drained.hypervisor,
    status: { ...drained.hypervisor.status, serviceId: 'no-such', nova: { host: 'hv8' } }
  } as Hypervisor
  await drained.pass()
  t.match(drained.eviction.status, { phase: 'Preflight', waitingFor: /Nova has no compute service/ })
  t.match(told(drained, 'Evicting'), { status: 'True', reason: 'Running' })
  t.match(told(drained, 'PreflightChecksSucceeded'), { status: 'False', reason: 'Failed' })
  t.equal((await drained.run(10 * minuteMs)).verdict, 'HostMissing')
  t.match(told(drained, 'Evicting'), { status: 'False', reason: 'Failed' })
  const young = await scene(t, 0)
  young.hypervisor = { ...young.hypervisor, metadata: { name: 'young' }, status: {} } as Hypervisor
  t.equal((await young.run(minuteMs)).verdict, 'Succeeded')
})

t.test('EV-20: a host that dies in the middle: nothing is started, HostDown is shown, a rescue ends the drain', async t => {
  const drained = await scene(t, 4, { maxParallel: 1 })
  await underWay(drained)
  drained.fake.stopAgent('hv1')
  const moves = drained.fake.world.migrations.length
  drained.clock.advance(2 * minuteMs)
  await drained.run(20 * minuteMs)
  t.equal(drained.fake.world.migrations.length, moves, 'no endless attempts')
  t.match(drained.eviction.status, { waitingFor: /HostDown/ })
  t.equal(drained.eviction.status?.verdict, undefined)
  const rescue = { name: 'rescue', hypervisor: 'hv1', mode: 'evacuate' as const, created: '', zone: 'nova', destinations: [] }
  await drained.pass({ peers: [rescue] })
  t.match(drained.eviction.status, { verdict: 'Failed' })
  t.match(told(drained, 'Evicting'), { status: 'False', reason: 'Failed', message: /HostDown/ })
})

t.test('HV-13: two Evictions of one host do not work at once', async t => {
  const drained = await scene(t, 1)
  const older = {
    name: 'older',
    hypervisor: 'hv1',
    mode: 'drain' as const,
    created: '2020-01-01T00:00:00Z',
    zone: 'nova',
    destinations: []
  }
  await drained.pass({ peers: [older] })
  t.match(drained.eviction.status, { phase: 'Preflight', waitingFor: 'its turn: The Eviction older of the same host is at work' })
  t.equal((await drained.run()).verdict, 'Succeeded', 'its turn comes')
})

t.test('EV-27, mode evacuate: servers of a dead host are rescued; Nova counts it as up: refused', async t => {
  const drained = await scene(t, 3, { mode: 'evacuate' })
  await drained.pass()
  await drained.pass()
  t.match(drained.eviction.status, { phase: 'Preflight', waitingFor: /counts the host as up/ })
  drained.fake.stopAgent('hv1')
  Object.assign(drained.fake.host('hv1'), { forcedDown: true })
  const { verdict, instances = [] } = await drained.run()
  t.equal(verdict, 'Succeeded')
  t.strictSame([...new Set(instances.map(({ state, strategy }) => `${state} ${strategy}`))], ['Done evacuate'])
  t.strictSame(left(drained), [])
})

t.test('EV-22, HV-46: who arrives late is moved too; a server on a host that was called empty begins it anew', async t => {
  const drained = await scene(t, 1)
  await underWay(drained)
  const late = drained.fake.addServer({ name: 'late', host: 'hv1' })
  await drained.pass()
  t.match(drained.entry(late.id), { reason: /Arrived|Asked/ })
  t.equal((await drained.run()).verdict, 'Succeeded')
  t.equal(drained.eviction.status?.outstandingRamMb, 0)
  const again = drained.fake.addServer({ name: 'again', host: 'hv1' })
  drained.clock.advance(minuteMs)
  await drained.pass()
  matchWhole(t, drained.eviction.status, { outstandingInstances: [again.id], outstandingRamMb: 64 })
  t.equal(drained.eviction.status?.verdict, undefined)
  t.equal((await drained.run()).verdict, 'Succeeded')
})

t.test('EV-23: a domain that libvirt still runs keeps the host from being called empty', async t => {
  const drained = await scene(t, 1)
  const [id = ''] = drained.ids
  const said = (active: boolean) => {
    const status = {
      ...drained.hypervisor.status,
      instances: [{ id, name: 'ghost', active }],
      agent: { lastHeartbeat: new Date(drained.clock.now()).toISOString() }
    }
    drained.hypervisor = { ...drained.hypervisor, status } as Hypervisor
  }
  for (let minute = 0; minute < 5; minute++) {
    said(true)
    await drained.run(minuteMs)
  }
  t.strictSame(left(drained), [])
  t.match(drained.entry(id), { state: 'Blocked', reason: 'DomainStillRunning' })
  t.equal(drained.eviction.status?.verdict, 'Incomplete')
  said(false)
  for (let at = 0; at < 20 && drained.eviction.status?.verdict !== 'Succeeded'; at++) {
    drained.clock.advance(2000)
    await drained.pass()
  }
  t.equal(drained.eviction.status?.verdict, 'Succeeded', 'EV-24: an Incomplete one is still watched')
  t.match(
    drained.eviction.status?.preflight?.find(({ check }) => check === 'leftovers'),
    { result: 'Warn', message: new RegExp(id) },
    'what is only defined is told'
  )
})

t.test('EV-11, EV-12: no room is not counted and retried; other failures are counted', async t => {
  const drained = await scene(t, 1)
  const [id = ''] = drained.ids
  const freeUp = fillUp(drained)
  await drained.run(5 * minuteMs)
  t.match(drained.entry(id), { state: 'Waiting', reason: 'NoCapacity', attempts: 0, message: /No valid host|no host with room/ })
  freeUp()
  t.equal((await drained.run(10 * minuteMs)).verdict, 'Succeeded')
  const failing = await scene(t, 1)
  failing.fake.host('hv1').liveMoveFails = true
  const { verdict } = await failing.run()
  t.equal(verdict, 'Incomplete')
  t.match(failing.entry(failing.ids[0] ?? ''), { state: 'Failed', reason: 'MoveFailed', attempts: 3 })
})

t.test('EV-17: a cold move that Nova does not let be confirmed', async t => {
  const drained = await scene(t, 1, { strategy: 'cold' }, { pace: { coldMove: 3000 } })
  for (let at = 0; at < 20 && drained.fake.world.migrations.length === 0; at++) {
    await drained.pass()
    drained.clock.advance(500)
  }
  drained.fake.faults.add({ service: 'compute', method: 'POST', effect: { answer: { status: 500 } } })
  await drained.run(10 * minuteMs)
  t.match(drained.entry(drained.ids[0] ?? ''), { state: 'Failed', reason: 'ConfirmFailed', confirmFailures: 3 })
})

t.test('401, 403: the whole eviction waits for its rights', async t => {
  const drained = await scene(t, 2)
  drained.fake.faults.add({ service: 'compute', method: 'POST', effect: { answer: { status: 403 } } })
  await drained.run(minuteMs)
  t.match(drained.eviction.status, { waitingFor: /^rights in OpenStack/ })
  t.equal(drained.eviction.status?.verdict, undefined)
})
