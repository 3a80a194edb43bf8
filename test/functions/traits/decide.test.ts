import t from 'tap'
import { changeOf, driftIn, isEligible, isSettled, managedAfter, reflect, wantedOf } from '../../../functions/traits/decide.ts'
import { factTraits, parseFactRule } from '../../../functions/traits/facts.ts'
import { condition, hypervisor, now } from '../host-life/fixtures.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const done = condition('Onboarding', 'False')
const well = condition('TraitsUpdated', 'True', 'Succeeded', { observedGeneration: 3 })

void t.test('AG-8: when traits are set', async t => {
  const eligible = (...[spec, status]: Parameters<typeof hypervisor>) => isEligible(hypervisor(spec, status))
  t.equal(eligible({}, { conditions: [done] }), true)
  t.equal(eligible({}, { conditions: [condition('Onboarding', 'True', 'Handover')] }), true)
  t.equal(eligible({}, { conditions: [condition('Onboarding', 'True', 'Testing')] }), false)
  t.equal(eligible({}, { conditions: [condition('Onboarding', 'False', 'Aborted')] }), false)
  t.equal(eligible({}, {}), false)
  t.equal(eligible({ maintenance: 'termination' }, { conditions: [done] }), false)
  t.equal(eligible({ lifecycleEnabled: false }, { conditions: [done] }), false)
  t.equal(eligible({}, { conditions: [done], hypervisorId: '' }), false, 'AG-13')
})

void t.test('what is wanted', async t => {
  const wanted = wantedOf(
    hypervisor({ customTraits: ['CUSTOM_B', 'CUSTOM_A', 'CUSTOM_B', 'CUSTOM_bad', `CUSTOM_${'X'.repeat(249)}`, 'HW_X'] })
  )
  t.strictSame(wanted.traits, ['CUSTOM_A', 'CUSTOM_B', 'HW_X'])
  t.strictSame(wanted.unusable, [`CUSTOM_${'X'.repeat(249)}`, 'CUSTOM_bad'], 'AG-10')
  t.strictSame(wantedOf(hypervisor({}, { traits: ['CUSTOM_OLD', 'COMPUTE_NODE'] })).managed, ['CUSTOM_OLD'], 'AG-11: adoption')
  t.strictSame(wantedOf(hypervisor({}, { traits: ['CUSTOM_OLD'], managedTraits: [] })).managed, [])
})

void t.test('AG-9, AG-11: as sets, and what others put there stays', async t => {
  const wanted = { traits: ['CUSTOM_A', 'CUSTOM_B'], unusable: [], managed: ['CUSTOM_A', 'CUSTOM_OLD'] }
  t.strictSame(changeOf(wanted, ['CUSTOM_OLD', 'NOVA', 'CUSTOM_OTHER', 'CUSTOM_A']), {
    write: ['CUSTOM_A', 'CUSTOM_B', 'CUSTOM_OTHER', 'NOVA'],
    add: ['CUSTOM_B'],
    remove: ['CUSTOM_OLD']
  })
  t.equal(changeOf(wanted, ['CUSTOM_B', 'NOVA', 'CUSTOM_A']).write, undefined, 'in another order')
  t.equal(changeOf({ traits: [], unusable: [], managed: [] }, []).write, undefined, 'both sides empty')
  t.strictSame(managedAfter({ traits: ['CUSTOM_A', 'HW_A', 'HW_B'], unusable: [], managed: [] }, ['HW_B']), ['CUSTOM_A', 'HW_B'])
})

void t.test('AG-14: a trait that follows a fact', async t => {
  const rules = [
    'CUSTOM_DEGRADED_NETWORK=NetworkHealthy:False/NetworkDegraded',
    'CUSTOM_NO_CERT=TLSCertificateInstalled:False'
  ].map(parseFactRule)
  const network = (status: 'True' | 'False' | 'Unknown', reason: string, managedTraits: string[] = []) =>
    hypervisor({ customTraits: ['CUSTOM_A'] }, { conditions: [done, condition('NetworkHealthy', status, reason)], managedTraits })
  t.strictSame(wantedOf(network('False', 'NetworkDegraded'), rules).traits, ['CUSTOM_A', 'CUSTOM_DEGRADED_NETWORK'])
  t.strictSame(wantedOf(network('False', 'NetworkDown'), rules).traits, ['CUSTOM_A'], 'another reason')
  t.strictSame(wantedOf(network('False', 'NetworkDegraded')).traits, ['CUSTOM_A'], 'no policy, no trait')
  const recovered = wantedOf(network('True', 'AllHealthy', ['CUSTOM_A', 'CUSTOM_DEGRADED_NETWORK']), rules)
  t.strictSame(
    changeOf(recovered, ['CUSTOM_A', 'CUSTOM_DEGRADED_NETWORK']).remove,
    ['CUSTOM_DEGRADED_NETWORK'],
    'taken away again'
  )
  t.strictSame(factTraits(network('Unknown', 'AgentSilent'), rules), [], 'nobody knows: nothing changes')
  t.strictSame(factTraits(network('Unknown', 'AgentSilent', ['CUSTOM_DEGRADED_NETWORK']), rules), ['CUSTOM_DEGRADED_NETWORK'])
  t.strictSame(factTraits(hypervisor(), rules), [], 'what was never told is no fact')
  const settled = hypervisor({}, { conditions: [done, well, condition('NetworkHealthy', 'False', 'NetworkDegraded')] })
  t.equal(isSettled(settled), true)
  t.equal(isSettled(settled, rules), false, 'the slow tick looks at it too')
})

void t.test('the condition', async t => {
  const outcome = { traits: ['B', 'A'], managed: [], problems: [], missingProvider: false, findings: [], actions: [] }
  matchWhole(t, reflect(hypervisor(), outcome, now, true), {
    traits: ['A', 'B'],
    managedTraits: [],
    conditions: [{ type: 'TraitsUpdated', status: 'True', reason: 'Succeeded' }]
  })
  matchWhole(t, reflect(hypervisor(), { ...outcome, traits: undefined, missingProvider: true }, now, true).conditions, [
    { reason: 'ProviderMissing' }
  ])
  t.notMatch(reflect(hypervisor(), outcome, now, false), { managedTraits: [] }, 'HV-4')
})

void t.test('drift, and what a listing can prove', async t => {
  const host = hypervisor(
    { customTraits: ['CUSTOM_A'] },
    { conditions: [done, well], traits: ['CUSTOM_A', 'X'], managedTraits: ['CUSTOM_A'] }
  )
  matchWhole(t, driftIn(host, { write: undefined, add: ['CUSTOM_A'], remove: [] }, 'repaired'), [
    { kind: 'trait', name: 'CUSTOM_A', actual: 'absent' }
  ])
  t.strictSame(driftIn(host, { write: undefined, add: ['CUSTOM_NEW'], remove: [] }, 'repaired'), [], 'newly wanted')
  const reported = [{ kind: 'trait' as const, name: 'CUSTOM_A', action: 'reported' as const }]
  const left = hypervisor({}, { conditions: [done], traits: ['CUSTOM_B'], drift: reported })
  matchWhole(
    t,
    driftIn(left, { write: undefined, add: ['CUSTOM_A', 'CUSTOM_B', 'CUSTOM_NEW'], remove: [] }, 'reported'),
    [{ name: 'CUSTOM_A' }, { name: 'CUSTOM_B' }],
    'what is left so, and what somebody does beside it'
  )
  t.equal(isSettled(host), true)
  t.equal(isSettled({ ...host, metadata: { ...host.metadata, generation: 4 } }), false, 'a new spec')
  t.equal(
    isSettled(hypervisor({}, { conditions: [done, well], traits: [], managedTraits: ['CUSTOM_GONE'] })),
    false,
    'something to take away'
  )
})
