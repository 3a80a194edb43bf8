// What the status of a Hypervisor says (HV-4, HV-6, HV-7, HV-23, HV-25, HV-27).
import t from 'tap'
import { decide, type Seen } from '../../../functions/hypervisor/decide.ts'
import { reflect, silentSince } from '../../../functions/hypervisor/reflect.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, node, now, options, terminating, seen } from './fixtures.ts'

type Status = NonNullable<Hypervisor['status']>
const statusOf = (given: Partial<Seen>, live: Hypervisor = hypervisor({}), now_ = now) => {
  const all = seen({ hypervisor: live, ...given })
  const { conditions = [], ...rest } = reflect(all, decide(all, options), { ok: true }, live, now_, options)
  return { conditions, ...rest }
}
const types = ({ conditions }: { conditions: Array<{ type: string }> }) => conditions.map(({ type }) => type)

t.test('Terminating is told while it lasts, and cancelled when it ends', async t => {
  t.match(statusOf({ node: terminating }).conditions[1], {
    type: 'Terminating',
    status: 'True',
    reason: 'Terminating',
    message: 'The node is being taken away.'
  })
  t.strictSame(types(statusOf({})), ['Ready', 'Tainted'], 'never said, never cancelled')
  const was = hypervisor({}, { numInstances: 0, conditions: [condition('Terminating', 'True', 'Terminating')] })
  t.match(statusOf({}, was).conditions[1], {
    type: 'Terminating',
    status: 'False',
    reason: 'Cancelled',
    message: 'The node is no longer being taken away.'
  })
})

const inService = (status: Partial<Status> = {}) =>
  hypervisor({}, { numInstances: 0, ...status, conditions: [condition('Onboarding', 'False', 'Succeeded')] })

t.test('a node that is not ready is told in its own words', async t => {
  const said = (ready: { status: string; reason?: string; message?: string }) => {
    const conditions = [
      { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' },
      { type: 'Ready', ...ready }
    ]
    const { reason, message } = statusOf({ node: node({ status: { conditions } }) }, inService()).conditions[0] ?? {}
    return `${reason}: ${message}`
  }
  t.equal(
    said({ status: 'Unknown', reason: 'NodeStatusUnknown', message: 'No word.' }),
    'NodeNotReady: The node is not ready: No word.'
  )
  t.equal(said({ status: 'False', reason: 'KubeletNotReady' }), 'NodeNotReady: The node is not ready: KubeletNotReady.')
  t.equal(
    said({ status: 'False', reason: 'KubeletNotReady', message: '' }),
    'NodeNotReady: The node is not ready: KubeletNotReady.'
  )
  t.equal(said({ status: 'Unknown', message: 'No word' }), 'NodeNotReady: The node is not ready: No word.')
  t.equal(said({ status: 'Unknown' }), 'NodeNotReady: The node is not ready: Unknown.')
  t.equal(said({ status: 'True', reason: 'KubeletReady' }), 'Ready: The host takes servers.')
})

t.test('OV-51: the network is told where an OVS agent reports', async t => {
  const spec = { nodeRef: { name: 'host-1' } }
  const ovsNode = { metadata: { name: 'host-1' }, spec, status: { conditions: [condition('Ready', 'True', 'Ready')] } }
  const { conditions } = statusOf({ ovsNode }, inService())
  t.strictSame(types({ conditions }), ['Ready', 'Tainted', 'NetworkHealthy'])
  t.match(conditions[2], { status: 'True', reason: 'AllHealthy' })
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
  t.match(statusOf({ node: tainted }, drained).conditions[1], {
    type: 'AgentPodsEvicted',
    status: 'True',
    reason: 'NoAgentPods',
    message: 'No agent runs on the node any more.'
  })
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

t.test('HV-22: a failed write of the spec is told, and since when', async t => {
  const refused = (drift: Status['drift'] = []) => {
    const live = hypervisor({}, { numInstances: 0, ...(drift.length > 0 && { drift }) })
    const all = seen({ hypervisor: live })
    return reflect(all, decide(all, options), { ok: false, reason: 'denied by a webhook' }, live, now, options).drift
  }
  const found = { kind: 'spec', name: 'node', expected: 'the spec follows the node', actual: 'denied by a webhook' } as const
  const entry = { ...found, since: '2026-11-16T12:00:00Z', action: 'reported' } as const
  const known = { ...entry, since: '2026-11-16T10:00:00Z' }
  const others = [
    { ...known, kind: 'trait', since: '2026-11-16T08:00:00Z' },
    { ...known, name: 'aggregates', since: '2026-11-16T09:00:00Z' }
  ] as const
  t.strictSame(refused(), [entry])
  t.strictSame(refused([...others, known]), [known], 'HV-7: the same again')
  t.strictSame(refused([known, ...others]), [known])
  t.strictSame(refused([...others]), [entry], 'what is said of others')
  t.equal('drift' in statusOf({}), false, 'nothing to tell')
})

t.test('a new phase is a line of the history, of which the newest ten are kept', async t => {
  const line = (minute: number, actor = 'drover-hypervisor') => {
    const time = `2026-11-16T11:${String(minute).padStart(2, '0')}:00Z`
    return { id: `phase-${time}`, time, kind: 'phase', to: 'Failing', reason: 'X', actor }
  }
  const after = (history: Status['history'], phase?: Status['phase']) =>
    statusOf({}, inService({ ...(history && { history }), ...(phase && { phase }) })).history
  const time = '2026-11-16T12:00:00Z'
  const to = { id: `phase-${time}`, time, kind: 'phase', to: 'Active', reason: 'Ready', actor: 'drover-hypervisor' }
  t.strictSame(after(undefined), [to])
  t.strictSame(
    after([line(1), line(2, 'drover-traits')], 'Failing')?.map(({ id, from }) => [id, from]),
    [
      [line(1).id, undefined],
      [to.id, 'Failing']
    ],
    'its own alone'
  )
  t.strictSame(after([line(1), line(2, 'drover-traits')], 'Active'), [line(1)], 'HV-7: the same phase')
  t.strictSame(after([line(1), { ...to, to: 'Failing' }]), [line(1), to], 'twice within a second')
  const many = Array.from({ length: 10 }, (_, minute) => line(minute))
  t.strictSame(after(many), [...many.slice(1), to])
  t.strictSame(after(many.slice(1)), [...many.slice(1), to])
})

t.test('HV-6: the generation that was looked at', async t => {
  const { metadata, ...rest } = hypervisor({})
  const { generation: _, ...without } = metadata
  t.equal(statusOf({}).observedGeneration, 3)
  t.equal(statusOf({}, { ...rest, metadata: without }).observedGeneration, 0)
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
  const live = inService({ agent: { lastHeartbeat } })
  const down = node({ status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } })
  t.equal(silentSince(seen({}), live, statusOf({}, live)), lastHeartbeat)
  t.equal(silentSince(seen({ node: down }), live, statusOf({ node: down }, live)), undefined)
  t.equal(silentSince(seen({}), hypervisor({}), statusOf({})), undefined)
  const heard = inService({ agent: { lastHeartbeat: '2026-11-16T11:59:59Z' } })
  t.equal(silentSince(seen({}), heard, statusOf({}, heard)), undefined, 'it is heard')
  const other = { conditions: [condition('HaEnabled', 'Unknown', 'AgentLost')] }
  t.equal(silentSince(seen({}), heard, other), undefined, 'the word of another')
})
