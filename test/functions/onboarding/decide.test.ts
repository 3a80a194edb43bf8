import t from 'tap'
import {
  decide,
  retryAnnotation,
  type NovaHost,
  type Options,
  type Seen,
  type Step,
  type TestServer
} from '../../../functions/onboarding/decide.ts'
import { reflect } from '../../../functions/onboarding/reflect.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now, type Status } from '../host-life/fixtures.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const options: Options = {
  nameForms: ['{name}.example.com'],
  testAggregate: 'tests',
  prefix: 'ohooc-',
  maxAttempts: 5,
  testTimeoutMs: 300_000,
  firstWaitMs: 60_000,
  liveMigration: false,
  takeover: false,
  haMode: 'off'
}
const all = { ...options, extended: true, haSkipped: true }
const nova = (given: Partial<NovaHost> = {}): NovaHost => ({
  id: 'hv-id',
  hostname: 'host-1',
  state: 'up',
  status: 'enabled',
  ...given,
  service: { id: 'service-id', host: 'host-1', disabledReason: null, ...given.service }
})
const seen = (given: Hypervisor, more: Partial<Seen> = {}): Seen => ({
  hypervisor: given,
  hosts: [nova()],
  forcedDown: false,
  servers: [],
  checks: [],
  ...more
})
const at = (
  reason: string,
  status: Partial<Status> = {},
  spec: Partial<Hypervisor['spec']> = {},
  more: ReturnType<typeof condition>[] = []
) => hypervisor(spec, { conditions: [condition('Onboarding', 'True', reason, { observedGeneration: 3 }), ...more], ...status })
const tested = (reason: string, tests: NonNullable<Status['onboarding']>['tests'], spec: Partial<Hypervisor['spec']> = {}) =>
  at(reason, { onboarding: { tests: tests ?? [] } }, spec)
const server = (given: Partial<TestServer> = {}): TestServer => ({
  id: 'id-1',
  name: 'ohooc-host-1-12345678-1',
  status: 'BUILD',
  fault: undefined,
  created: null,
  hasShown: false,
  hasReached: true,
  problem: undefined,
  host: null,
  taskState: null,
  ...given
})
const prepared = {
  aggregates: [
    { name: 'z1', uuid: 'u' },
    { name: 'tests', uuid: 'u' }
  ]
}
const inTest = condition('AggregatesUpdated', 'False', 'TestAggregates')
const minutesAgo = (minutes: number): string => new Date(now.getTime() - minutes * 60_000).toISOString()
const failed = (number: number, minutes: number) => ({
  name: `ohooc-host-1-12345678-${number}`,
  result: 'Failed',
  finishedAt: minutesAgo(minutes)
})
const fresh = hypervisor({}, { hypervisorId: '', serviceId: '' })

const cases: Array<[name: string, given: Seen, then: object]> = [
  ['HV-33: registered', seen(fresh), { do: 'advance', to: 'Initial', host: { id: 'hv-id' } }],
  ['HV-33: not registered', seen(fresh, { hosts: [] }), { do: 'wait', at: 'Registering', waitingFor: /not registered/ }],
  [
    'HV-28: a longer name is another host',
    seen(fresh, { hosts: [nova({ hostname: 'host-10', service: { id: 's', host: 'host-10', disabledReason: null } })] }),
    { do: 'wait', at: 'Registering' }
  ],
  [
    'HV-29: a dotted name in a configured form',
    seen(fresh, { hosts: [nova({ hostname: 'host-1.example.com' })] }),
    { do: 'advance', to: 'Initial' }
  ],
  [
    'HV-28: two of them',
    seen(fresh, { hosts: [nova(), nova({ id: 'other', hostname: 'host-1.example.com' })] }),
    { do: 'wait', waitingFor: /AmbiguousHost/ }
  ],
  ['lifecycle off', seen(hypervisor({ lifecycleEnabled: false })), { do: 'nothing' }],
  ['terminating before it began', seen(hypervisor({ maintenance: 'termination' })), { do: 'nothing' }],
  [
    'HV-27: adopted',
    seen(hypervisor({}, { conditions: [condition('Onboarding', 'False')] })),
    { do: 'verify', host: { id: 'hv-id' } }
  ],
  [
    'HV-40: aborted and wanted again',
    seen(hypervisor({}, { conditions: [condition('Onboarding', 'False', 'Aborted')] })),
    { do: 'advance', to: 'Initial' }
  ],

  ['HV-34: waits for the test aggregates', seen(at('Initial')), { do: 'wait', waitingFor: 'the aggregates z1 and tests' }],
  [
    'HV-34: production aggregates will not do',
    seen(
      at(
        'Initial',
        {
          aggregates: [
            { name: 'z1', uuid: 'u' },
            { name: 'general', uuid: 'u' }
          ]
        },
        {},
        [inTest]
      )
    ),
    { do: 'wait' }
  ],
  ['HV-35: already enabled', seen(at('Initial', prepared, {}, [inTest])), { do: 'advance', to: 'Testing' }],
  [
    'HV-35: a new service',
    seen(at('Initial', prepared, {}, [inTest]), {
      hosts: [
        nova({
          status: 'disabled',
          service: { id: 's', host: 'host-1', disabledReason: 'New compute service disabled due to config option.' }
        })
      ]
    }),
    { do: 'enable' }
  ],
  [
    'HV-32: our own disabling',
    seen(at('Initial', prepared, {}, [inTest]), {
      hosts: [
        nova({ status: 'disabled', service: { id: 's', host: 'host-1', disabledReason: 'drover: x (drover-maintenance)' } })
      ]
    }),
    { do: 'enable' }
  ],
  [
    "HV-32: somebody else's",
    seen(at('Initial', prepared, {}, [inTest]), {
      hosts: [nova({ status: 'disabled', service: { id: 's', host: 'host-1', disabledReason: 'bad fans' } })]
    }),
    { do: 'wait', waitingFor: /bad fans/ }
  ],
  [
    'HV-35: down',
    seen(at('Initial', prepared, {}, [inTest]), { hosts: [nova({ state: 'down' })] }),
    { do: 'wait', waitingFor: 'nova-compute to be up' }
  ],
  [
    'HV-35: forced down',
    seen(at('Initial', prepared, {}, [inTest]), { hosts: [nova({ state: 'down' })], forcedDown: true }),
    { do: 'enable' }
  ],

  ['skipTests', seen(at('Testing', {}, { skipTests: true })), { do: 'advance', to: 'Handover' }],
  ['HV-36: the first server', seen(at('Testing')), { do: 'test', test: { do: 'create', name: 'ohooc-host-1-12345678-1' } }],
  [
    'HV-36: a create whose answer was lost is found',
    seen(at('Testing'), { servers: [server()] }),
    { do: 'test', test: { do: 'watch' } }
  ],
  [
    'HV-36: builds',
    seen(tested('Testing', [{ name: server().name, startedAt: minutesAgo(1) }]), { servers: [server()] }),
    { do: 'test', test: { do: 'watch', waitingFor: /BUILD/ } }
  ],
  [
    'HV-36: nothing on its console yet',
    seen(tested('Testing', [{ name: server().name, startedAt: minutesAgo(1) }]), { servers: [server({ status: 'ACTIVE' })] }),
    { do: 'test', test: { do: 'watch', waitingFor: /console/ } }
  ],
  [
    'HV-36: passed',
    seen(tested('Testing', [{ name: server().name, startedAt: minutesAgo(1) }]), {
      servers: [server({ status: 'ACTIVE', hasShown: true })]
    }),
    { do: 'test', test: { do: 'pass', server: 'id-1' } }
  ],
  [
    'HV-36: ERROR',
    seen(tested('Testing', [{ name: server().name, startedAt: minutesAgo(1) }]), {
      servers: [server({ status: 'ERROR', fault: 'No valid host' })]
    }),
    { do: 'test', test: { do: 'fail', why: 'No valid host', server: 'id-1' } }
  ],
  [
    'HV-36: a console that cannot be read',
    seen(tested('Testing', [{ name: server().name, startedAt: minutesAgo(1) }]), {
      servers: [server({ status: 'ACTIVE', problem: 'not implemented' })]
    }),
    { do: 'test', test: { do: 'watch', waitingFor: /not implemented/ } }
  ],
  [
    'HV-36: and never will be',
    seen(tested('Testing', [{ name: server().name, startedAt: minutesAgo(6) }]), {
      servers: [server({ status: 'ACTIVE', problem: 'not implemented' })]
    }),
    { do: 'test', test: { do: 'fail', why: /not implemented/, server: 'id-1' } }
  ],
  [
    'HV-36: too late',
    seen(tested('Testing', [{ name: server().name, startedAt: minutesAgo(6) }]), { servers: [server({ status: 'ACTIVE' })] }),
    { do: 'test', test: { do: 'fail', why: /within 300 s/ } }
  ],
  [
    'HV-37: what is left of it',
    seen(tested('Testing', [{ name: 'x', result: 'Passed' }]), { servers: [server()] }),
    { do: 'clean', servers: ['id-1'] }
  ],
  ['HV-37: nothing is left', seen(tested('Testing', [{ name: 'x', result: 'Passed' }])), { do: 'advance', to: 'Handover' }],
  ['HV-39: waits a minute', seen(tested('Testing', [failed(1, 0.5)])), { do: 'test', test: { do: 'pause' } }],
  [
    'HV-39: then tries again under another name',
    seen(tested('Testing', [failed(1, 1.5)])),
    { do: 'test', test: { do: 'create', name: 'ohooc-host-1-12345678-2' } }
  ],
  [
    'HV-39: eight minutes after the fourth',
    seen(tested('Testing', [failed(1, 20), failed(2, 15), failed(3, 12), failed(4, 7)])),
    { do: 'test', test: { do: 'pause' } }
  ],
  [
    'HV-39: the budget is used up',
    seen(
      tested(
        'Testing',
        [1, 2, 3, 4, 5].map(number => failed(number, 60))
      )
    ),
    { do: 'fail' }
  ],
  [
    'HV-39: no more servers',
    seen(tested('Failed', [{ name: 'budget', reason: 'boot unknown, retry not asked for' }])),
    { do: 'wait', at: 'Failed' }
  ],
  [
    'HV-39: another boot',
    seen({ ...tested('Failed', [{ name: 'budget', reason: 'boot old, retry not asked for' }]) }),
    { do: 'retry' }
  ],

  [
    'HV-40: the lifecycle is switched off in the middle',
    seen(at('Testing', {}, { lifecycleEnabled: false }), { servers: [server()] }),
    { do: 'clean', at: 'Aborted' }
  ],
  [
    'HV-37, HV-40: wanted again before all was cleaned up',
    seen(at('Aborted'), { servers: [server()] }),
    { do: 'clean', at: 'Aborted', servers: ['id-1'] }
  ],
  ['HV-40: wanted again', seen(at('Aborted')), { do: 'advance', to: 'Initial' }],
  ['HV-40: and cleaned up', seen(at('Aborted', {}, { lifecycleEnabled: false })), { do: 'abort' }],
  ['HV-40: termination in the middle', seen(at('Handover', {}, { maintenance: 'termination' })), { do: 'abort' }],

  ['HV-38: traits first', seen(at('Handover')), { do: 'wait', waitingFor: 'the traits' }],
  [
    'HV-38: then aggregates',
    seen(
      at('Handover', {}, {}, [
        condition('TraitsUpdated', 'True'),
        condition('AggregatesUpdated', 'False', 'Failed', { message: 'no such' })
      ])
    ),
    { do: 'wait', waitingFor: 'the aggregates: no such' }
  ],
  [
    'HV-38: done',
    seen(at('Handover', {}, {}, [condition('TraitsUpdated', 'True'), condition('AggregatesUpdated', 'True')])),
    { do: 'succeed' }
  ]
]
for (const [name, given, then] of cases) void t.test(name, async t => t.match(decide(given, options, now), then))

void t.test('HV-39: a changed annotation, or a changed spec, tries again', async t => {
  const given = tested('Failed', [{ name: 'budget', reason: 'boot unknown, retry not asked for' }])
  const asked = { ...given, metadata: { ...given.metadata, annotations: { [retryAnnotation]: 'please' } } }
  t.match(decide(seen(asked), options, now), { do: 'retry' })
  t.match(decide(seen({ ...given, metadata: { ...given.metadata, generation: 4 } }), options, now), { do: 'retry' })
})

void t.test('HV-41: the gate of high availability', async t => {
  const ready = [condition('TraitsUpdated', 'True'), condition('AggregatesUpdated', 'True')]
  const step = (haMode: Options['haMode'], spec: Partial<Hypervisor['spec']> = {}, more: typeof ready = []) =>
    decide(seen(at('Handover', {}, spec, [...ready, ...more])), { ...options, haMode }, now)
  t.match(step('drover'), { do: 'wait', waitingFor: /high availability/ })
  t.match(step('external'), { do: 'wait' })
  t.match(step('drover', {}, [condition('HaEnabled', 'True')]), { do: 'succeed' })
  t.match(step('drover', { highAvailability: false }), { do: 'succeed' })
  t.match(step('off'), { do: 'succeed' })
})

void t.test('HV-39: the status after a whole budget, step by step', async t => {
  let status: Partial<Status> = { conditions: [condition('Onboarding', 'True', 'Testing')] }
  const clock = { time: now.getTime() }
  const made: string[] = []
  for (let pass = 0; pass < 40; pass++) {
    const time = new Date((clock.time += 60_000))
    const given = hypervisor({}, status)
    const last = status.onboarding?.tests?.at(-1)
    const servers = last && last.result === undefined ? [server({ name: last.name, status: 'ERROR', fault: 'boom' })] : []
    const step: Step = decide(seen(given, { servers }), options, time)
    if (step.do === 'test' && step.test.do === 'create') made.push(step.test.name)
    const { conditions, onboarding } = { onboarding: undefined, ...reflect(given, step, {}, time, all).status }
    status = { conditions, ...(onboarding && { onboarding }) }
  }
  t.equal(made.length, 5, 'five servers, and never another')
  t.equal(new Set(made).size, 5)
  matchWhole(t, status, { conditions: [{ status: 'True', reason: 'Failed' }], onboarding: { attempts: 5, lastError: 'boom' } })
})

void t.test('HV-28: a host that registered anew', async t => {
  const given = hypervisor({}, { conditions: [condition('Onboarding', 'False')] })
  const step = decide(seen(given, { hosts: [nova({ id: 'new-id' })] }), options, now)
  matchWhole(t, reflect(given, step, {}, now, all).status, {
    hypervisorId: 'new-id',
    drift: [{ kind: 'ids', name: 'hypervisorId', expected: 'hv-id', actual: 'new-id', action: 'repaired' }],
    conditions: [{ status: 'False', reason: 'Succeeded' }]
  })
  const gone = decide(seen(given, { hosts: [] }), options, now)
  matchWhole(t, reflect(given, gone, {}, now, all).status, {
    hypervisorId: 'hv-id',
    drift: [{ action: 'reported', actual: /not registered/ }]
  })
})

void t.test('a refused create is a failed attempt; an outage is none', async t => {
  const given = at('Testing')
  const step = decide(seen(given), options, now)
  matchWhole(t, reflect(given, step, { problem: 'no image', isFinal: true }, now, all).status, {
    onboarding: { attempts: 1, tests: [{ result: 'Failed', reason: 'no image' }] }
  })
  matchWhole(t, reflect(given, step, { problem: 'no answer' }, now, all).status, {
    onboarding: { attempts: 0, lastError: 'no answer' },
    conditions: [{ reason: 'Testing', message: 'no answer' }]
  })
})
