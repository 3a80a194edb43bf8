// What the status of a Hypervisor says (HV-4, HV-6, HV-7, HV-23, HV-25, HV-27).
import t from 'tap'
import { decide, type Seen } from '../../../functions/hypervisor/decide.ts'
import { reflect, silentSince } from '../../../functions/hypervisor/reflect.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { condition, hypervisor, node, now, options, terminating, seen } from './fixtures.ts'

const statusOf = (given: Partial<Seen>, live: Hypervisor = hypervisor({}), now_ = now) => {
  const all = seen({ hypervisor: live, ...given })
  const { conditions = [], ...rest } = reflect(all, decide(all, options), { ok: true }, live, now_, options)
  return { conditions, ...rest }
}
const types = ({ conditions }: { conditions: Array<{ type: string }> }) => conditions.map(({ type }) => type)

t.test('Terminating is told while it lasts, and cancelled when it ends', async t => {
  t.match(statusOf({ node: terminating }).conditions[1], { type: 'Terminating', status: 'True', reason: 'Terminating' })
  t.strictSame(types(statusOf({})), ['Ready', 'Tainted'], 'never said, never cancelled')
  const was = hypervisor({}, { numInstances: 0, conditions: [condition('Terminating', 'True', 'Terminating')] })
  t.match(statusOf({}, was).conditions[1], { type: 'Terminating', status: 'False', reason: 'Cancelled' })
})

t.test('HV-25: agents are looked for only when the host is drained and tainted', async t => {
  const tainted = node({ spec: { taints: [{ key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' }] } })
  const drained = hypervisor({ maintenance: 'termination' }, { numInstances: 0, conditions: [condition('Evicting', 'False')] })
  const pod = (name: string, more: object = {}) => ({
    metadata: { name, namespace: 'agents' },
    spec: { containers: [], ...more }
  })
  t.strictSame(types(statusOf({ node: node() }, drained)), ['Ready', 'Tainted'])
  t.strictSame(types(statusOf({ node: tainted })), ['Ready', 'Tainted'], 'not drained')
  t.match(statusOf({ node: tainted }, drained).conditions[1], { type: 'AgentPodsEvicted', status: 'True', reason: 'NoAgentPods' })
  const pods = [
    pod('nova-compute'),
    pod('leaving', { tolerations: [{ operator: 'Exists', tolerationSeconds: 300 }] }),
    pod('stays', { tolerations: [{ operator: 'Exists' }] }),
    pod('stays-too', { tolerations: [{ key: 'kvm.cloud.sap/offboarding', operator: 'Exists', effect: 'NoExecute' }] }),
    { ...pod('done'), status: { phase: 'Succeeded' } }
  ]
  t.match(statusOf({ node: tainted, pods }, drained).conditions[1], {
    status: 'False',
    reason: 'AgentPodsRunning',
    message: 'Waiting for pods to end: agents/leaving, agents/nova-compute'
  })
})

const addressed = (...addresses: string[]) =>
  node({ status: { addresses: addresses.map(address => ({ type: 'InternalIP', address })) } })
const ips: Array<[name: string, given: ReturnType<typeof node>, before: string | undefined, ip: string | undefined]> = [
  ['none', node(), undefined, undefined],
  ['the lowest, as a number', addressed('10.0.0.10', '10.0.0.9'), undefined, '10.0.0.9'],
  ['the preferred family', addressed('fd00::1', '10.0.0.10'), undefined, '10.0.0.10'],
  ['the other family, if there is no more', addressed('fd00::2', 'fd00::1'), undefined, 'fd00::1'],
  ['kept while it is there', addressed('10.0.0.1', '10.0.0.9'), '10.0.0.9', '10.0.0.9'],
  ['given up when it is gone', addressed('10.0.0.1'), '10.0.0.9', '10.0.0.1']
]
for (const [name, given, before, ip] of ips) {
  t.test(`HV-23: internalIp: ${name}`, async t => {
    const live = hypervisor({}, { numInstances: 0, ...(before && { internalIp: before }) })
    t.equal(statusOf({ node: given }, live).internalIp, ip)
  })
}

t.test('HV-6, HV-7: a second look changes nothing, and the transition time moves only with the status', async t => {
  const first = statusOf({})
  const again = statusOf({}, hypervisor({}, { numInstances: 0, ...first }), new Date(now.getTime() + 60_000))
  t.strictSame(again, first)
})

t.test('a failed write of the spec is told', async t => {
  const all = seen({ hypervisor: hypervisor({}) })
  const status = reflect(all, decide(all, options), { ok: false, reason: 'denied by a webhook' }, hypervisor({}), now, options)
  matchWhole(t, status, { drift: [{ kind: 'spec', name: 'node', actual: 'denied by a webhook' }] })
})

t.test('HV-4: with an older CRD only compatible fields are written', async t => {
  const all = seen({ node: addressed('10.0.0.1'), hypervisor: hypervisor({}) })
  t.strictSame(
    Object.keys(reflect(all, decide(all, options), { ok: true }, hypervisor({}), now, { ...options, extended: false })),
    ['internalIp', 'conditions']
  )
})

t.test('HV-27: a host that was onboarded before Drover came is Ready at once', async t => {
  const adopted = hypervisor({}, { numInstances: 3, conditions: [condition('Onboarding', 'False', 'Succeeded')] }, [])
  const { conditions, phase } = statusOf({}, adopted)
  t.match(conditions?.[0], { type: 'Ready', status: 'True', reason: 'Ready' })
  t.strictSame(types({ conditions }), ['Ready', 'Tainted'], 'and its onboarding stays as it is')
  t.equal(phase, 'Active')
})

t.test('a silent agent is told only while its node seems fine', async t => {
  const lastHeartbeat = '2026-11-16T11:00:00Z'
  const live = hypervisor(
    {},
    { numInstances: 0, agent: { lastHeartbeat }, conditions: [condition('Onboarding', 'False', 'Succeeded')] }
  )
  const down = node({ status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } })
  t.equal(silentSince(seen({}), live, statusOf({}, live)), lastHeartbeat)
  t.equal(silentSince(seen({ node: down }), live, statusOf({ node: down }, live)), undefined)
  t.equal(silentSince(seen({}), hypervisor({}), statusOf({})), undefined)
})
