// The DaemonSet and the alerts as they ship (spec/ovs.md §8).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { Judge } from '../../../agents/ovs/judge.ts'
import { defaultTimings, issueTypes } from '../../../agents/ovs/issue-types.ts'
import { agentMetrics } from '../../../agents/ovs/metrics.ts'
import { firing, type Scene } from '../../monitoring/promql.ts'

const knative = join(import.meta.dirname, '../../../knative')
const documents = async (file: string) =>
  parseAllDocuments(await readFile(join(knative, file), 'utf8')).map(document => document.toJSON())
const daemonSet = (await documents('ovs-agent.yaml')).find(({ kind }) => kind === 'DaemonSet')
const [monitor, rule] = await documents('components/monitoring/ovs.yaml')
const pod = daemonSet.spec.template.spec
const [container] = pod.containers

t.test('OV-66 the DaemonSet of the seed, with what it lacks', async t => {
  t.match(daemonSet, {
    metadata: { name: 'ovs-agent', namespace: 'ovn-system', labels: { app: 'ovs-agent' } },
    spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } }
  })
  t.match(pod, {
    serviceAccountName: 'ovs-agent',
    nodeSelector: { 'node-role.kubernetes.io/hypervisor': '' },
    tolerations: [{ operator: 'Exists' }],
    priorityClassName: 'system-node-critical'
  })
  t.match(
    container.env.find(({ name }: { name: string }) => name === 'NODE_NAME'),
    { valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }
  )
  t.ok(container.readinessProbe && container.livenessProbe)
  const paths = new Set(container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath))
  for (const path of ['/var/run/openvswitch', '/etc/openvswitch', '/var/run/ovn']) t.ok(paths.has(path), path)
})

t.test('OV-67 the network of the host, and nothing else of it', async t => {
  t.equal(pod.hostNetwork, true)
  t.equal(pod.hostPID, false)
  t.match(container.securityContext, {
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] }
  })
  const writable = container.volumeMounts.filter(({ readOnly }: { readOnly?: boolean }) => readOnly !== true)
  t.strictSame(
    writable.map(({ name }: { name: string }) => name),
    ['spool'],
    'what it may write is its own'
  )
})

t.test('OV-69 the budget', async t => {
  t.strictSame(container.resources, { requests: { memory: '128Mi', cpu: '50m' }, limits: { memory: '256Mi', cpu: '200m' } })
  t.match(
    container.env.find(({ name }: { name: string }) => name === 'NODE_OPTIONS').value,
    /--max-semi-space-size=\d+ --max-old-space-size=96/
  )
})

t.test('OV-71 scraped as the job ovs-agent, on the port that the agent is told', async t => {
  t.match(monitor, {
    kind: 'PodMonitor',
    metadata: { namespace: 'ovn-system' },
    spec: { jobLabel: 'app', selector: { matchLabels: { app: 'ovs-agent' } }, podMetricsEndpoints: [{ port: 'metrics' }] }
  })
  t.match(container.ports, [
    { name: 'metrics', containerPort: 9644 },
    { name: 'diagnostics', containerPort: 9645 }
  ])
  t.match(
    container.env.find(({ name }: { name: string }) => name === 'METRICS_BIND_ADDRESS'),
    { value: ':9644' }
  )
})

interface Rule {
  alert: string
  expr: string
  for: string
  annotations: { summary: string; description: string }
}
const rules: Rule[] = rule.spec.groups.flatMap((group: { rules: Rule[] }) => group.rules)
const now = Date.parse('2026-11-16T12:00:00Z') / 1000
const gauge =
  (name: string, value: number, labels: Record<string, string> = {}): Scene =>
  () => [{ name, labels, value }]
const seenAgo =
  (age: number): Scene =>
  seconds => [{ name: 'ovs_agent_observed_timestamp_seconds', labels: {}, value: seconds - age }]
const issue = (type: keyof typeof issueTypes, count = 1) => gauge('ovs_issues', count, { type })
const bond = (status: string, value = 1) => gauge('ovs_bond_status', value, { bond: 'bond0', status })
const ovn = (status: string, value = 1) => gauge('ovs_condition', value, { type: 'OVNControllerConnected', status })

const cases: Array<[alert: string, lasting: string, fires: Scene[], silent: Scene[]]> = [
  ['OVSBondDown', '0m', [bond('Down')], [bond('Down', 0), bond('Degraded')]],
  ['OVSBondDegraded', '10m', [bond('Degraded')], [bond('Down'), bond('Degraded', 0)]],
  ['OVSOVNControllerDisconnected', '5m', [ovn('False')], [ovn('False', 0), ovn('Unknown')]],
  ['OVSFlowsWiped', '1m', [issue('FlowsWiped')], [issue('FlowsFrozen')]],
  ['OVSOrphanPorts', '1h', [issue('OrphanPort', 3)], [issue('DuplicatePortClaim')]],
  [
    'OVSAgentSilent',
    '3m',
    [gauge('ovs_agent_observed_timestamp_seconds', now - 600), gauge('up', 0, { job: 'ovs-agent' })],
    [seenAgo(30), gauge('up', 1, { job: 'ovs-agent' }), gauge('up', 0, { job: 'other' })]
  ],
  ['OVSEventQueueFull', '0m', [issue('EventQueueFull')], [issue('CaptureLeftover')]]
]

t.test('OV-72 the alerts: every one fires from what the agent shows, after its time, and is silent otherwise', async t => {
  t.strictSame(
    rules.map(({ alert }) => alert),
    cases.map(([alert]) => alert)
  )
  for (const [at, [alert, lasting, fires, silent]] of cases.entries()) {
    const found = rules[at] as Rule
    t.equal(found.for, lasting, alert)
    for (const scene of fires) t.ok(firing(found, scene, now).length > 0, `${alert} fires`)
    for (const scene of silent) t.strictSame(firing(found, scene, now), [], `${alert} is silent`)
    t.ok(found.annotations.summary && found.annotations.description)
  }
})

t.test('OV-72 no rule names a metric that the agent does not have', async t => {
  const registry = new Registry()
  const settings = { expectedBridges: [] }
  const judge = new Judge({ node: 'n1', timings: defaultTimings, settings, heartbeatSeconds: 30, agentVersion: '0' })
  agentMetrics(registry, { judge, queueLength: () => 0, allPorts: false })
  const named = rules.flatMap(({ expr }) => expr.match(/\bovs_\w+/g) ?? [])
  t.ok(named.length >= 7)
  for (const name of named) t.ok(registry.getSingleMetric(name), name)
})
