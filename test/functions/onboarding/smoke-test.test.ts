// The servers by which a new host is tested: made, watched, tried again and cleaned up (HV-36, HV-37, HV-39).
import t from 'tap'
import { decide, retryAnnotation, type Seen, type Step } from '../../../functions/onboarding/decide.ts'
import { reflect } from '../../../functions/onboarding/reflect.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now, type Status } from '../host-life/fixtures.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { all, at, options, seen, server } from './fixtures.ts'

const tested = (reason: string, tests: NonNullable<Status['onboarding']>['tests'], spec: Partial<Hypervisor['spec']> = {}) =>
  at(reason, { onboarding: { tests: tests ?? [] } }, spec)
const minutesAgo = (minutes: number): string => new Date(now.getTime() - minutes * 60_000).toISOString()
const failed = (number: number, minutes: number) => ({
  name: `ohooc-host-1-12345678-${number}`,
  result: 'Failed',
  finishedAt: minutesAgo(minutes)
})

const tests: Array<[name: string, given: Seen, then: object]> = [
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
  [
    'HV-37: what is left of one that failed goes before the next attempt',
    seen(tested('Testing', [failed(1, 1.5)]), { servers: [server()] }),
    { do: 'clean', at: 'Testing', servers: ['id-1'] }
  ],
  [
    'HV-37: and while that is awaited',
    seen(tested('Testing', [failed(1, 0.5)]), { servers: [server()] }),
    { do: 'clean', at: 'Testing', servers: ['id-1'] }
  ],
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
    {
      do: 'wait',
      at: 'Failed',
      waitingFor: 'a change of the spec, of the annotation kvm.cloud.sap/retry-onboarding, or a reboot'
    }
  ],
  [
    'HV-39: the same boot',
    seen(
      at('Failed', {
        agent: { bootId: 'b1' },
        onboarding: { tests: [{ name: 'budget', reason: 'boot b1, retry not asked for' }] }
      })
    ),
    { do: 'wait', at: 'Failed' }
  ],
  [
    'HV-39: another boot',
    seen({ ...tested('Failed', [{ name: 'budget', reason: 'boot old, retry not asked for' }]) }),
    { do: 'retry' }
  ]
]
for (const [name, given, then] of tests) void t.test(name, async t => t.match(decide(given, options, now), then))

void t.test('HV-39: a changed annotation, or a changed spec, tries again', async t => {
  const given = tested('Failed', [{ name: 'budget', reason: 'boot unknown, retry not asked for' }])
  const asked = { ...given, metadata: { ...given.metadata, annotations: { [retryAnnotation]: 'please' } } }
  t.match(decide(seen(asked), options, now), { do: 'retry' })
  t.match(decide(seen({ ...given, metadata: { ...given.metadata, generation: 4 } }), options, now), { do: 'retry' })
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
