// EV-15, EV-16: how many at a time, who first, and who not together.
import t from 'tap'
import { inOrder, room, type Candidate, type Traffic } from '../../../functions/evict/plan.ts'
import type { Options, Peer, Seen } from '../../../functions/evict/seen.ts'
import { options } from './options.ts'
import { drain, type Drain } from './world.ts'

t.setTimeout(110_000)
const peer = (more: Partial<Peer> = {}): Peer => ({
  name: 'other',
  hypervisor: 'hv9',
  mode: 'drain',
  created: '2026-01-01T00:00:00Z',
  zone: 'a',
  destinations: [],
  ...more
})
const many = (count: number, destination?: string) => Array.from({ length: count }, () => destination)
const seenOf = (more: object = {}, spec: object = {}, annotations: Record<string, string> = {}): Seen =>
  ({
    eviction: { metadata: { name: 'hv1', annotations }, spec: { hypervisor: 'hv1', reason: 'r', ...spec } },
    hypervisor: { metadata: { name: 'hv1', labels: { 'topology.kubernetes.io/zone': 'a' } }, spec: {}, status: {} },
    peers: [],
    targets: many(20).map((_, at) => `t${at}`),
    ...more
  }) as unknown as Seen
const moving = (count: number, target?: string): Traffic => ({
  moving: many(count, target).map((target, at) => ({ server: `s${at}`, target })),
  queued: 0
})
const free = (seen: Seen, now: Traffic = moving(0), more: Partial<Options> = {}) => room(seen, now, { ...options, ...more })

t.test('EV-15: the tightest limit decides, and is named', async t => {
  t.match(free(seenOf()), { free: 4, limit: 'maxParallel' })
  t.match(free(seenOf({}, { maxParallel: 9 }), moving(3)), { free: 6, limit: 'maxParallel' })
  t.match(free(seenOf({}, { maxParallel: 1 }), moving(3)), { free: 0 }, 'never below zero')
  t.match(free(seenOf({ targets: ['t0'] })), { free: 2, limit: 'destination' })
  t.match(free(seenOf({ targets: ['t0', 't1'] }), moving(2, 't0')), { free: 2 }, 't0 is full, t1 is not')
  const busy = [peer({ destinations: many(18, 'x') })]
  t.match(free(seenOf({ peers: busy })), { free: 2, limit: 'zone' })
  t.match(free(seenOf({ peers: [peer({ zone: 'b', destinations: many(18, 'x') })] })), { free: 4 }, 'another zone')
  t.match(free(seenOf({ peers: [peer({ zone: 'b', destinations: many(49, 'x') })] })), { free: 1, limit: 'region' })
  t.match(
    free(seenOf({ peers: [peer({ zone: 'b', destinations: many(37) })] })),
    { free: 3, limit: 'destination' },
    'any may go there'
  )
})

t.test('EV-15: a trait of the host, the lowest of several; an emergency doubles the zone', async t => {
  const status = { traits: ['CUSTOM_SLOW', 'CUSTOM_OLD'] }
  const slow = seenOf({ hypervisor: { metadata: { name: 'hv1' }, spec: {}, status } })
  t.match(free(slow, moving(0), { traitLimits: ['CUSTOM_SLOW=3', 'CUSTOM_OLD=2', 'CUSTOM_NEW=1'] }), {
    free: 2,
    limit: 'maxParallel'
  })
  const busy = { peers: [peer({ destinations: many(19, 'x') })] }
  t.match(free(seenOf(busy)), { free: 1, limit: 'zone' })
  t.match(free(seenOf(busy, {}, { 'kvm.cloud.sap/emergency': 'true' })), { free: 4, limit: 'maxParallel' })
})

t.test('EV-16: behind the limit of Nova itself exactly one waits in reserve', async t => {
  t.match(free(seenOf({ novaLimit: 2 }), moving(2)), { free: 1, limit: 'Nova queues' })
  t.match(free(seenOf({ novaLimit: 2 }), { ...moving(3), queued: 1 }), { free: 0, limit: 'Nova queues' })
})

const candidate = (id: string, ramMiB: number, created: string, priority?: string): Candidate =>
  ({
    server: { id, flavor: { ramMiB }, created, metadata: priority === undefined ? {} : { priority } },
    how: 'live',
    entry: { id, state: 'Waiting' },
    noCapacity: false
  }) as unknown as Candidate

t.test('EV-15: priority of the metadata, then the wanted order, then age', async t => {
  const all = [
    candidate('big', 900, '2026-01-01'),
    candidate('small-young', 100, '2026-02-01'),
    candidate('small-old', 100, '2026-01-01'),
    candidate('late', 10, '2026-01-01', 'low'),
    candidate('first', 500, '2026-01-01', 'high'),
    candidate('zeroth', 500, '2026-01-01', '150')
  ]
  const ids = (order: 'priority' | 'smallestFirst' | 'largestFirst') =>
    inOrder(all, order, 'priority').map(({ server }) => server.id)
  t.strictSame(ids('priority'), ['zeroth', 'first', 'small-old', 'small-young', 'big', 'late'])
  t.strictSame(ids('largestFirst'), ['zeroth', 'first', 'big', 'small-old', 'small-young', 'late'])
})

/** Passes and time until the end; `look` sees Nova after each. */
async function watchRun(drained: Drain, look: () => void): Promise<void> {
  const untilMs = drained.clock.now() + 3_600_000
  while (drained.eviction.status?.verdict === undefined && drained.clock.now() < untilMs) {
    await drained.pass()
    look()
    drained.clock.advance(200)
    look()
  }
}
const underWay = ({ fake }: Drain) =>
  fake.world.migrations.filter(({ status }) => ['accepted', 'queued', 'preparing', 'running'].includes(status))

t.test('EV-15: a whole drain stays within its limits, and uses them', async t => {
  const drained = await drain({ maxParallel: 3 }, { hosts: ['hv1', 'hv2', 'hv3', 'hv4'] })
  t.teardown(() => drained.close())
  drained.fake.host('hv1').liveMoveMs = 3000
  for (let at = 0; at < 10; at++) drained.fake.addServer({ name: `s${at}`, host: 'hv1' })
  let most = 0
  await watchRun(drained, () => (most = Math.max(most, underWay(drained).length)))
  t.equal(most, 3)
  t.equal(drained.eviction.status?.verdict, 'Succeeded')
})

t.test('EV-16: with a limit of 1 in Nova, two are in flight: one moves, one is next', async t => {
  const drained = await drain({ maxParallel: 6 }, { hosts: ['hv1', 'hv2', 'hv3', 'hv4'] })
  t.teardown(() => drained.close())
  Object.assign(drained.fake.host('hv1'), { liveMoveMs: 3000, liveMoveLimit: 1 })
  for (let at = 0; at < 8; at++) drained.fake.addServer({ name: `s${at}`, host: 'hv1' })
  const after: number[] = []
  await watchRun(drained, () => after.push(underWay(drained).length))
  t.ok(Math.max(...after) <= 6)
  t.equal(Math.max(...after.slice(after.length / 2)), 2, 'once it is known')
  t.equal(drained.eviction.status?.verdict, 'Succeeded')
})

t.test('EV-15: members of one server group are never in flight together', async t => {
  const drained = await drain({ maxParallel: 4 })
  t.teardown(() => drained.close())
  drained.fake.host('hv1').liveMoveMs = 3000
  const members = new Set<string>()
  for (let at = 0; at < 6; at++) {
    const server = drained.fake.addServer({ name: `s${at}`, host: 'hv1' })
    if (at % 2 === 0) {
      server.groups = ['group-1']
      members.add(server.id)
    }
  }
  let most = 0
  let all = 0
  await watchRun(drained, () => {
    const now = underWay(drained)
    all = Math.max(all, now.length)
    most = Math.max(most, now.filter(({ instance }) => members.has(instance.id)).length)
  })
  t.equal(most, 1)
  t.ok(all > 1, 'the others do not wait for them')
  t.equal(drained.eviction.status?.verdict, 'Succeeded')
})
