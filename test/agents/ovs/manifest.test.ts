// The DaemonSet as it ships (spec/ovs.md §8).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { matchWhole } from '../../assert/match-whole.ts'

const knative = join(import.meta.dirname, '../../../knative')
const documents = async (file: string) =>
  parseAllDocuments(await readFile(join(knative, file), 'utf8')).map(document => document.toJSON())
const daemonSet = (await documents('ovs-agent.yaml')).find(({ kind }) => kind === 'DaemonSet')
const [monitor] = await documents('components/monitoring/ovs.yaml')
const pod = daemonSet.spec.template.spec
const [container] = pod.containers

t.test('OV-66 the DaemonSet of the seed, with what it lacks', async t => {
  t.match(daemonSet, {
    metadata: { name: 'ovs-agent', namespace: 'ovn-system', labels: { app: 'ovs-agent' } },
    spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } }
  })
  matchWhole(t, pod, {
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
  matchWhole(t, container.securityContext, {
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

t.test('requests, limits and heap of the seed', async t => {
  t.strictSame(container.resources, { requests: { memory: '128Mi', cpu: '50m' }, limits: { memory: '256Mi', cpu: '200m' } })
  t.match(
    container.env.find(({ name }: { name: string }) => name === 'NODE_OPTIONS').value,
    /--max-semi-space-size=\d+ --max-old-space-size=96/
  )
})

t.test('OV-71 scraped as the job ovs-agent, on the port that the agent is told', async t => {
  matchWhole(t, monitor, {
    kind: 'PodMonitor',
    metadata: { namespace: 'ovn-system' },
    spec: { jobLabel: 'app', selector: { matchLabels: { app: 'ovs-agent' } }, podMetricsEndpoints: [{ port: 'metrics' }] }
  })
  matchWhole(t, container.ports, [
    { name: 'metrics', containerPort: 9644 },
    { name: 'diagnostics', containerPort: 9645 }
  ])
  t.match(
    container.env.find(({ name }: { name: string }) => name === 'METRICS_BIND_ADDRESS'),
    { value: ':9644' }
  )
})
