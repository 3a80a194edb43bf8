import t from 'tap'
import {
  actionsOf,
  changeOf,
  driftIn,
  intended,
  isEligible,
  isOpen,
  isSettled,
  managedAfter,
  reflect,
  wantedOf,
  type Outcome
} from '../../../functions/traits/decide.ts'
import { factTraits, parseFactRule } from '../../../functions/traits/facts.ts'
import { condition, hypervisor, now, type Status } from '../host-life/fixtures.ts'

const done = condition('Onboarding', 'False')
const well = condition('TraitsUpdated', 'True', 'Succeeded', { observedGeneration: 3 })

void t.test('AG-8: when traits are set', async t => {
  const eligible = (...[spec, status]: Parameters<typeof hypervisor>) => isEligible(hypervisor(spec, status))
  t.equal(eligible({}, { conditions: [done] }), true)
  t.equal(eligible({}, { conditions: [condition('Onboarding', 'True', 'Handover')] }), true)
  t.equal(eligible({}, { conditions: [condition('Onboarding', 'True', 'Testing')] }), false)
  t.equal(eligible({}, { conditions: [condition('Onboarding', 'False', 'Aborted')] }), false)
  for (const reason of ['Succeeded', 'Handover'])
    t.equal(eligible({}, { conditions: [condition('Onboarding', 'Unknown', reason)] }), false, `HV-6: ${reason}, or not`)
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
  const longest = `CUSTOM_${'X'.repeat(248)}`
  t.strictSame(wantedOf(hypervisor({ customTraits: [longest] })).traits, [longest], 'AG-10: 255 characters')
  const { spec, ...rest } = hypervisor()
  const { customTraits: _, ...without } = spec
  t.strictSame(wantedOf({ ...rest, spec: without as typeof spec }).traits, [], 'left to the default')
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
  t.strictSame(changeOf(wanted, ['CUSTOM_A']).write, ['CUSTOM_A', 'CUSTOM_B'], 'one to add')
  t.equal(changeOf(wanted, ['CUSTOM_B', 'NOVA', 'CUSTOM_A']).write, undefined, 'in another order')
  t.equal(changeOf({ traits: [], unusable: [], managed: [] }, []).write, undefined, 'both sides empty')
  t.strictSame(managedAfter({ traits: ['CUSTOM_A', 'HW_A', 'HW_B'], unusable: [], managed: [] }, ['HW_B']), ['CUSTOM_A', 'HW_B'])
  t.strictSame(managedAfter({ traits: ['HW_A', 'HW_B'], unusable: [], managed: ['HW_A'] }, []), ['HW_A'], 'as before')
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

const nothing: Outcome = { traits: ['B', 'A'], managed: [], problems: [], missingProvider: false, findings: [], actions: [] }
const told = (outcome: Partial<Outcome>, status: Partial<Status> = {}, extended = true) =>
  reflect(hypervisor({}, status), { ...nothing, ...outcome }, now, extended)

void t.test('AG-9, AG-10, AG-13: the condition', async t => {
  const says = (outcome: Partial<Outcome>): string[] =>
    told(outcome).conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`)
  t.strictSame(says({}), ['TraitsUpdated True Succeeded: Set: none wanted.'])
  t.strictSame(says({ managed: ['CUSTOM_A', 'CUSTOM_B'] }), ['TraitsUpdated True Succeeded: Set: CUSTOM_A, CUSTOM_B.'])
  t.strictSame(says({ problems: ['x'] }), ['TraitsUpdated False Failed: x'])
  t.strictSame(says({ problems: ['x', 'y'] }), ['TraitsUpdated False Failed: x; y'])
  t.strictSame(says({ traits: undefined, missingProvider: true, problems: ['x'] }), [
    'TraitsUpdated False ProviderMissing: Placement has no resource provider with the stored id.'
  ])
})

void t.test('AG-8, HV-4, HV-67: the status', async t => {
  const changed = { write: undefined, add: ['CUSTOM_A'], remove: ['CUSTOM_B'] }
  const acted = told({ managed: ['B', 'A'], findings: intended(changed), actions: actionsOf(changed) })
  const time = '2026-11-16T12:00:00Z'
  const { conditions: _, ...rest } = acted
  t.strictSame(rest, {
    traits: ['A', 'B'],
    managedTraits: ['A', 'B'],
    drift: [
      { kind: 'trait', name: 'CUSTOM_A', expected: 'present', actual: 'absent', action: 'reported', since: time },
      { kind: 'trait', name: 'CUSTOM_B', expected: 'absent', actual: 'present', action: 'reported', since: time }
    ],
    history: [
      ['CUSTOM_A', 'absent', 'present', 'it is wanted'],
      ['CUSTOM_B', 'present', 'absent', 'it is wanted no more']
    ].map(([name, from, to, reason]) => ({
      id: `trait ${name} ${to} ${time}`,
      time,
      kind: `trait ${name}`,
      from,
      to,
      reason,
      actor: 'drover-traits'
    }))
  })
  t.equal(told({ actions: actionsOf({ ...changed, remove: [] }) }).history?.length, 1)
  t.strictSame(Object.keys(told({})), ['conditions', 'traits', 'managedTraits'], 'nothing to tell')
  t.strictSame(Object.keys(told({}, {}, false)), ['conditions', 'traits'], 'HV-4')
  t.strictSame(told({ traits: undefined }, { traits: ['X'] }).traits, ['X'], 'what could not be read stays')
  t.strictSame(told({ traits: undefined }).traits, [])
  const repaired = { kind: 'trait', name: 'CUSTOM_A', action: 'repaired', since: '2026-11-16T11:30:00Z' } as const
  t.strictSame(told({}, { drift: [repaired, { ...repaired, kind: 'aggregate' }] }).drift, [repaired], 'its own kind, for an hour')
})

void t.test('the fast tick looks at what is not done', async t => {
  const open = (...[spec, status]: Parameters<typeof hypervisor>) => isOpen(hypervisor(spec, status))
  t.equal(open({}, { conditions: [done] }), true)
  t.equal(open({}, { conditions: [done, condition('TraitsUpdated', 'False', 'Failed')] }), true)
  t.equal(open({}, { conditions: [done, well] }), false)
  t.equal(open({ lifecycleEnabled: false }, { conditions: [done] }), false)
})

void t.test('AG-7: drift is what was there, or was reported as missing', async t => {
  const add = { write: undefined, add: ['CUSTOM_A', 'CUSTOM_B', 'CUSTOM_NEW'], remove: [] }
  const names = (status: Partial<Status>) => driftIn(hypervisor({}, status), add, 'repaired').map(({ name }) => name)
  const traits = ['CUSTOM_A', 'X']
  const entry = { kind: 'trait', name: 'CUSTOM_B', action: 'reported' } as const
  t.strictSame(driftIn(hypervisor({}, { conditions: [well], traits }), add, 'repaired'), [
    { kind: 'trait', name: 'CUSTOM_A', expected: 'present', actual: 'absent', action: 'repaired' }
  ])
  t.strictSame(names({ traits }), [], 'never settled')
  t.strictSame(names({ traits, drift: [entry] }), ['CUSTOM_A', 'CUSTOM_B'], 'what is left so, and what somebody does beside it')
  t.strictSame(names({ traits, drift: [{ ...entry, action: 'repaired' }] }), [], 'it was put back')
  t.strictSame(names({ traits, drift: [{ ...entry, kind: 'aggregate' }] }), [], 'another kind')
})

void t.test('what a listing can prove', async t => {
  const host = hypervisor(
    { customTraits: ['CUSTOM_A'] },
    { conditions: [done, well], traits: ['CUSTOM_A', 'X'], managedTraits: ['CUSTOM_A'] }
  )
  t.equal(isSettled(host), true)
  t.equal(isSettled({ ...host, metadata: { ...host.metadata, generation: 4 } }), false, 'a new spec')
  t.equal(isSettled({ ...host, spec: { ...host.spec, customTraits: ['CUSTOM_A', 'CUSTOM_bad'] } }), false, 'AG-10: one cannot be')
  t.equal(
    isSettled(hypervisor({}, { conditions: [done, well], traits: [], managedTraits: ['CUSTOM_GONE'] })),
    false,
    'something to take away'
  )
})
