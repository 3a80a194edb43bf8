// AG-4…AG-8: what the status says of the aggregates, and the hosts that time alone may bring on.
import t from 'tap'
import {
  desired,
  driftIn,
  isEligible,
  isOpen,
  membership,
  plan,
  reflect,
  type Aggregate,
  type Options
} from '../../../functions/aggregates/decide.ts'
import { condition, hypervisor, now } from '../host-life/fixtures.ts'

const options: Options = { testAggregate: 'tests', alwaysZone: true, ignore: [], drift: 'repair', missing: 'report' }
const aggregate = (
  name: string,
  hosts: string[] = [],
  zone: string | null = null,
  metadata: Record<string, string> = {}
): Aggregate => ({
  id: 1,
  uuid: `uuid-${name}`,
  name,
  zone,
  hosts,
  metadata
})
const done = condition('Onboarding', 'False')
const handover = condition('Onboarding', 'True', 'Handover')
const nothing = { aggregates: [], problems: [], findings: [], actions: [] }
type Want = Parameters<typeof reflect>[1]
const told = (want: Want, outcome: Partial<Parameters<typeof reflect>[2]> = {}, extended = true, given = hypervisor()) =>
  reflect(given, want, { ...nothing, ...outcome }, now, extended)
const verdict = (want: Want, outcome: Parameters<typeof told>[1] = {}) => {
  const [{ status, reason, message } = {}] = told(want, outcome).conditions ?? []
  return `${status} ${reason}: ${message}`
}

t.test('the condition says which aggregates, or what is awaited, or what went wrong', async t => {
  const two = { aggregates: [aggregate('a'), aggregate('b')] }
  t.equal(verdict({ reason: 'Succeeded' }, two), 'True Succeeded: The host is in its aggregates: a, b.')
  t.equal(verdict({ reason: 'Succeeded' }), 'True Succeeded: The host is in its aggregates: none.')
  t.equal(verdict({ reason: 'TestAggregates' }), 'False TestAggregates: The host is in the aggregates of its test: none.')
  t.equal(
    verdict({ reason: 'WaitingForTraits' }, two),
    'False WaitingForTraits: The host stays in the aggregates of its test until its traits are set: a, b.'
  )
  t.equal(
    verdict({ reason: 'EvictionInProgress' }),
    'False EvictionInProgress: The aggregates are left as they are until the host is empty: none.'
  )
  t.equal(verdict({ reason: 'Terminating' }), 'False Terminating: The host is taken out of its aggregates: none.')
  t.equal(verdict({ reason: 'Failed' }), 'False Failed: The aggregates are not as wanted: none.')
  t.equal(verdict({ reason: 'TestAggregates', waitingFor: 'the label' }), 'False TestAggregates: Waiting for the label.')
  t.equal(verdict({ reason: 'Succeeded' }, { ...two, problems: ['one', 'two'] }), 'False Failed: one; two')
})

t.test('what Nova shows is stored; what could not be read stays as it was', async t => {
  const shown = [aggregate('a'), aggregate('z1', [], 'z1', { availability_zone: 'z1' })]
  const before = hypervisor({}, { aggregates: [{ name: 'old', uuid: 'u' }] })
  t.strictSame(told({ reason: 'Succeeded' }, { aggregates: shown }, true, before).aggregates, [
    { name: 'a', uuid: 'uuid-a' },
    { name: 'z1', uuid: 'uuid-z1', metadata: { availability_zone: 'z1' } }
  ])
  t.strictSame(told({ reason: 'Succeeded' }, { aggregates: undefined }, true, before).aggregates, [{ name: 'old', uuid: 'u' }])
  t.strictSame(told({ reason: 'Succeeded' }, { aggregates: undefined }).aggregates, [])
})

t.test('HV-4, HV-67: drift and history where the CRD has them, and only if there is something to say', async t => {
  const finding = { kind: 'aggregate', name: 'a', expected: 'member', actual: 'not a member', action: 'repaired' } as const
  const action = { kind: 'aggregate a', from: 'not a member', to: 'member', reason: 'it is wanted' }
  const more = { findings: [finding], actions: [action] }
  const both = told({ reason: 'Succeeded' }, more)
  t.strictSame(
    both.drift?.map(({ name, action }) => `${name} ${action}`),
    ['a repaired']
  )
  t.strictSame(
    both.history?.map(({ actor }) => actor),
    ['drover-aggregates']
  )
  t.strictSame(Object.keys(told({ reason: 'Succeeded' }, more, false)), ['conditions', 'aggregates'])
  t.strictSame(Object.keys(told({ reason: 'Succeeded' })), ['conditions', 'aggregates'])
  const old = hypervisor({}, { drift: [{ kind: 'aggregate', name: 'b', action: 'reported' }] })
  t.strictSame(told({ reason: 'Succeeded' }, {}, true, old).drift, undefined, 'what is well again is taken out')
})

t.test('AG-4: the zone only if it is wanted', async t => {
  t.strictSame(desired(hypervisor({ aggregates: ['a'] }, { conditions: [done] }), { ...options, alwaysZone: false }), {
    reason: 'Succeeded',
    names: ['a']
  })
})

t.test('HV-45: emptied is an eviction that ended and succeeded', async t => {
  const ending = (status: 'True' | 'False', reason: string) =>
    desired(hypervisor({ maintenance: 'termination' }, { conditions: [condition('Evicting', status, reason)] }), options)?.reason
  t.equal(ending('False', 'Succeeded'), 'Terminating')
  t.equal(ending('False', 'Cancelled'), 'EvictionInProgress')
  t.equal(ending('True', 'Succeeded'), 'EvictionInProgress')
})

t.test('AG-8: traits count at the hand-over alone, and without a generation as of now', async t => {
  const reasonOf = (...conditions: ReturnType<typeof condition>[]) => desired(hypervisor({}, { conditions }), options)?.reason
  const traits = condition('TraitsUpdated', 'True')
  t.equal(reasonOf(handover, traits), 'Succeeded')
  t.equal(reasonOf(condition('Onboarding', 'True', 'Testing'), traits), 'TestAggregates')
})

t.test('AG-3: the first zone to join, and the first other to leave', async t => {
  const all = [
    aggregate('m', ['host-1'], 'z1'),
    aggregate('n', ['host-1'], 'z0'),
    aggregate('x', [], 'z2'),
    aggregate('y', [], 'z3'),
    aggregate('k', ['host-1'], 'z2')
  ]
  const { rezone } = plan(['x', 'y'], 'host-1', all, options)
  t.equal(`${rezone?.from.name} → ${rezone?.to.name}`, 'm → x', 'k is of the same zone, n comes after m')
  t.equal(plan(['x'], 'host-1', [aggregate('k', ['host-1'], 'z2'), aggregate('x', [], 'z2')], options).rezone, undefined)
})

t.test('the aggregates of a host, by name', async t => {
  const all = ['c', 'a', 'b'].map(name => aggregate(name, ['host-1']))
  t.strictSame(
    membership('host-1', all).map(({ name }) => name),
    ['a', 'b', 'c']
  )
})

t.test('AG-7: only what was reported of aggregates is left so', async t => {
  const seen = plan(['a'], 'host-1', [aggregate('a')], options)
  const found = (drift: NonNullable<NonNullable<ReturnType<typeof hypervisor>['status']>['drift']>) =>
    driftIn(hypervisor({}, { drift, aggregates: [{ name: 'a', uuid: 'u' }] }), seen, 'reported').length
  t.equal(found([{ kind: 'aggregate', name: 'a', action: 'reported' }]), 1)
  t.equal(found([{ kind: 'trait', name: 'a', action: 'reported' }]), 0)
  t.equal(found([{ kind: 'aggregate', name: 'a', action: 'repaired' }]), 0)
})

t.test('which hosts have aggregates at all, and which are looked at by the fast tick', async t => {
  t.equal(isEligible(hypervisor()), true)
  t.equal(isEligible(hypervisor({ lifecycleEnabled: false })), false)
  t.equal(isEligible(hypervisor({}, { hypervisorId: '' })), false)
  t.equal(isEligible(hypervisor({}, { serviceId: '' })), false)
  const open = (...conditions: ReturnType<typeof condition>[]) => isOpen(hypervisor({}, { conditions }))
  t.equal(open(done), false)
  t.equal(open(handover), true)
  t.equal(open(done, condition('AggregatesUpdated', 'False', 'Failed')), true)
  t.equal(open(handover, condition('AggregatesUpdated', 'True')), false)
  t.equal(open(done, condition('AggregatesUpdated', 'False', 'Terminating')), false)
  t.equal(isOpen(hypervisor({ lifecycleEnabled: false }, { conditions: [handover] })), false)
})
