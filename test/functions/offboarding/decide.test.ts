import t from 'tap'
import { decide, isDue, isLeaving, reflect, waitOf, type Options, type Remains } from '../../../functions/offboarding/decide.ts'
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

void t.test('HV-49, HV-50: what is awaited before OpenStack is touched', async t => {
  t.match(waitOf(leaving()), { step: 'Empty' })
  t.match(waitOf(leaving({ conditions: [condition('Evicting', 'True', 'Blocked', { message: 'server x' })] })), {
    step: 'Empty',
    waitingFor: /server x/
  })
  t.match(waitOf(leaving({ conditions: [empty] })), { step: 'AgentsGone' })
  t.equal(waitOf(leaving({ conditions: [empty, noAgents] })), undefined)
  t.equal(waitOf(leaving({ hypervisorId: '', serviceId: '' })), undefined, 'HV-55: never had ids')
})

const host = (name: string, id = 'hv-id') => ({ id, hostname: name, service: { id: 'service-id', host: name } })
const cases: Array<[name: string, given: Partial<Remains>, then: object]> = [
  ['HV-51, HV-57: a server', { servers: ['s1'] }, { do: 'block', step: 'Verify', why: /s1/ }],
  ['HV-51: a resize that waits for its confirmation', { migrations: ['s1 (finished)'] }, { do: 'block', why: /finished/ }],
  ['HV-51: a membership', { aggregates: ['z1'] }, { do: 'block', why: /z1/ }],
  ['HV-52: the service', { service: { id: 'service-id', host: 'host-1' } }, { do: 'delete-service', id: 'service-id' }],
  [
    "HV-52: an id that is another host's",
    { service: { id: 'service-id', host: 'host-10' } },
    { do: 'block', step: 'DeleteService' }
  ],
  [
    'HV-53: the provider',
    { provider: { id: 'hv-id' }, consumers: [{ id: 'c', elsewhere: false }] },
    { do: 'clean-provider', consumers: ['c'] }
  ],
  [
    'HV-53: allocations elsewhere',
    { provider: { id: 'hv-id' }, consumers: [{ id: 'c', elsewhere: true }] },
    { do: 'block', why: /c$/ }
  ],
  ['HV-54: known again', { hosts: [host('host-1')] }, { do: 'block', step: 'Finish' }],
  ['HV-54: only a longer name is known', { hosts: [host('host-10'), host('a-host-1')] }, { do: 'finish' }],
  ['HV-55: nothing of it is left', {}, { do: 'finish' }]
]
for (const [name, given, then] of cases)
  void t.test(name, async t => t.match(decide(leaving(), { ...nothing, ...given }, options), then))

void t.test('HV-55: a host that never had ids', async t => {
  const never = leaving({ hypervisorId: '', serviceId: '' })
  t.match(decide(never, nothing, options), { do: 'finish' })
  t.match(decide(never, { ...nothing, hosts: [host('host-1')] }, options), { do: 'block' })
})

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
