// How an Eviction begins, on the behaving OpenStack with time in our hands: EV-1…EV-5, EV-8, HV-13.
import t from 'tap'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import type { Drain } from './world.ts'
import { fillUp, left, minuteMs, scene, told } from './scene.ts'

t.setTimeout(110_000)

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
