// What the status tells of a host's way into OpenStack, word by word (HV-4, HV-6, HV-10, HV-33…HV-40, HV-67).
import t from 'tap'
import type { Step } from '../../../functions/onboarding/decide.ts'
import { reflect, type Outcome } from '../../../functions/onboarding/reflect.ts'
import type { TestStep } from '../../../functions/onboarding/smoke-test.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now, type Status } from '../host-life/fixtures.ts'
import { at, nova, options } from './fixtures.ts'

const [time, old] = ['2026-11-16T12:00:00Z', '2026-11-16T11:00:00Z']
const host = nova()
const older = { extended: false }
const told = (given: Hypervisor, step: Step, outcome: Outcome = {}, more: { extended?: boolean; haSkipped?: boolean } = {}) => {
  const { status } = reflect(given, step, outcome, now, { ...options, extended: true, haSkipped: false, ...more })
  return { onboarding: undefined, drift: undefined, history: undefined, nova: undefined, ...status }
}
const fresh = hypervisor({}, { hypervisorId: '', serviceId: '', nova: {} })
const rests = (reason: string) =>
  hypervisor({}, { conditions: [condition('Onboarding', 'False', reason, { message: 'As before.' })] })
const registering: Step = { do: 'wait', at: 'Registering', waitingFor: 'nova-compute' }
const testing = (test: TestStep): Step => ({ do: 'test', test, host })
const name = 'ohooc-host-1-12345678-1'
const create: TestStep = { do: 'create', name }
const pass: TestStep = { do: 'pass', name, server: 'id-1' }
const fail: TestStep = { do: 'fail', name, why: 'boom', server: 'id-1' }
const move = (leg: 'out' | 'in'): TestStep => ({ do: 'move', name, leg, server: 'id-1', target: undefined })
const clean = (at: 'Testing' | 'Aborted'): Step => ({ do: 'clean', at, servers: ['id-1'], host })
const away = { problem: 'no answer' }

const conditions: Array<[name: string, given: Hypervisor, step: Step, says: string, outcome?: Outcome, more?: object]> = [
  ['HV-33: not registered, nothing said yet', fresh, registering, ''],
  ['HV-33: registered no more', at('Initial'), registering, 'True Initial: Waiting for nova-compute.'],
  ['HV-34: waits', at('Initial'), { do: 'wait', at: 'Initial', waitingFor: 'x' }, 'True Initial: Waiting for x.'],
  [
    'HV-33: registered',
    fresh,
    { do: 'advance', to: 'Initial', host },
    'True Initial: Nova knows the host; waiting for the aggregates of its test.'
  ],
  [
    'HV-35: enabled already',
    at('Initial'),
    { do: 'advance', to: 'Testing', host },
    'True Testing: The compute service is enabled; the host is being tested.'
  ],
  [
    'HV-35: enabled',
    at('Initial'),
    { do: 'enable', host },
    'True Testing: The compute service is enabled; the host is being tested.'
  ],
  ['HV-35: not yet up', at('Initial'), { do: 'enable', host }, 'True Initial: It is down.', { problem: 'It is down.' }],
  [
    'HV-39: tries again',
    at('Failed'),
    { do: 'retry', host },
    'True Initial: Nova knows the host; waiting for the aggregates of its test.'
  ],
  [
    'HV-39: the budget is used up',
    at('Testing'),
    { do: 'fail', host },
    'True Failed: Every test failed; no more servers are made until something changes.'
  ],
  ['HV-36: ordered', at('Testing'), testing(create), `True Testing: ${name} was ordered.`],
  ['HV-36: an outage', at('Testing'), testing(create), 'True Testing: no answer', away],
  ['HV-36: watched', at('Testing'), testing({ do: 'watch', name, waitingFor: 'x' }), 'True Testing: Waiting for x.'],
  ['HV-39: paused', at('Testing'), testing({ do: 'pause', waitingFor: 'x' }), 'True Testing: Waiting for x.'],
  ['HV-43: leaves', at('Testing'), testing(move('out')), `True Testing: ${name} is moved away.`],
  ['HV-43: comes back', at('Testing'), testing(move('in')), `True Testing: ${name} is moved back.`],
  ['HV-36: passed', at('Testing'), testing(pass), `True Testing: ${name} passed.`],
  ['HV-36: failed', at('Testing'), testing(fail), `True Testing: ${name} failed: boom`],
  ['HV-4: passed', at('Testing'), testing(pass), 'True Handover: Tested; waiting for traits and aggregates.', {}, older],
  ['HV-4: failed', at('Testing'), testing(fail), `True Failed: ${name} failed: boom`, {}, older],
  ['HV-4: refused', at('Testing'), testing(create), 'True Failed: no image', { problem: 'no image', isFinal: true }, older],
  ['HV-4: an outage', at('Testing'), testing(create), 'True Testing: no answer', away, older],
  ['HV-37: cleans up', at('Testing'), clean('Testing'), 'True Testing: Waiting for the servers of the tests to be gone.'],
  ['HV-37: cannot', at('Testing'), clean('Testing'), 'True Testing: no answer', away],
  ['HV-40: stops', at('Testing'), clean('Aborted'), 'True Aborted: Waiting for the servers of the tests to be gone.'],
  ['HV-40: cannot', at('Testing'), clean('Aborted'), 'True Aborted: no answer', away],
  ['HV-40: stopped', at('Aborted'), { do: 'abort', why: 'x' }, 'False Aborted: Ended, since x.'],
  [
    'HV-37: tested',
    at('Testing'),
    { do: 'advance', to: 'Handover', host },
    'True Handover: Tested; waiting for traits and aggregates.'
  ],
  ['HV-38: done', at('Handover'), { do: 'succeed', host }, 'False Succeeded: Handed over.'],
  [
    'HV-41: the gate was left out',
    at('Handover'),
    { do: 'succeed', host },
    'False Succeeded: Handed over, without high availability.',
    {},
    { haSkipped: true }
  ],
  ['HV-27: adopted', rests('Succeeded'), { do: 'verify', host }, 'False Succeeded: As before.']
]
for (const [what, given, step, says, outcome, more] of conditions) {
  void t.test(what, async t => {
    const found = told(given, step, outcome, more).conditions
    t.strictSame(
      found.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`),
      says === '' ? [] : [`Onboarding ${says}`]
    )
  })
}

const begun = { name, startedAt: old }
const first = { name: 'ohooc-host-1-12345678-0', result: 'Failed', reason: 'dead' }
const before = { startedAt: old, lastError: 'dead', tests: [first, begun] }
const going = (reason: string, onboarding: Status['onboarding'] = before) => at(reason, { ...(onboarding && { onboarding }) })
type Workflow = NonNullable<Status['onboarding']>
const workflows: Array<[name: string, given: Hypervisor, step: Step, then: Workflow, outcome?: Outcome]> = [
  ['HV-33: nothing said yet', fresh, registering, { attempts: 0, step: 'Registering', waitingFor: 'nova-compute' }],
  [
    'HV-10: wanted again, and not registered',
    rests('Aborted'),
    registering,
    { attempts: 0, step: 'Aborted', waitingFor: 'nova-compute' }
  ],
  [
    'HV-40: begins anew',
    going('Aborted'),
    { do: 'advance', to: 'Initial', host },
    { attempts: 0, startedAt: time, step: 'Initial' }
  ],
  ['HV-39: tries again', going('Failed'), { do: 'retry', host }, { attempts: 0, startedAt: time, step: 'Initial' }],
  ['HV-35: goes on', going('Initial'), { do: 'advance', to: 'Testing', host }, { attempts: 1, step: 'Testing', ...before }],
  [
    'an error stays until it is over',
    going('Testing', { lastError: 'dead' }),
    testing({ do: 'watch', name, waitingFor: 'x' }),
    { attempts: 0, step: 'Testing', lastError: 'dead', waitingFor: 'x', tests: [{ name, startedAt: time }] }
  ],
  [
    'HV-39: paused',
    going('Testing'),
    testing({ do: 'pause', waitingFor: 'x' }),
    { attempts: 1, step: 'Testing', waitingFor: 'x', ...before }
  ],
  [
    'HV-36: passed; the last error is that of the last failure',
    going('Testing', { ...before, lastError: 'an outage' }),
    testing(pass),
    { attempts: 1, step: 'Testing', ...before, tests: [first, { ...begun, finishedAt: time, result: 'Passed' }] }
  ],
  [
    'HV-36: failed',
    going('Testing'),
    testing(fail),
    {
      attempts: 2,
      step: 'Testing',
      ...before,
      lastError: 'boom',
      tests: [first, { ...begun, finishedAt: time, result: 'Failed', reason: 'boom' }]
    }
  ],
  [
    'HV-37: cleans up',
    going('Testing'),
    clean('Testing'),
    { attempts: 1, step: 'Testing', waitingFor: 'the servers of the tests to be gone', ...before }
  ],
  [
    'HV-39: the budget is used up',
    at('Testing', { agent: { bootId: 'b1' }, onboarding: before }),
    { do: 'fail', host },
    {
      attempts: 1,
      step: 'Failed',
      ...before,
      tests: [first, begun, { name: 'budget', result: 'Exhausted', reason: 'boot b1, retry not asked for' }]
    }
  ],
  [
    'HV-43: the checks come first',
    going('Initial', { startedAt: old }),
    { do: 'wait', at: 'Initial', waitingFor: 'x' },
    {
      attempts: 0,
      startedAt: old,
      step: 'Initial',
      waitingFor: 'x',
      tests: [{ name: 'check libvirt', result: 'Passed', finishedAt: time }]
    },
    { checks: [{ name: 'check libvirt', result: 'Passed' }] }
  ],
  [
    'an outage',
    going('Initial', {}),
    { do: 'wait', at: 'Initial', waitingFor: 'x' },
    { attempts: 0, step: 'Initial', waitingFor: 'x', lastError: 'no answer' },
    away
  ],
  [
    'HV-38: done: no error is left',
    going('Handover', { startedAt: old, lastError: 'dead' }),
    { do: 'succeed', host },
    { attempts: 0, startedAt: old, step: 'Succeeded' }
  ]
]
for (const [what, given, step, then, outcome] of workflows) {
  void t.test(`the workflow: ${what}`, async t => {
    t.strictSame(told(given, step, outcome).onboarding, { maxAttempts: 5, ...then })
  })
}
