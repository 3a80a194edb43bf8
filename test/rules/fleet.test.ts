// HV-12: what is kept of a host, and what a zone and an aggregate can spare, each limit on both of its sides.
import t from 'tap'
import { hostOf, limitOf, overdrafts, zoneShortage, type Host } from '../../shared/rules/fleet.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'

type Parts = { spec?: object; status?: object; labels?: Record<string, string> }
const of = ({ spec, status, labels }: Parts): Host =>
  hostOf({ metadata: { name: 'h', ...(labels && { labels }) }, ...(spec && { spec }), ...(status && { status }) } as Hypervisor)
const condition = (type: string, status: string) => ({
  conditions: [
    { type: 'Other', status: 'True' },
    { type, status }
  ]
})

t.test('a host of which nothing is known', async t => {
  const nothing = { name: 'h', zone: undefined, available: true, emptying: false, capacity: {}, allocation: {}, aggregates: [] }
  for (const parts of [{}, { spec: {} }, { spec: {}, status: {} }]) t.strictSame(of(parts), nothing)
  t.equal(of({ labels: { 'topology.kubernetes.io/zone': 'z' } }).zone, 'z')
})

const taking: Array<[parts: Parts, available: boolean, emptying: boolean]> = [
  [{ spec: { maintenance: '' } }, true, false],
  [{ spec: { maintenance: 'auto' } }, false, true],
  [{ spec: { maintenance: 'ha' } }, false, false],
  [{ status: condition('Ready', 'False') }, false, false],
  [{ status: condition('Ready', 'True') }, true, false],
  [{ status: condition('Ready', 'Unknown') }, true, false],
  [{ status: condition('Evicting', 'False') }, true, false],
  [{ status: condition('Terminating', 'True') }, false, false],
  [{ status: condition('Terminating', 'False') }, true, false]
]
for (const [parts, available, emptying] of taking)
  t.test(`HV-12: whether a host takes servers: ${JSON.stringify(parts)}`, async t => {
    const host = of(parts)
    t.strictSame([host.available, host.emptying], [available, emptying])
  })

t.test('HV-12: sizes; the effective capacity counts before the other', async t => {
  const capacity = { cpu: 4, memory: '8Gi', pods: 10 }
  const [all, effective] = [of({ status: { capacity } }), of({ status: { capacity, effectiveCapacity: { cpu: 8 } } })]
  const plain = of({ status: { capacity: { cpu: 1, memory: '1Gi' }, allocation: { cpu: 2, memory: 'lots' } } })
  t.strictSame(all.capacity.cpu, (plain.capacity.cpu ?? 0n) * 4n)
  t.strictSame(all.capacity.memory, (plain.capacity.memory ?? 0n) * 8n)
  t.strictSame(Object.keys(all.capacity), ['cpu', 'memory'])
  t.strictSame(effective.capacity, { cpu: (plain.capacity.cpu ?? 0n) * 8n })
  t.strictSame(plain.allocation, { cpu: (plain.capacity.cpu ?? 0n) * 2n }, 'what nobody can read is not known')
})

t.test('HV-12: aggregates with their budgets, as they are before they are wished', async t => {
  const budget = (maxUnavailable: string) => ({ metadata: { maxUnavailable } })
  const groups = [{ trait: { name: 'A' } }, { aggregate: { name: 'b', ...budget('2') } }, { aggregate: { name: 'c' } }]
  const aggregates = [{ name: 'b' }, { name: 'c', ...budget('3') }, { name: 'd', ...budget('4') }]
  t.strictSame(of({ spec: { aggregates: ['a', 'b'], groups }, status: { aggregates } }).aggregates, [
    { name: 'a', maxUnavailable: undefined },
    { name: 'b', maxUnavailable: '2' },
    { name: 'c', maxUnavailable: '3' },
    { name: 'd', maxUnavailable: '4' }
  ])
})

const host = (name: string, capacity: bigint, allocation: bigint, more: Partial<Host> = {}): Host => ({
  name,
  zone: 'z',
  available: true,
  emptying: false,
  capacity: { cpu: capacity, memory: 1000n },
  allocation: { cpu: allocation, memory: 0n },
  aggregates: [],
  ...more
})
const leaving = host('h', 10n, 4n)
const short = (percent: number) => [{ zone: 'z', resource: 'cpu' as const, percent }]
const zones: Array<[name: string, leaving: Host, fleet: Host[], wanted: ReturnType<typeof zoneShortage>]> = [
  ['no zone', { ...leaving, zone: undefined }, [], { unknown: 'h' }],
  ['it is alone', leaving, [], short(0)],
  ['the last one fits', leaving, [host('a', 9n, 1n), host('b', 6n, 1n)], []],
  ['one does not', leaving, [host('a', 9n, 2n), host('b', 6n, 1n)], short(85)],
  ['the largest is taken off, wherever it stands', leaving, [host('b', 6n, 1n), host('a', 9n, 2n)], short(85)],
  ['three quarters', { ...leaving, allocation: { cpu: 8n } }, [host('a', 9n, 0n), host('b', 6n, 0n)], short(75)],
  ['nothing runs', { ...leaving, allocation: {} }, [], []],
  ['another zone', leaving, [host('a', 9n, 1n), host('b', 6n, 1n, { zone: 'y' })], short(0)],
  ['it is in the fleet itself', leaving, [leaving, host('a', 9n, 1n), host('b', 6n, 1n)], []],
  ['one is away', leaving, [host('a', 9n, 1n), host('b', 6n, 1n, { available: false })], short(0)],
  [
    'one is away and emptied',
    leaving,
    [host('a', 9n, 1n), host('b', 6n, 1n), host('c', 9n, 1n, { available: false, emptying: true })],
    short(85)
  ],
  ['it says no size', { ...leaving, capacity: {} }, [], { unknown: 'h' }],
  ['it says no memory', { ...leaving, capacity: { cpu: 1n } }, [host('a', 9n, 1n)], { unknown: 'h' }],
  ['another says no size', leaving, [host('a', 9n, 1n), host('b', 6n, 1n, { capacity: {} })], { unknown: 'b' }],
  [
    'one that is away says no size',
    leaving,
    [host('a', 9n, 1n), host('c', 6n, 1n), host('b', 6n, 1n, { capacity: {}, available: false })],
    []
  ]
]
for (const [name, from, fleet, wanted] of zones)
  t.test(`HV-12: N−1 of a zone: ${name}`, async t => t.strictSame(zoneShortage(from, fleet), wanted))

t.test('HV-12: budgets of aggregates', async t => {
  const gpu = (maxUnavailable?: string) => ({ aggregates: [{ name: 'gpu', maxUnavailable }] })
  const member = (name: string, available = true) => host(name, 1n, 0n, { ...gpu(), available })
  const stranger = (name: string) => host(name, 1n, 0n, { aggregates: [{ name: 'x' }], available: false })
  const over = (limit: string | undefined, fleet: Host[], byDefault?: string) =>
    overdrafts({ ...leaving, ...gpu(limit) }, fleet, byDefault)
  t.strictSame(over('0', []), [{ aggregate: 'gpu', limit: 0, away: [] }])
  t.strictSame(over('1', []), [])
  t.strictSame(over('1', [member('b', false), member('a', false)]), [{ aggregate: 'gpu', limit: 1, away: ['a', 'b'] }])
  t.strictSame(over('1', [stranger('a'), { ...member('h'), available: false }]), [], 'neither another aggregate nor itself')
  t.strictSame(over('50%', [member('a', false), stranger('b'), stranger('c')]), [{ aggregate: 'gpu', limit: 1, away: ['a'] }])
  t.strictSame(over('50%', []), [], 'it counts itself')
  t.strictSame(over(undefined, [member('a', false)]), [])
  t.strictSame(over(undefined, [member('a', false)], '1'), [{ aggregate: 'gpu', limit: 1, away: ['a'] }])
  const both = host('a', 1n, 0n, { aggregates: [{ name: 'x' }, { name: 'gpu' }], available: false })
  t.equal(over('1', [both]).length, 1)
  const renamed = { ...leaving, aggregates: [{ name: 'gpu', maxUnavailable: '50%' }] }
  t.strictSame(
    overdrafts(renamed, [host('h', 1n, 0n), member('a', false)], undefined).map(({ limit }) => limit),
    [1]
  )
})

t.test('HV-12: a number or a share, rounded up', async t => {
  const limits: Array<[text: string | undefined, members: number, limit: number | undefined]> = [
    ['2', 10, 2],
    ['0', 10, 0],
    ['25%', 8, 2],
    ['25%', 9, 3],
    ['100%', 7, 7],
    ['1%', 100, 1],
    ['1%', 101, 2],
    [undefined, 10, undefined],
    ['', 10, undefined],
    ['some', 10, undefined],
    ['-1', 10, undefined]
  ]
  for (const [text, members, limit] of limits) t.equal(limitOf(text, members), limit, `${text} of ${members}`)
})
