// Long: one table of alerts. HV-63 … HV-66, HA-17: every alert fires from an object, or from what a function counts, and is silent about what is well or merely waited for.
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse as parseYaml, parseAllDocuments } from 'yaml'
import { condition, hypervisor } from '../functions/host-life/fixtures.ts'
import { firesAsExpected, type Rule, type Scene } from './firing.ts'
import { samplesOf, type Resource, type Sample } from './state-metrics.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'knative', 'components', 'monitoring')
const read = (file: string): Promise<string> => readFile(join(folder, file), 'utf8')
const rulesOf = async (file: string): Promise<Rule[]> => {
  const { spec } = parseYaml(await read(file)) as { spec: { groups: { rules: Rule[] }[] } }
  return spec.groups.flatMap(group => group.rules)
}
const rules = new Map([...(await rulesOf('rules.yaml')), ...(await rulesOf('ha.yaml'))].map(rule => [rule.alert, rule]))
const [configMap] = parseAllDocuments(await read('state-metrics.yaml')).map(document => document.toJSON()) as [
  { data: { 'config.yaml': string } }
]
const { spec: config } = parseYaml(configMap.data['config.yaml']) as { spec: { resources: Resource[] } }
const [hosts, evictions] = config.resources

type Conditions = ReturnType<typeof condition>[]
const host = (conditions: Conditions, more: object = {}): Scene => {
  const samples = hosts ? samplesOf(hypervisor({ maintenance: 'manual' }, { conditions, ...more }), hosts) : []
  return () => samples
}
const heartbeatBefore =
  (agoS: number): Scene =>
  (_seconds, now) =>
    host([], { agent: { lastHeartbeat: new Date((now - agoS) * 1000).toISOString() } })(0, now)
const eviction = (conditions: Conditions, outstandingRamMb = 0): Scene => {
  const object = {
    metadata: { name: 'host-1' },
    spec: { hypervisor: 'host-1', reason: 'x' },
    status: { conditions, outstandingRamMb }
  }
  const samples = evictions ? samplesOf(object, evictions) : []
  return () => samples
}
/** A counter that is born some seconds before now and grows by one in each of the given ones. */
const counter =
  (name: string, labels: Record<string, string>, ...agoS: number[]): Scene =>
  (seconds, now) => {
    const value = agoS.filter(ago => now - ago <= seconds).length
    return value > 0 ? [{ name, labels, value }] : []
  }
const steady =
  (name: string, labels: Record<string, string> = {}): Scene =>
  seconds => [{ name, labels, value: Math.floor(seconds / 10) }]
const nothing: Scene = () => []

const failing = steady('drover_events_total', { function: 'traits', type: 'x', outcome: 'failed' })
const ping = { function: 'traits', type: 'dev.knative.sources.ping', outcome: 'done' }
const stopped: Scene = () => [{ name: 'drover_events_total', labels: ping, value: 7 }]
const vanished = { type: 'sap.cloud.kvm.node.vanished.v1', outcome: 'sent' }
const running = condition('Evicting', 'True', 'Running')

const decisions = (state: string, ...agoS: number[]): Scene =>
  counter('drover_ha_decisions_total', { kind: 'crashed', state }, ...agoS)
const signal =
  (kind: string, value: number): Scene =>
  () => [{ name: 'drover_ha_signals', labels: { host: 'host-1', kind }, value }]
/** So many events wait, and the last decision is so many seconds ago whenever one looks. */
const standing =
  (waiting: number, agoS: number): Scene =>
  seconds => [
    { name: 'drover_ha_waiting', labels: { instance: 'ha-1' }, value: waiting },
    { name: 'drover_ha_last_decision_timestamp_seconds', labels: { instance: 'ha-1' }, value: seconds - agoS }
  ]

// alert, then what makes it fire, then what must not
const cases: Array<[alert: string, lasting: string, fires: Scene[], silent: Scene[]]> = [
  [
    'HypervisorOnboardingStuck',
    '1h',
    [host([condition('Onboarding', 'True', 'Testing')]), host([condition('Onboarding', 'True', 'Failed')])],
    [host([condition('Onboarding', 'False')]), host([])]
  ],
  [
    'HypervisorHandoverStuck', // HV-38, HV-41
    '15m',
    [host([condition('Onboarding', 'True', 'Handover')])],
    [host([condition('Onboarding', 'True', 'Testing')]), host([condition('Onboarding', 'False')])]
  ],
  [
    'HypervisorAgentsStay', // HV-50
    '15m',
    [host([condition('AgentPodsEvicted', 'False', 'AgentPodsRunning')])],
    [host([condition('AgentPodsEvicted', 'True', 'NoAgentPods')]), host([])]
  ],
  ['HypervisorEvictionStuck', '4h', [host([running])], [host([condition('Evicting', 'False')])]],
  [
    'HypervisorEvictedTooLong',
    '7d',
    [host([], { evicted: true }), host([condition('Offboarded', 'False', 'Offboarding')], { evicted: true })],
    [host([condition('Offboarded', 'True', 'Offboarded')], { evicted: true }), host([], { evicted: false })]
  ],
  [
    'HypervisorTraitSyncFailed',
    '30m',
    [host([condition('TraitsUpdated', 'False', 'Failed')]), host([condition('TraitsUpdated', 'False', 'ProviderMissing')])],
    [host([condition('TraitsUpdated', 'True')])]
  ],
  [
    'HypervisorAggregateSyncFailed',
    '30m',
    [host([condition('AggregatesUpdated', 'False', 'Failed')])],
    [
      host([condition('AggregatesUpdated', 'False', 'WaitingForTraits')]),
      host([condition('AggregatesUpdated', 'False', 'EvictionInProgress')]),
      host([condition('AggregatesUpdated', 'True')])
    ]
  ],
  ['EvictionFailed', '5m', [eviction([condition('Evicting', 'False', 'Failed')])], [eviction([running])]],
  [
    'EvictionMigrationFailing',
    '1h',
    [eviction([running, condition('MigratingInstance', 'False', 'Failed')])],
    [
      eviction([condition('Evicting', 'False', 'Failed'), condition('MigratingInstance', 'False', 'Failed')]),
      eviction([running, condition('MigratingInstance', 'True', 'Running')])
    ]
  ],
  ['EvictionOutstandingRamHigh', '6h', [eviction([running], 512)], [eviction([running], 0), eviction([], 512)]],
  ['HypervisorOperatorReconcileErrors', '15m', [failing], [steady('drover_events_total', ping), nothing]],
  ['HypervisorOperatorDown', '5m', [nothing], [steady('drover_cluster_changes_waiting')]],
  ['HypervisorAgentSilent', '0m', [heartbeatBefore(121)], [heartbeatBefore(90), host([])]],
  [
    'HypervisorDrift',
    '1h',
    [host([], { drift: [{ kind: 'service', name: 'nova-compute', action: 'reported' }] })],
    [host([], { drift: [{ kind: 'trait', name: 'CUSTOM_A', action: 'repaired' }] }), host([])]
  ],
  [
    'HypervisorOffboardingBlocked',
    '1h',
    [host([condition('Offboarded', 'False', 'Blocked')])],
    [host([condition('Offboarded', 'False', 'Offboarding')]), host([condition('Offboarded', 'True', 'Offboarded')])]
  ],
  [
    'HypervisorCertificateExpiring',
    '0m',
    [host([condition('TLSCertificateInstalled', 'False', 'Expiring')])],
    [
      host([condition('TLSCertificateInstalled', 'False', 'Installing')]),
      host([condition('TLSCertificateInstalled', 'True', 'Ready')])
    ]
  ],
  [
    'DroverDeadLetters',
    '0m',
    [counter('drover_dead_letters_total', { code: '422' }, 60), counter('drover_dead_letters_total', { code: '422' }, 9000, 60)],
    [counter('drover_dead_letters_total', { code: '422' }, 9000), nothing]
  ],
  ['DroverResyncLate', '5m', [stopped, nothing], [steady('drover_events_total', ping)]],
  [
    'DroverNodeLostWithServers',
    '0m',
    [counter('drover_emitted_total', vanished, 60), counter('drover_emitted_total', vanished, 9000, 60)],
    [counter('drover_emitted_total', { type: 'other', outcome: 'sent' }, 60), counter('drover_emitted_total', vanished, 9000)]
  ],
  ['HaServerBlocked', '0m', [decisions('Blocked', 9000, 60)], [decisions('Blocked', 9000), decisions('Restarting', 9000, 60)]],
  [
    'HaServerDown',
    '0m',
    ['Reported', 'OutOfBand', 'WouldRestart', 'WouldResume', 'NotConfirmed'].map(state => decisions(state, 9000, 60)),
    [decisions('Reported', 9000), decisions('Blocked', 9000, 60)]
  ],
  ['HaHostUnschedulable', '10m', [signal('BondDown', 2)], [signal('BondDown', 1)]],
  [
    'HaManyAtOnce',
    '0m',
    ['FleetFault', 'StorageOutage', 'SeveralHosts'].map(kind => signal(kind, 1)),
    [signal('FleetFault', 0), signal('BondDown', 3)]
  ],
  ['HaStandsStill', '1m', [standing(3, 300)], [standing(3, 30), standing(0, 300)]]
]

t.strictSame([...rules.keys()].sort(), cases.map(([alert]) => alert).sort(), 'every rule has its cases')

for (const [alert, lasting, fires, silent] of cases) {
  t.test(`HV-64 … HV-66: ${alert} after ${lasting}`, async t => {
    const rule = rules.get(alert)
    if (!rule) throw new Error(`no rule ${alert}`)
    t.equal(rule.for, lasting)
    await firesAsExpected(t, { rule, fires, silent })
    t.ok(rule.annotations?.['summary'] && rule.annotations['description'])
  })
}

t.test('HV-66: what holds for less than its time does not fire', async t => {
  const rule = rules.get('HypervisorOnboardingStuck')
  if (!rule) throw new Error('no such rule')
  const stuck = host([condition('Onboarding', 'True', 'Testing')])
  const since =
    (agoS: number): Scene =>
    (seconds, now) =>
      seconds < now - agoS ? [] : stuck(seconds, now)
  await firesAsExpected(t, { rule, fires: [since(3630)], silent: [since(3540)] })
})

t.test('HV-66: three rules of the operator in use cannot fire', async t => {
  const failed = [running, condition('MigratingInstance', 'False', 'Failed')]
  const today: Array<[expr: string, scene: Scene]> = [
    [
      'kube_customresource_eviction_condition{condition="Evicting", reason="Failed"} == 1',
      eviction([condition('Evicting', 'False', 'Failed')])
    ],
    ['kube_customresource_eviction_condition{condition="MigratingInstance", reason="Failed"} == 1', eviction(failed)],
    ['kube_customresource_eviction_outstanding_ram_mb > 0', eviction([running], 0)] // its figure is always 0
  ]
  for (const [expr, scene] of today)
    await t.test(expr, t => firesAsExpected(t, { rule: { alert: 'Today', expr, for: '5m' }, fires: [], silent: [scene] }))
})

t.test('HV-63: names and labels are those in use', async t => {
  const labels = {
    'topology.kubernetes.io/zone': 'z1',
    'kubernetes.metal.cloud.sap/bb': 'bb1',
    'worker.garden.sapcloud.io/group': 'g'
  }
  const given = hypervisor({ maintenance: 'manual' }, { conditions: [running] })
  const samples = hosts ? samplesOf({ ...given, metadata: { ...given.metadata, labels } }, hosts) : []
  const common = { name: 'host-1', zone: 'z1', building_block: 'bb1', worker_group: 'g', maintenance: 'manual' }
  const named = (name: string): Sample | undefined =>
    samples.find(sample => sample.name === `kube_customresource_hypervisor_${name}`)
  for (const name of [
    'info',
    'num_instances',
    'evicted',
    'condition',
    'capability_cpus',
    'lifecycle_enabled',
    'high_availability'
  ])
    t.match(named(name)?.labels, common, name)
  t.match(named('condition'), { labels: { condition: 'Evicting', reason: 'Running' }, value: 1 })
  const told = evictions?.metrics.map(({ name }) => name)
  t.strictSame(told, ['eviction_info', 'eviction_outstanding_ram_mb', 'eviction_condition'])
})

t.test('every metric that a rule names is made by somebody', async t => {
  const made = new Set(config.resources.flatMap(({ metrics }) => metrics.map(({ name }) => `kube_customresource_${name}`)))
  const sources = await Array.fromAsync(glob('{functions,shared,agents}/**/*.ts', { cwd: root, exclude: ['**/node_modules/**'] }))
  for (const file of sources)
    for (const [name] of (await readFile(join(root, file), 'utf8')).matchAll(/\bdrover_\w+/g)) made.add(name)
  const used = new Set([...rules.values()].flatMap(({ expr }) => expr.match(/\b(?:drover|kube_customresource)_\w+/g) ?? []))
  t.ok(used.size >= 9)
  t.strictSame(
    [...used].filter(name => !made.has(name)),
    []
  )
})
