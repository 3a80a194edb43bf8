// What a Hypervisor should be, from its Node and from what people set (HV-19…HV-26).
import t from 'tap'
import { decide, isOpen, type Seen, type Spec, type Step, type Wanted } from '../../../functions/hypervisor/decide.ts'
import { reflect } from '../../../functions/hypervisor/reflect.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { condition, hypervisor, node, now, options, terminating, seen } from './fixtures.ts'

const lifecycle = 'cobaltcore.cloud.sap/node-hypervisor-lifecycle'
const zone = 'topology.kubernetes.io/zone'
const annotated = (aggregates: string, traits = '', labels: Record<string, string> = {}) =>
  node({
    metadata: {
      labels,
      annotations: { 'nova.openstack.cloud.sap/aggregates': aggregates, 'nova.openstack.cloud.sap/custom-traits': traits }
    }
  })
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

const owner = { apiVersion: 'v1', kind: 'Node', name: 'host-1', uid: 'node-uid', blockOwnerDeletion: true }

t.test('labels are copied, the shard keys too, and nothing else', async t => {
  const given = node({ metadata: { labels: { 'kubernetes.metal.cloud.sap/bb': 'bb1', [zone]: 'z', shard: 's', other: 'o' } } })
  t.strictSame(wanted(decide(seen({ node: given }), { ...options, shardKeys: ['shard'] })).metadata, {
    name: 'host-1',
    labels: { 'kubernetes.metal.cloud.sap/bb': 'bb1', [zone]: 'z', shard: 's' },
    ownerReferences: [owner]
  })
  const one = { 'kubernetes.metal.cloud.sap/bb': 'bb1' }
  t.strictSame(wanted(decide(seen({ node: node({ metadata: { labels: one } }) }), options)).metadata.labels, one)
  t.strictSame(
    wanted(decide(seen({}), options)).metadata,
    { name: 'host-1', ownerReferences: [owner] },
    'HV-7: an empty map is not kept by the server'
  )
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
    'HV-20: another had switched it off: nothing to tell of',
    { hypervisor: hypervisor({ lifecycleEnabled: false }, { numInstances: 0 }, []) },
    {},
    false
  ],
  [
    'the label of the node is followed',
    { node: node({ metadata: { labels: { [lifecycle]: 'skip-tests' } } }), hypervisor: hypervisor({ lifecycleEnabled: false }) },
    { lifecycleEnabled: true, skipTests: true }
  ],
  [
    'HV-21: the lists of the node are followed',
    { node: annotated('b,a', 'CUSTOM_B,CUSTOM_A'), hypervisor: hypervisor({ aggregates: ['old'] }) },
    { aggregates: ['a', 'b'], customTraits: ['CUSTOM_A', 'CUSTOM_B'] },
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

t.test('HV-21, HV-22: a list in another order is no drift, another list is', async t => {
  const drift = (aggregates: string[]) => {
    const frozen = hypervisor({ maintenance: 'termination', aggregates })
    const step = decide(seen({ node: annotated('a,b'), hypervisor: frozen }), options)
    return step.do === 'keep' ? step.withheld : step
  }
  t.strictSame(drift(['b', 'a']), {})
  t.strictSame(drift(['ab']), { aggregates: ['a', 'b'] })
})

t.test('HV-26: a Node that is gone with servers on it is lamented, an empty one is not', async t => {
  const full = hypervisor({}, { numInstances: 1 })
  t.strictSame(decide(seen({ node: undefined, hypervisor: full }), options), { do: 'lament', hypervisor: full })
  const { status: _, ...unheard } = full
  t.match(decide(seen({ node: undefined, hypervisor: unheard }), options), { do: 'nothing' })
  t.match(decide(seen({ node: undefined }), options), { do: 'nothing' })
  t.match(decide(seen({ node: undefined, hypervisor: hypervisor({}) }), options), { do: 'nothing' })
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

const beat = (seconds: number, ...conditions: ReturnType<typeof condition>[]) =>
  hypervisor(
    {},
    { numInstances: 0, agent: { lastHeartbeat: new Date(now.getTime() - seconds * 1000).toISOString() }, conditions }
  )
const open: Array<[name: string, given: Hypervisor, due: boolean, more?: Partial<typeof options>]> = [
  ['healthy', beat(5, condition('Ready', 'True', 'Ready')), false],
  ['silent, still said to be ready', beat(100, condition('Ready', 'True', 'Ready')), true],
  ['at the limit', beat(90, condition('Ready', 'True', 'Ready')), false],
  ['silent, but nobody asks', beat(100, condition('Ready', 'True', 'Ready')), false, { healthGates: false }],
  ['silent, known', beat(100, condition('Ready', 'False', 'AgentLost')), false],
  ['back again', beat(5, condition('Ready', 'False', 'AgentLost')), true],
  ['terminating', hypervisor({}, { numInstances: 0, conditions: [condition('Terminating', 'True')] }), true],
  [
    'terminated',
    hypervisor({}, { numInstances: 0, conditions: [condition('Terminating', 'True'), condition('Offboarded', 'True')] }),
    false
  ],
  [
    'HV-25: agents still there',
    hypervisor({}, { numInstances: 0, conditions: [condition('AgentPodsEvicted', 'False', 'AgentPodsRunning')] }),
    true
  ],
  ['without an agent', hypervisor({}), false]
]
for (const [name, given, due, more] of open)
  t.test(`fast tick: ${name}`, async t => t.equal(isOpen(given, now, { ...options, ...more }), due))
