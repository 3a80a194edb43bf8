// EV-15, EV-16, HA-36: what is under way, how many may follow, and in which order.
import t from 'tap'
import { inOrder, isEmergency, plan, priorityOf, room, traffic, zoneOf, type Candidate } from '../../../functions/evict/plan.ts'
import type { Options, Peer, Seen } from '../../../functions/evict/seen.ts'
import { record, server } from './server.ts'
import { options } from './options.ts'

const peer = (zone: string, ...destinations: Array<string | undefined>): Peer => ({
  name: 'other',
  hypervisor: 'hv9',
  mode: 'drain',
  created: '2026-01-01T00:00:00Z',
  zone,
  destinations
})
const times = (count: number, destination?: string) => Array.from({ length: count }, () => destination)
const seen = (more: object = {}, spec: object = {}): Seen =>
  ({
    eviction: { metadata: { name: 'hv1' }, spec: { hypervisor: 'hv1', reason: 'r', ...spec } },
    hypervisor: { metadata: { name: 'hv1', labels: { 'topology.kubernetes.io/zone': 'a' } }, spec: {}, status: {} },
    peers: [],
    targets: times(40).map((_, at) => `t${at}`),
    ...more
  }) as unknown as Seen
const idle = { moving: [], queued: 0 }
const busy = (count: number, target?: string) => ({
  moving: times(count).map((_, at) => ({ server: `s${at}`, target })),
  queued: 0
})
const wide: Options = { ...options, maxParallel: 100, zoneLimit: 100, regionLimit: 100, destinationLimit: 100, traitLimits: [] }

t.test('what is under way: what Nova shows of this host, and what was asked for and is not shown yet', async t => {
  const records = [
    record({ server: 'a', target: 'hv2' }),
    record({ server: 'b', status: 'queued', target: null }),
    record({ server: 'c', source: 'hv3' }),
    record({ server: 'd', status: 'completed' }),
    record({ server: 'e', status: 'finished' })
  ]
  t.strictSame(traffic(records, 'hv1', ['a', 'f']), {
    moving: [
      { server: 'a', target: 'hv2' },
      { server: 'b', target: undefined },
      { server: 'f', target: undefined }
    ],
    queued: 1
  })
})

t.test('HA-36: a dead host has limits of its own, and the zone twice over', async t => {
  const dead = { mode: 'evacuate' }
  t.strictSame(room(seen({}, dead), idle, wide), { free: 8, limit: 'maxParallel' })
  t.strictSame(room(seen({}, { ...dead, maxParallel: 3 }), idle, wide), { free: 3, limit: 'maxParallel' })
  const many = { ...dead, maxParallel: 99 }
  t.strictSame(room(seen({}, many), idle, wide), { free: 32, limit: 'region' })
  t.strictSame(room(seen({}, many), idle, { ...wide, zoneLimit: 10 }), { free: 20, limit: 'zone' })
})

t.test('EV-15: the zone holds 20 of all, twice that in an emergency; the region 50', async t => {
  const urgent = (value: string) => ({ metadata: { name: 'hv1', annotations: { 'kvm.cloud.sap/emergency': value } }, spec: {} })
  const limits = { ...wide, zoneLimit: 10, regionLimit: 50 }
  t.strictSame(room(seen(), busy(1, 'x'), limits), { free: 9, limit: 'zone' })
  t.strictSame(room(seen({ peers: [peer('a', 'x', 'y'), peer('b', 'x')] }), busy(1, 'x'), limits), { free: 7, limit: 'zone' })
  t.strictSame(room(seen({ eviction: urgent('true') }), idle, limits), { free: 20, limit: 'zone' })
  t.strictSame(room(seen({ eviction: urgent('false') }), idle, limits), { free: 10, limit: 'zone' })
  t.strictSame(room(seen({ peers: [peer('b', ...times(45, 'x'))] }), busy(2, 'x'), limits), { free: 3, limit: 'region' })
  t.equal(isEmergency(urgent('true') as unknown as Seen['eviction']), true)
  t.equal(isEmergency(urgent('false') as unknown as Seen['eviction']), false)
  t.equal(zoneOf(undefined), undefined)
  t.equal(zoneOf({ metadata: { labels: { 'topology.kubernetes.io/zone': 'a' } } }), 'a')
})

t.test('EV-15: two moves to a destination, from all hosts together; one without a destination may take any place', async t => {
  const limits = { ...wide, destinationLimit: 2 }
  const targets = ['t0', 't1']
  t.strictSame(room(seen({ targets }), idle, limits), { free: 4, limit: 'destination' })
  t.strictSame(room(seen({ targets }), busy(1, 't0'), limits), { free: 3, limit: 'destination' })
  t.strictSame(room(seen({ targets }), busy(3, 't0'), limits), { free: 2, limit: 'destination' }, 't0 has more than it may')
  t.strictSame(room(seen({ targets }), busy(1), limits), { free: 3, limit: 'destination' })
  t.strictSame(room(seen({ targets }), busy(1, 'elsewhere'), limits), { free: 4, limit: 'destination' })
  t.strictSame(room(seen({ targets, peers: [peer('b', 't1', undefined)] }), idle, limits), { free: 2, limit: 'destination' })
  t.strictSame(room(seen({ targets: [] }), busy(1), limits), { free: 0, limit: 'destination' }, 'never below nothing')
})

t.test('EV-15: the lowest limit of the traits that the host has', async t => {
  const withTraits = seen({ hypervisor: { metadata: { name: 'hv1' }, spec: {}, status: { traits: ['CUSTOM_A', 'CUSTOM_B'] } } })
  const traitLimits = ['CUSTOM_A=7', 'CUSTOM_B=5', 'CUSTOM_C=1']
  t.strictSame(room(withTraits, idle, { ...wide, traitLimits }), { free: 5, limit: 'maxParallel' })
})

t.test('EV-16: one in reserve behind the limit of Nova itself', async t => {
  t.strictSame(room(seen(), { ...busy(1, 'x'), queued: 1 }, wide), { free: 0, limit: 'Nova queues' })
  t.strictSame(room(seen({ novaLimit: 2 }), busy(1, 'x'), wide), { free: 2, limit: 'Nova queues' })
  t.strictSame(room(seen({ novaLimit: 2 }), busy(3, 'x'), wide), { free: 0, limit: 'Nova queues' })
  t.strictSame(room(seen({ novaLimit: 2 }), { ...busy(1, 'x'), queued: 1 }, wide), { free: 0, limit: 'Nova queues' })
})

t.test('EV-15: a priority is a word or a number', async t => {
  const of = (text: string) => priorityOf(server({ metadata: { p: text } }), 'p')
  const wanted = {
    highest: 200,
    HIGH: 100,
    normal: 0,
    medium: 0,
    low: -100,
    lowest: -200,
    '7': 7,
    '-7': -7,
    ' ': 0,
    '': 0,
    soon: 0,
    constructor: 0,
    __PROTO__: 0,
    Infinity: 1000,
    '-1e9': -1000
  }
  for (const [text, priority] of Object.entries(wanted)) t.equal(of(text), priority, text)
  t.equal(priorityOf(server(), 'p'), 0)
})

const candidate = (
  id: string,
  ramMiB?: number,
  more: Partial<Candidate> & { created?: string | null; priority?: string } = {}
): Candidate => {
  const { created = '2026-01-01T00:00:00Z', priority, ...rest } = more
  const flavor = ramMiB === undefined ? null : ({ ramMiB } as unknown as Candidate['server']['flavor'])
  const metadata: Record<string, string> = priority === undefined ? {} : { p: priority }
  return {
    server: server({ id, flavor, created, metadata }),
    how: 'live',
    entry: { id, state: 'Waiting' },
    noCapacity: false,
    ...rest
  }
}
const ids = (candidates: readonly Candidate[]): string => candidates.map(({ server }) => server.id).join(' ')

t.test('EV-15: priority, then size as wanted, then age, then the id', async t => {
  const all = [
    candidate('d', 4),
    candidate('c', 4),
    candidate('old', 4, { created: '2025-01-01T00:00:00Z' }),
    candidate('big', 8),
    candidate('none'),
    candidate('first', 16, { priority: 'high' }),
    candidate('last', 1, { priority: 'low' }),
    candidate('unborn', 4, { created: null })
  ]
  t.equal(ids(inOrder(all, 'smallestFirst', 'p')), 'first none unborn old c d big last')
  t.equal(ids(inOrder(all, 'priority', 'p')), 'first none unborn old c d big last')
  t.equal(ids(inOrder(all.toReversed(), 'priority', 'p')), 'first none unborn old c d big last', 'in whatever order they come')
  t.equal(ids(inOrder(all, 'largestFirst', 'p')), 'first big unborn old c d none last')
})

t.test('EV-12a: of those without a place the smallest asks; the others wait for its answer', async t => {
  const all = [
    candidate('a', 8, { noCapacity: true }),
    candidate('b', 4, { noCapacity: true, priority: 'low' }),
    candidate('c', 2)
  ]
  t.strictSame(plan(all, seen(), idle, { ...options, priorityKey: 'p' }), [
    { server: 'c', how: 'live', target: undefined, probe: false },
    { server: 'b', how: 'live', target: undefined, probe: true }
  ])
})

t.test('wanted destinations are filled evenly, by name', async t => {
  const given = seen({ targets: ['t1', 't0'], peers: [peer('a', 't0')] }, { targetHosts: ['t0', 't1'] })
  const targetsOf = (now: Parameters<typeof plan>[2]) =>
    plan(
      ['a', 'b', 'c', 'd'].map(id => candidate(id, 1)),
      given,
      now,
      { ...options, priorityKey: 'p' }
    ).map(({ target }) => target)
  t.strictSame(targetsOf(idle), ['t1', 't0', 't1', 't0'])
  t.strictSame(targetsOf(busy(2, 't1')), ['t0', 't0', 't1', 't0'])
  t.strictSame(plan([candidate('a', 1)], seen({ targets: [] }, { targetHosts: ['x'] }), idle, options), [
    { server: 'a', how: 'live', target: undefined, probe: false }
  ])
})
