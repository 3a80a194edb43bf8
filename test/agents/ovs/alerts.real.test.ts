// OV-72: the alerts as they ship, each fired by Prometheus' own evaluation of what the agent shows.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { Judge } from '../../../agents/ovs/judge.ts'
import { defaultTimings, issueTypes } from '../../../agents/ovs/issue-types.ts'
import { agentMetrics } from '../../../agents/ovs/metrics.ts'
import { firesAsExpected, type Rule, type Scene } from '../../monitoring/firing.ts'

const file = join(import.meta.dirname, '../../../knative/components/monitoring/ovs.yaml')
const [, rule] = parseAllDocuments(await readFile(file, 'utf8')).map(document => document.toJSON())

const rules: Rule[] = rule.spec.groups.flatMap((group: { rules: Rule[] }) => group.rules)
const gauge =
  (name: string, value: number, labels: Record<string, string> = {}): Scene =>
  () => [{ name, labels, value }]
const seenAgo =
  (age: number): Scene =>
  seconds => [{ name: 'ovs_agent_observed_timestamp_seconds', labels: {}, value: seconds - age }]
const stoppedAgo =
  (age: number): Scene =>
  (_seconds, now) => [{ name: 'ovs_agent_observed_timestamp_seconds', labels: {}, value: now - age }]
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
    [stoppedAgo(600), gauge('up', 0, { job: 'ovs-agent' })],
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
    await t.test(alert, t => firesAsExpected(t, { rule: found, fires, silent }))
    t.ok(found.annotations?.['summary'] && found.annotations['description'])
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
