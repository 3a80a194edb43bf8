import t from 'tap'
import {
  decide,
  isDue,
  isLeaving,
  reflect,
  waitOf,
  type Options,
  type Remains,
  type Step
} from '../../../functions/offboarding/decide.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now, type Status } from '../host-life/fixtures.ts'

const options: Options = { nameForms: [], firstWaitMs: 5_000, longestWaitMs: 300_000 }
const leaving = (status: Partial<Status> = {}, spec: Partial<Hypervisor['spec']> = {}) =>
  hypervisor({ maintenance: 'termination', ...spec }, status)
const empty = condition('Evicting', 'False')
const noAgents = condition('AgentPodsEvicted', 'True', 'NoAgentPods')
const nothing: Remains = {
  hosts: [],
  aggregates: [],
  servers: [],
  migrations: [],
  service: undefined,
  provider: undefined,
  consumers: []
}

void t.test('who is leaving', async t => {
  t.equal(isLeaving(leaving()), true)
  t.equal(isLeaving(leaving({}, { lifecycleEnabled: false })), false)
  t.equal(isLeaving(hypervisor()), false)
  t.equal(
    isLeaving(leaving({ conditions: [condition('Onboarding', 'True', 'Aborted')] })),
    false,
    'HV-49: its tests are cleaned up first'
  )
  t.equal(isLeaving(leaving({ conditions: [condition('Offboarded', 'True', 'Offboarded')] })), false)
})

const awaited: Array<[name: string, given: Hypervisor, then: ReturnType<typeof waitOf>]> = [
  ['nobody has looked', leaving(), { do: 'wait', step: 'Empty', waitingFor: 'the host to be empty' }],
  [
    'blocked servers are listed',
    leaving({ conditions: [condition('Evicting', 'True', 'Blocked', { message: 'server x' })] }),
    { do: 'wait', step: 'Empty', waitingFor: 'the host to be empty: server x' }
  ],
  [
    'an end without success is not empty',
    leaving({ conditions: [condition('Evicting', 'False', 'Failed'), noAgents] }),
    { do: 'wait', step: 'Empty', waitingFor: 'the host to be empty' }
  ],
  [
    'what is not known is not empty',
    leaving({ conditions: [condition('Evicting', 'Unknown'), noAgents] }),
    { do: 'wait', step: 'Empty', waitingFor: 'the host to be empty' }
  ],
  ['agents', leaving({ conditions: [empty] }), { do: 'wait', step: 'AgentsGone', waitingFor: 'the agents to leave' }],
  [
    'the pods are listed',
    leaving({ conditions: [empty, condition('AgentPodsEvicted', 'False', 'AgentPodsRunning', { message: 'a/nova' })] }),
    { do: 'wait', step: 'AgentsGone', waitingFor: 'the agents to leave: a/nova' }
  ],
  ['all gone', leaving({ conditions: [empty, noAgents] }), undefined],
  ['HV-55: never had ids', leaving({ hypervisorId: '', serviceId: '' }), undefined],
  ['a service id alone is one', leaving({ hypervisorId: '' }), { do: 'wait', step: 'Empty', waitingFor: 'the host to be empty' }]
]
for (const [name, given, then] of awaited)
  void t.test(`HV-49, HV-50: awaited before OpenStack is touched: ${name}`, async t => t.strictSame(waitOf(given), then))

const host = (name: string, id = 'hv-id') => ({ id, hostname: name, service: { id: 'service-id', host: name } })
const service = { id: 'service-id', host: 'host-1' }
const provider = { id: 'hv-id' }
const many = ['s1', 's2', 's3', 's4', 's5', 's6']
const blocked = (step: Extract<Step, { do: 'block' }>['step'], why: string): Step => ({ do: 'block', step, why })
const cases: Array<[name: string, given: Partial<Remains>, then: Step, status?: Partial<Status>]> = [
  ['HV-51, HV-57: a server', { servers: ['s1'] }, blocked('Verify', 'servers are on the host: s1')],
  ['HV-51, HV-57: servers', { servers: many }, blocked('Verify', 'servers are on the host: s1, s2, s3, s4, s5')],
  [
    'HV-51: a resize that waits for its confirmation',
    { migrations: ['s1 (finished)'] },
    blocked('Verify', 'migrations have not ended: s1 (finished)')
  ],
  ['HV-51: migrations', { migrations: many }, blocked('Verify', 'migrations have not ended: s1, s2, s3, s4, s5')],
  [
    'HV-51: memberships, before the service goes',
    { aggregates: ['z1', 'general'], service },
    blocked('Verify', 'the host is still in aggregates: z1, general')
  ],
  ['HV-51: a membership', { aggregates: ['z1'] }, blocked('Verify', 'the host is still in aggregates: z1')],
  ['HV-52: the service', { service, provider }, { do: 'delete-service', id: 'service-id' }],
  [
    "HV-52: an id that is another host's",
    { service: { ...service, host: 'host-10' } },
    blocked('DeleteService', 'the stored service id is now that of host-10')
  ],
  [
    'HV-52: the name in Nova was never noted',
    { service },
    { do: 'delete-service', id: 'service-id' },
    { nova: { hypervisorHostname: 'host-1' } }
  ],
  [
    'HV-53: the provider',
    { provider, consumers: [{ id: 'c', elsewhere: false }] },
    { do: 'clean-provider', id: 'hv-id', consumers: ['c'] }
  ],
  [
    'HV-53: an allocation elsewhere',
    { provider, consumers: [{ id: 'c', elsewhere: true }] },
    blocked('CleanProvider', 'allocations are shared with other providers: c')
  ],
  [
    'HV-53: allocations elsewhere',
    { provider, consumers: ['c', 'd', 'e'].map(id => ({ id, elsewhere: id !== 'd' })) },
    blocked('CleanProvider', 'allocations are shared with other providers: c, e')
  ],
  [
    'HV-54: known again',
    { hosts: [host('host-1')] },
    blocked('Finish', 'Nova knows a host of this name again: nova-compute still runs')
  ],
  [
    'HV-54: known twice',
    { hosts: [host('host-1'), host('host-1', 'other')] },
    blocked('Finish', 'Nova knows a host of this name again: nova-compute still runs')
  ],
  ['HV-54: only a longer name is known', { hosts: [host('host-10'), host('a-host-1')] }, { do: 'finish' }],
  ['HV-55: nothing of it is left', {}, { do: 'finish' }],
  ['HV-55: a host that never had ids', {}, { do: 'finish' }, { hypervisorId: '', serviceId: '' }],
  [
    'HV-55: a host that never had ids, and is known',
    { hosts: [host('host-1')] },
    blocked('Finish', 'Nova knows a host of this name, although no id was ever recorded'),
    { hypervisorId: '', serviceId: '' }
  ],
  [
    'HV-55: the id of the provider alone: it must be gone',
    { provider },
    { do: 'clean-provider', id: 'hv-id', consumers: [] },
    { serviceId: '' }
  ],
  [
    'HV-55: the id of the service alone: it must be gone',
    { service },
    { do: 'delete-service', id: 'service-id' },
    { hypervisorId: '' }
  ]
]
for (const [name, given, then, status] of cases)
  void t.test(name, async t => t.strictSame(decide(leaving(status), { ...nothing, ...given }, options), then))

void t.test('HV-56: every failure is tried again, 5 s to 5 min later', async t => {
  let given = leaving()
  let time = now
  const waits: number[] = []
  for (let i = 0; i < 9; i++) {
    const { offboarding } = {
      offboarding: undefined,
      ...reflect(given, { do: 'block', step: 'Verify', why: 'the same words' }, undefined, time, true)
    }
    given = leaving({ ...(offboarding && { offboarding }) })
    const begun = time
    while (!isDue(given, time, options)) time = new Date(time.getTime() + 1000)
    waits.push((time.getTime() - begun.getTime()) / 1000)
  }
  t.strictSame(waits, [5, 10, 20, 40, 80, 160, 300, 300, 300])
})

void t.test('HV-56: who has not failed is due', async t => {
  const due = (offboarding: Status['offboarding']): boolean =>
    isDue(leaving({ ...(offboarding && { offboarding }) }), now, options)
  const startedAt = '2026-11-16T12:00:00Z'
  t.equal(due(undefined), true)
  t.equal(due({ attempts: 0, startedAt }), true)
  t.equal(due({ startedAt }), true)
  t.equal(due({ attempts: 1 }), true, 'nobody knows since when')
  t.equal(due({ attempts: 1, startedAt }), false)
})
