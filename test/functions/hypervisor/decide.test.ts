import t from 'tap'
import { decide, isOpen, type Seen, type Spec, type Step, type Wanted } from '../../../functions/hypervisor/decide.ts'
import { reflect, silentSince } from '../../../functions/hypervisor/reflect.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { condition, hypervisor, node, now, options, terminating } from './fixtures.ts'

const lifecycle = 'cobaltcore.cloud.sap/node-hypervisor-lifecycle'
const zone = 'topology.kubernetes.io/zone'
const annotated = (aggregates: string, traits = '', labels: Record<string, string> = {}) =>
  node({
    metadata: {
      labels,
      annotations: { 'nova.openstack.cloud.sap/aggregates': aggregates, 'nova.openstack.cloud.sap/custom-traits': traits }
    }
  })
const seen = (more: Partial<Seen>): Seen => ({ name: 'host-1', node: node(), hypervisor: undefined, pods: [], ...more })
const wanted = (step: Step): Wanted => {
  if (step.do !== 'keep') throw new Error(`not kept: ${step.do}`)
  return step.wanted
}

t.test('a Node without the label is nobody of ours', async t => {
  const plain = { metadata: { name: 'host-1', labels: {} } }
  t.strictSame(decide(seen({ node: plain }), options), { do: 'nothing' })
})

const created: Array<[name: string, given: Seen, spec: Spec]> = [
  [
    'HV-19: without the lifecycle label',
    seen({}),
    { highAvailability: true, installCertificate: true, lifecycleEnabled: false, skipTests: false }
  ],
  [
    'with the label',
    seen({ node: node({ metadata: { labels: { [lifecycle]: 'true' } } }) }),
    { highAvailability: true, installCertificate: true, lifecycleEnabled: true, skipTests: false }
  ],
  [
    'skip-tests',
    seen({ node: node({ metadata: { labels: { [lifecycle]: 'skip-tests' } } }) }),
    { highAvailability: true, installCertificate: true, lifecycleEnabled: true, skipTests: true }
  ],
  [
    'HV-24: a terminating node',
    seen({ node: terminating }),
    { highAvailability: true, installCertificate: true, lifecycleEnabled: false, skipTests: false, maintenance: 'termination' }
  ]
]
for (const [name, given, spec] of created)
  t.test(`created ${name}`, async t => t.strictSame(wanted(decide(given, options)).spec, spec))

const lists: Array<
  [name: string, given: ReturnType<typeof node>, aggregates: string[] | undefined, traits: string[] | undefined]
> = [
  ['no annotation', node(), undefined, undefined],
  [
    'blanks, empties and duplicates (HV-21)',
    annotated(' b, a,,b , ', 'CUSTOM_B,CUSTOM_A, CUSTOM_B'),
    ['a', 'b'],
    ['CUSTOM_A', 'CUSTOM_B']
  ],
  ['the zone is added', annotated('a', '', { [zone]: 'z' }), ['a', 'z'], []],
  ['a zone already named is not added twice', annotated('z,a', '', { [zone]: 'z' }), ['a', 'z'], []],
  ['an empty annotation still means the zone', annotated('', '', { [zone]: 'z' }), ['z'], []]
]
for (const [name, given, aggregates, customTraits] of lists) {
  t.test(`lists: ${name}`, async t => t.match(wanted(decide(seen({ node: given }), options)).spec, { aggregates, customTraits }))
}

t.test('labels are copied, the shard keys too, and nothing else', async t => {
  const given = node({ metadata: { labels: { 'kubernetes.metal.cloud.sap/bb': 'bb1', [zone]: 'z', shard: 's', other: 'o' } } })
  t.strictSame(wanted(decide(seen({ node: given }), { ...options, shardKeys: ['shard'] })).metadata, {
    name: 'host-1',
    labels: { 'kubernetes.metal.cloud.sap/bb': 'bb1', [zone]: 'z', shard: 's' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'host-1', uid: 'node-uid', blockOwnerDeletion: true }]
  })
})

const kept: Array<[name: string, given: Partial<Seen>, spec: Spec, keptLifecycle?: boolean]> = [
  [
    'HV-19: what others set is left alone',
    { hypervisor: hypervisor({ highAvailability: false }, { numInstances: 0 }, []) },
    {},
    true
  ],
  [
    'HV-20: the label gone, ours: an explicit false',
    { hypervisor: hypervisor({ lifecycleEnabled: true }) },
    { lifecycleEnabled: false }
  ],
  [
    'HV-20: the label gone, another owns it: kept',
    { hypervisor: hypervisor({ lifecycleEnabled: true }, { numInstances: 0 }, []) },
    {},
    true
  ],
  [
    'lists of a vanished annotation are given back',
    { hypervisor: hypervisor({ aggregates: ['a'] }, { numInstances: 0 }, ['aggregates', 'lifecycleEnabled']) },
    { lifecycleEnabled: false }
  ],
  [
    'HV-24: termination',
    {
      node: terminating,
      hypervisor: hypervisor({ maintenance: 'manual', maintenanceReason: 'x' }, { numInstances: 0 }, ['lifecycleEnabled'])
    },
    { lifecycleEnabled: false, maintenance: 'termination' }
  ],
  [
    'HV-24: a host that HA holds stays with it',
    { node: terminating, hypervisor: hypervisor({ maintenance: 'ha' }, { numInstances: 0 }, ['lifecycleEnabled']) },
    { lifecycleEnabled: false }
  ]
]
for (const [name, given, spec, keptLifecycle = false] of kept) {
  t.test(name, async t => {
    const step = decide(seen(given), options)
    t.strictSame(wanted(step).spec, spec)
    t.match(step, { keptLifecycle })
  })
}

t.test('HV-24: external automation is left to set termination', async t => {
  const external = { ...options, terminationSource: 'external' } as const
  t.notOk('maintenance' in wanted(decide(seen({ node: terminating, hypervisor: hypervisor({}) }), external)).spec)
})

t.test('HV-22: a frozen spec is repeated as it is, and the difference noted as drift', async t => {
  const frozen = hypervisor({ maintenance: 'termination', lifecycleEnabled: true, aggregates: ['old'] })
  const given = seen({ node: annotated('new'), hypervisor: frozen })
  const step = decide(given, options)
  t.strictSame(wanted(step).spec, { maintenance: 'termination', lifecycleEnabled: true, aggregates: ['old'] })
  const status = reflect(given, step, { ok: true }, frozen, now, options)
  matchWhole(t, status, {
    drift: [
      {
        kind: 'spec',
        name: 'lifecycleEnabled',
        expected: 'false',
        actual: 'true',
        since: '2026-11-16T12:00:00Z',
        action: 'reported'
      },
      { kind: 'spec', name: 'aggregates', expected: 'new', actual: 'old' }
    ]
  })
})

t.test('HV-26: a Node that is gone with servers on it is lamented, an empty one is not', async t => {
  const full = hypervisor({}, { numInstances: 2 })
  t.match(decide(seen({ node: undefined, hypervisor: full }), options), { do: 'lament' })
  t.match(decide(seen({ node: undefined, hypervisor: hypervisor({}) }), options), { do: 'nothing' })
})

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

t.test('HV-8: who only observes says what it would do in fields that are Drover’s alone', async t => {
  const observing = { ...options, observe: true }
  const all = seen({ node: annotated('new'), hypervisor: hypervisor({ aggregates: ['old'] }) })
  const step = decide(all, observing)
  matchWhole(t, step, { do: 'observe', withheld: { aggregates: ['new'] } })
  const status = reflect(all, step, { ok: true }, all.hypervisor as Hypervisor, now, observing)
  t.notOk('conditions' in status || 'internalIp' in status, 'nothing that the operator in use writes too')
  matchWhole(t, status, { drift: [{ kind: 'spec', name: 'aggregates', expected: 'new', actual: 'old', action: 'reported' }] })
  t.match(decide(seen({}), observing), { do: 'observe' }, 'and makes nothing')
})

t.test('HV-8: one host may be observed alone', async t => {
  const { metadata, ...rest } = hypervisor({})
  const annotations = { 'kvm.cloud.sap/drover-observe': 'true' }
  t.match(decide(seen({ hypervisor: { ...rest, metadata: { ...metadata, annotations } } }), options), { do: 'observe' })
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

const beat = (seconds: number, ...conditions: ReturnType<typeof condition>[]) =>
  hypervisor(
    {},
    { numInstances: 0, agent: { lastHeartbeat: new Date(now.getTime() - seconds * 1000).toISOString() }, conditions }
  )
const open: Array<[name: string, given: Hypervisor, due: boolean]> = [
  ['healthy', beat(5, condition('Ready', 'True', 'Ready')), false],
  ['silent, still said to be ready', beat(100, condition('Ready', 'True', 'Ready')), true],
  ['silent, known', beat(100, condition('Ready', 'False', 'AgentLost')), false],
  ['back again', beat(5, condition('Ready', 'False', 'AgentLost')), true],
  ['terminating', hypervisor({}, { numInstances: 0, conditions: [condition('Terminating', 'True')] }), true],
  [
    'HV-25: agents still there',
    hypervisor({}, { numInstances: 0, conditions: [condition('AgentPodsEvicted', 'False', 'AgentPodsRunning')] }),
    true
  ],
  ['without an agent', hypervisor({}), false]
]
for (const [name, given, due] of open) t.test(`fast tick: ${name}`, async t => t.equal(isOpen(given, now, options), due))
