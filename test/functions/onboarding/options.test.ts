// HV-43: pre-checks, and what a test may ask for beyond a console.
import t from 'tap'
import { decide, type NovaHost, type Options, type Seen, type TestServer } from '../../../functions/onboarding/decide.ts'
import { reflect } from '../../../functions/onboarding/reflect.ts'
import type { Test } from '../../../functions/onboarding/smoke-test.ts'
import { condition, hypervisor, now, type Status } from '../host-life/fixtures.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const options: Options = {
  nameForms: [],
  testAggregate: 'tests',
  prefix: 'ohooc-',
  maxAttempts: 5,
  testTimeoutMs: 300_000,
  firstWaitMs: 60_000,
  liveMigration: true,
  takeover: false,
  haMode: 'off'
}
const nova: NovaHost = {
  id: 'hv-id',
  hostname: 'host-1',
  state: 'up',
  status: 'enabled',
  service: { id: 'service-id', host: 'host-1', disabledReason: null }
}
const name = 'ohooc-host-1-12345678-1'
const server = (given: Partial<TestServer> = {}): TestServer => ({
  id: 'id-1',
  name,
  status: 'ACTIVE',
  fault: undefined,
  created: null,
  hasShown: true,
  hasReached: true,
  problem: undefined,
  host: 'host-1',
  taskState: null,
  ...given
})
const testing = (tests: Test[], servers: TestServer[]): Seen => {
  const status: Partial<Status> = { conditions: [condition('Onboarding', 'True', 'Testing')], onboarding: { tests } }
  return { hypervisor: hypervisor({}, status), hosts: [nova], forcedDown: false, servers, checks: [] }
}
const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString()
const begun: Test = { name, startedAt: ago(400) }
const out: Test = { name: `${name} out`, startedAt: ago(10) }
const gone: Test = { ...out, result: 'Passed' }
const back: Test = { name: `${name} in`, startedAt: ago(10) }
const old = (test: Test, seconds: number): Test => ({ ...test, startedAt: ago(seconds) })

const cases: Array<[what: string, tests: Test[], server: TestServer, then: object]> = [
  ['leaves once it is well', [begun], server(), { do: 'move', leg: 'out', target: undefined }],
  ['is on its way', [begun, out], server({ status: 'MIGRATING', taskState: 'migrating' }), { do: 'watch' }],
  ['has not begun to move', [begun, out], server(), { do: 'watch' }],
  ['nobody knows where it is', [begun, old(out, 60)], server({ host: null }), { do: 'watch' }],
  ['stayed where it was', [begun, old(out, 60)], server(), { do: 'fail', why: /away ended on host-1/ }],
  ['never arrives', [begun, old(out, 400)], server({ status: 'MIGRATING' }), { do: 'fail', why: /away did not end/ }],
  ['is elsewhere, and shall come back', [begun, out], server({ host: 'host-2' }), { do: 'move', leg: 'in', target: 'host-1' }],
  ['waits over there', [begun, gone, back], server({ host: 'host-2' }), { do: 'watch', waitingFor: /move back/ }],
  ['is not taken back', [begun, gone, old(back, 60)], server({ host: 'host-2' }), { do: 'fail', why: /back ended on host-2/ }],
  ['is back, whatever its console shows by now', [begun, gone, back], server({ hasShown: false }), { do: 'pass' }],
  ['broke on its way', [begun, out], server({ status: 'ERROR', fault: 'boom' }), { do: 'fail', why: 'boom' }]
]
for (const [what, tests, at, then] of cases) {
  void t.test(`HV-43: the test server ${what}`, async t => {
    t.match(decide(testing(tests, [at]), options, now), { do: 'test', test: then })
  })
}

void t.test('HV-43: each leg is recorded, and one that failed is a failed attempt', async t => {
  const all = { ...options, extended: true, haSkipped: true }
  const after = (tests: Test[], at: TestServer, problem: object = {}) => {
    const seen = testing(tests, [at])
    const { status } = reflect(seen.hypervisor, decide(seen, options, now), problem, now, all)
    return { onboarding: undefined, ...status }.onboarding
  }
  matchWhole(t, after([begun], server())?.tests, [{ name: out.name, result: undefined }, { name }])
  matchWhole(t, after([begun], server(), { problem: 'no valid host', isFinal: true }), {
    attempts: 1,
    tests: [{ name, result: 'Failed', reason: 'no valid host' }]
  })
  matchWhole(
    t,
    after([begun], server(), { problem: 'no answer' })?.tests,
    [{ name, result: undefined }],
    'an outage: asked again'
  )
  matchWhole(t, after([begun, out], server({ host: 'host-2' }))?.tests, [
    { name: out.name, result: 'Passed' },
    { name: back.name },
    { name }
  ])
  matchWhole(t, after([begun, gone, back], server())?.tests, [
    { result: 'Passed' },
    { name: back.name, result: 'Passed' },
    { result: 'Passed' }
  ])
  matchWhole(t, after([begun, old(out, 60)], server()), {
    attempts: 1,
    tests: [
      { name: out.name, result: 'Failed' },
      { name, result: 'Failed' }
    ]
  })
})

void t.test('HV-43: the network must be reached where that is asked', async t => {
  const still = { ...options, liveMigration: false }
  const early = [{ ...begun, startedAt: ago(5) }]
  t.match(decide(testing(early, [server({ hasReached: false })]), still, now), {
    test: { do: 'watch', waitingFor: /reach the network/ }
  })
  t.match(decide(testing([begun], [server({ hasReached: false })]), still, now), {
    test: { do: 'fail', why: /network was not reached/ }
  })
  t.match(decide(testing([begun], [server()]), still, now), { test: { do: 'pass' } })
})

void t.test('HV-43: a check holds the host back or is only recorded, by policy', async t => {
  const prepared = { aggregates: ['tests', 'z1'].map(aggregate => ({ name: aggregate, uuid: 'u' })) }
  const conditions = [condition('Onboarding', 'True', 'Initial'), condition('AggregatesUpdated', 'False', 'TestAggregates')]
  const seen = { ...testing([], []), hypervisor: hypervisor({}, { conditions, ...prepared }) }
  const failed = { name: 'check libvirt', result: 'Failed', reason: 'too old' } as const
  t.match(decide({ ...seen, checks: [failed] }, options, now), {
    do: 'wait',
    at: 'Initial',
    waitingFor: 'the check libvirt: too old'
  })
  t.match(decide({ ...seen, checks: [{ ...failed, result: 'Warned' }] }, options, now), { do: 'advance', to: 'Testing' })
})
