import t from 'tap'
import {
  desired,
  driftIn,
  plan,
  reflect,
  type Aggregate,
  type Desired,
  type Options
} from '../../../functions/aggregates/decide.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now } from '../host-life/fixtures.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const options: Options = { testAggregate: 'tests', alwaysZone: true, ignore: [], drift: 'repair', missing: 'report' }
const onboarding = (reason: string, status: 'True' | 'False' = 'True') => condition('Onboarding', status, reason)
const host = (spec: Partial<Hypervisor['spec']>, ...conditions: ReturnType<typeof condition>[]) =>
  hypervisor(spec, { conditions })

const cases: Array<[name: string, given: Hypervisor, then: Desired]> = [
  ['nothing before onboarding', host({}), undefined],
  ['nothing once aborted', host({}, onboarding('Aborted', 'False')), undefined],
  [
    'zone and test while registering',
    host({ aggregates: ['a'] }, onboarding('Initial')),
    { reason: 'TestAggregates', names: ['tests', 'z1'] }
  ],
  [
    'also while testing',
    host({ aggregates: ['a'] }, onboarding('Testing')),
    { reason: 'TestAggregates', names: ['tests', 'z1'] }
  ],
  [
    'also when the tests failed',
    host({ aggregates: ['a'] }, onboarding('Failed')),
    { reason: 'TestAggregates', names: ['tests', 'z1'] }
  ],
  [
    'hand-over waits for traits',
    host({ aggregates: ['a'] }, onboarding('Handover')),
    { reason: 'WaitingForTraits', names: ['tests', 'z1'] }
  ],
  [
    'traits of an earlier spec do not count',
    host(
      { aggregates: ['a'] },
      onboarding('Handover'),
      condition('TraitsUpdated', 'True', 'Succeeded', { observedGeneration: 2 })
    ),
    { reason: 'WaitingForTraits', names: ['tests', 'z1'] }
  ],
  [
    'hand-over with traits',
    host(
      { aggregates: ['a'] },
      onboarding('Handover'),
      condition('TraitsUpdated', 'True', 'Succeeded', { observedGeneration: 3 })
    ),
    { reason: 'Succeeded', names: ['a', 'z1'] }
  ],
  ['AG-4: the zone without any annotation', host({}, onboarding('Succeeded', 'False')), { reason: 'Succeeded', names: ['z1'] }],
  [
    'AG-6: duplicates',
    host({ aggregates: ['b', 'a', 'b', 'z1'] }, onboarding('Succeeded', 'False')),
    { reason: 'Succeeded', names: ['a', 'b', 'z1'] }
  ],
  [
    'HV-34: no zone label',
    { ...host({}, onboarding('Initial')), metadata: { name: 'host-1' } },
    { reason: 'TestAggregates', waitingFor: 'the label topology.kubernetes.io/zone' }
  ],
  [
    'termination: left alone',
    host({ maintenance: 'termination' }, onboarding('Succeeded', 'False')),
    { reason: 'EvictionInProgress' }
  ],
  [
    'HV-45: an eviction that failed is no empty host',
    host({ maintenance: 'termination' }, condition('Evicting', 'True', 'Failed')),
    { reason: 'EvictionInProgress' }
  ],
  [
    'termination, emptied',
    host({ maintenance: 'termination' }, condition('Evicting', 'False')),
    { reason: 'Terminating', names: [] }
  ]
]
for (const [name, given, then] of cases) void t.test(`desired: ${name}`, async t => t.strictSame(desired(given, options), then))

let id = 0
const aggregate = (name: string, hosts: string[] = [], zone: string | null = null): Aggregate => ({
  id: (id += 1),
  uuid: `uuid-${name}`,
  name,
  zone,
  hosts,
  metadata: zone ? { availability_zone: zone } : {}
})
const short = ({ add, remove, missing, rezone }: ReturnType<typeof plan>) => ({
  add: add.map(({ name }) => name),
  remove: remove.map(({ name }) => name),
  missing,
  rezone: rezone && `${rezone.from.name} → ${rezone.to.name}`
})

void t.test('the plan', async t => {
  const all = [
    aggregate('a', ['host-1', 'host-10']),
    aggregate('b', ['host-10']),
    aggregate('c', ['host-1']),
    aggregate('z1', ['host-1'], 'z1'),
    aggregate('z2', [], 'z2')
  ]
  t.strictSame(short(plan(['b', 'z1'], 'host-1', all, options)), {
    add: ['b'],
    remove: ['a', 'c'],
    missing: [],
    rezone: undefined
  })
  t.strictSame(
    short(plan(['b', 'nope', 'z1'], 'host-1', all, options)),
    { add: ['b'], remove: [], missing: ['nope'], rezone: undefined },
    'AG-5'
  )
  t.strictSame(
    short(plan(['z1'], 'host-1', all, { ...options, ignore: [/^c$/] })),
    { add: [], remove: ['a'], missing: [], rezone: undefined },
    'AG-7'
  )
  t.strictSame(
    short(plan(['z2'], 'host-1', all, options)),
    { add: ['z2'], remove: ['a', 'c', 'z1'], missing: [], rezone: 'z1 → z2' },
    'AG-3'
  )
  t.strictSame(
    short(plan([], 'host', all, options)),
    { add: [], remove: [], missing: [], rezone: undefined },
    'HV-28: a part of a name is another host'
  )
})

void t.test('AG-7: drift is what differs from what was seen when all was well', async t => {
  const all = [aggregate('a'), aggregate('b', ['host-1']), aggregate('z1', ['host-1'], 'z1')]
  const seen = plan(['a', 'z1'], 'host-1', all, options)
  const well = condition('AggregatesUpdated', 'True')
  const before = [
    { name: 'a', uuid: 'u' },
    { name: 'z1', uuid: 'u' }
  ]
  matchWhole(t, driftIn(hypervisor({}, { conditions: [well], aggregates: before }), seen, 'repaired'), [
    { name: 'a', expected: 'member', actual: 'not a member', action: 'repaired' },
    { name: 'b', expected: 'not a member', actual: 'member', action: 'repaired' }
  ])
  t.strictSame(driftIn(hypervisor({}, { aggregates: before }), seen, 'repaired'), [], 'never before well')
  const wantedAnew = hypervisor({}, { conditions: [well], aggregates: [{ name: 'b', uuid: 'u' }] })
  t.strictSame(driftIn(wantedAnew, seen, 'repaired'), [], 'the spec changed, nobody else')
  const drift = [{ kind: 'aggregate' as const, name: 'a', action: 'reported' as const }]
  matchWhole(
    t,
    driftIn(hypervisor({}, { drift }), seen, 'reported'),
    [{ name: 'a' }, { name: 'b' }],
    'reported before, and left so'
  )
  matchWhole(
    t,
    driftIn(hypervisor({}, { drift, aggregates: [{ name: 'z1', uuid: 'u' }] }), seen, 'reported'),
    [{ name: 'a' }, { name: 'b' }],
    'and what somebody does beside it'
  )
  const left = plan(['a', 'c', 'z1'], 'host-1', [...all, aggregate('c')], { ...options, leave: ['a'] })
  t.strictSame(short(left), { add: ['c'], remove: ['b'], missing: [], rezone: undefined }, 'the rest is done all the same')
})

void t.test('reflect: a failure is told and what was known is kept', async t => {
  const given = hypervisor({}, { aggregates: [{ name: 'a', uuid: 'u' }] })
  const status = reflect(
    given,
    { reason: 'Succeeded', names: [] },
    { aggregates: undefined, problems: ['Nova is away'], findings: [], actions: [] },
    now,
    true
  )
  matchWhole(t, status, {
    conditions: [
      { type: 'AggregatesUpdated', status: 'False', reason: 'Failed', message: 'Nova is away', observedGeneration: 3 }
    ],
    aggregates: [{ name: 'a' }]
  })
})
