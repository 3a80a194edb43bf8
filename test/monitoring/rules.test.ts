// HV-63 … HV-66: every alert fires from an object, or from what a function counts, and is silent about what is well or merely waited for.
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse as parseYaml, parseAllDocuments } from 'yaml'
import { condition, hypervisor } from '../functions/host-life/fixtures.ts'
import { firing, type Scene } from './promql.ts'
import { samplesOf, type Resource, type Sample } from './state-metrics.ts'

interface Rule {
  alert: string
  expr: string
  for: string
  labels: { severity: string }
  annotations: { summary: string; description: string }
}

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'knative', 'components', 'monitoring')
const read = (file: string): Promise<string> => readFile(join(folder, file), 'utf8')
const { spec } = parseYaml(await read('rules.yaml')) as { spec: { groups: { rules: Rule[] }[] } }
const rules = new Map(spec.groups.flatMap(group => group.rules).map(rule => [rule.alert, rule]))
const [configMap] = parseAllDocuments(await read('state-metrics.yaml')).map(document => document.toJSON()) as [
  { data: { 'config.yaml': string } }
]
const { spec: config } = parseYaml(configMap.data['config.yaml']) as { spec: { resources: Resource[] } }
const [hosts, evictions] = config.resources

const hour = 3600
const now = Date.parse('2026-11-16T12:00:00Z') / 1000
type Conditions = ReturnType<typeof condition>[]
const host = (conditions: Conditions, more: object = {}): Scene => {
  const samples = hosts ? samplesOf(hypervisor({ maintenance: 'manual' }, { conditions, ...more }), hosts) : []
  return () => samples
}
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
  seconds => {
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
  [
    'HypervisorAgentSilent',
    '0m',
    [host([], { agent: { lastHeartbeat: '2026-11-16T11:57:59Z' } })],
    [host([], { agent: { lastHeartbeat: '2026-11-16T11:58:30Z' } }), host([])]
  ],
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
  ]
]

t.strictSame([...rules.keys()].sort(), cases.map(([alert]) => alert).sort(), 'every rule has its cases')

for (const [alert, lasting, fires, silent] of cases) {
  t.test(`HV-65, HV-66: ${alert} after ${lasting}`, async t => {
    const rule = rules.get(alert)
    if (!rule) throw new Error(`no rule ${alert}`)
    t.equal(rule.for, lasting)
    for (const scene of fires) t.ok(firing(rule, scene, now).length > 0, 'fires')
    for (const scene of silent) t.strictSame(firing(rule, scene, now), [], 'is silent')
    t.ok(rule.annotations.summary && rule.annotations.description)
  })
}

t.test('HV-66: what holds for less than its time does not fire', async t => {
  const rule = rules.get('HypervisorOnboardingStuck')
  const stuck = host([condition('Onboarding', 'True', 'Testing')])
  const since = now - hour / 2
  t.strictSame(rule && firing(rule, seconds => (seconds < since ? [] : stuck(seconds)), now), [])
})

t.test('HV-66: three rules of the operator in use cannot fire', async t => {
  const failed = [running, condition('MigratingInstance', 'False', 'Failed')]
  const today = (expr: string, scene: Scene) => firing({ expr, for: '5m' }, scene, now)
  const compared = 'kube_customresource_eviction_condition{condition="Evicting", reason="Failed"} == 1'
  t.strictSame(today(compared, eviction([condition('Evicting', 'False', 'Failed')])), [])
  t.strictSame(
    today('kube_customresource_eviction_condition{condition="MigratingInstance", reason="Failed"} == 1', eviction(failed)),
    []
  )
  t.strictSame(today('kube_customresource_eviction_outstanding_ram_mb > 0', eviction([running], 0)), [], 'its figure is always 0')
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

t.test('HV-64: every metric that a rule names is made by somebody', async t => {
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
