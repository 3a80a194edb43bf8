// Long: API server and function are started once for all of it. functions/hypervisor on the real API server, under exactly the role of knative/hypervisor.yaml.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import handler from '../../../functions/hypervisor/handler.ts'
import { connect, type Kube, Node, Pod } from '../../../shared/kube/index.ts'
import { serve } from '../../../shared/runtime/serve.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { startBundle } from '../../runtime/bundled.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { request } from '../../servers/request.ts'
import { rightsOf } from '../../servers/rights.ts'
import { virtDriver } from './fixtures.ts'

t.setTimeout(300_000)
const api = await ownKubernetes(t)
const kubeconfig = await asServiceAccount(t, api, 'hypervisor.yaml', 'hypervisor')
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig, timeoutMs: 60_000 })
t.teardown(() => admin.close())

const told: Array<{ type: string; id: string; body: string }> = []
const broker = createServer(async (request, response) => {
  const chunks = await Array.fromAsync(request)
  told.push({
    type: String(request.headers['ce-type']),
    id: String(request.headers['ce-id']),
    body: Buffer.concat(chunks).toString()
  })
  response.writeHead(202).end()
}).listen(0, '127.0.0.1')
t.teardown(() => broker.close())
await new Promise(resolve => broker.once('listening', resolve))
const sink = `http://127.0.0.1:${(broker.address() as AddressInfo).port}`

const env = { KUBECONFIG: kubeconfig, K_SINK: sink, LOG_LEVEL: 'fatal', HOST: '127.0.0.1', PORT: '0' }
const fn = await serve(handler, { env })
let url = fn.url

let number = 0
function post(type: string, name: string, { changed, data }: { changed?: string; data?: object } = {}): Promise<number> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': String((number += 1)),
    'ce-source': '/test',
    'ce-type': type,
    'ce-partitionkey': name,
    ...(changed && { 'ce-changed': changed })
  }
  const body = JSON.stringify(data ?? { apiVersion: 'v1', kind: 'Node', name })
  return fetch(url, { method: 'POST', headers, body }).then(async response => (await response.arrayBuffer(), response.status))
}
const tick = (speed: 'fast' | 'slow') => post('dev.knative.sources.ping', 'tick', { data: { tick: speed } })
const nodeChanged = (name: string, changed?: string) => post('io.k8s.node.changed.v1', name, { ...(changed && { changed }) })

const lifecycle = 'cobaltcore.cloud.sap/node-hypervisor-lifecycle'
const zone = 'topology.kubernetes.io/zone'
const longAgo = '2026-01-01T00:00:00Z'
const makeNode = (name: string, metadata: object = {}) =>
  admin.create(Node, { metadata: { name, ...metadata, labels: { ...virtDriver, ...(metadata as { labels?: object }).labels } } })
const stored = async (kube: Kube, name: string): Promise<Hypervisor> => {
  const found = await kube.find(Hypervisor, name)
  if (!found) throw new Error(`no Hypervisor ${name}`)
  return found
}

t.test('a Node becomes a Hypervisor with true conditions', async t => {
  const made = await makeNode('plain', {
    labels: { [lifecycle]: 'true', [zone]: 'z1', 'kubernetes.metal.cloud.sap/bb': 'bb1', other: 'no' },
    annotations: { 'nova.openstack.cloud.sap/aggregates': ' b, a,, b ', 'nova.openstack.cloud.sap/custom-traits': 'CUSTOM_X' }
  })
  t.equal(await nodeChanged('plain', 'created,labels'), 204)
  const { metadata, spec, status } = await stored(admin, 'plain')
  t.strictSame(metadata.labels, { [zone]: 'z1', 'kubernetes.metal.cloud.sap/bb': 'bb1' })
  t.match(metadata.ownerReferences, [{ kind: 'Node', uid: made.metadata?.uid, blockOwnerDeletion: true }])
  t.notOk(metadata.ownerReferences?.[0]?.controller)
  t.match(spec, { lifecycleEnabled: true, skipTests: false, aggregates: ['a', 'b', 'z1'], customTraits: ['CUSTOM_X'] })
  t.match(spec, { evacuateOnReboot: true, highAvailability: true, installCertificate: true }, 'HV-19')
  t.match(status, { phase: 'Registering', observedGeneration: 1, numInstances: 0 })
  t.match(status?.conditions, [{ type: 'Ready', status: 'False', reason: 'Onboarding', observedGeneration: 1 }])
})

t.test('HV-7: the same event twenty times at once writes once', async t => {
  await makeNode('crowd')
  const answers = await Promise.all(Array.from({ length: 20 }, () => nodeChanged('crowd', 'created')))
  t.strictSame(new Set(answers), new Set([204]))
  const { metadata } = await stored(admin, 'crowd')
  t.equal(metadata.generation, 1)
  t.equal(await nodeChanged('crowd'), 204)
  t.equal(await tick('slow'), 204)
  t.equal((await stored(admin, 'crowd')).metadata.resourceVersion, metadata.resourceVersion, 'and never again')
})

t.test('a Node without zone and annotations, and one that is no hypervisor', async t => {
  await makeNode('bare')
  t.equal(await nodeChanged('bare'), 204)
  t.strictSame((await stored(admin, 'bare')).spec.aggregates, [])
  await admin.create(Node, { metadata: { name: 'worker' } })
  t.equal(await nodeChanged('worker'), 204)
  t.equal(await admin.find(Hypervisor, 'worker'), undefined)
  t.equal(await nodeChanged('deleted-meanwhile'), 204)
})

t.test('HV-20: labels and the lifecycle follow the Node, but what others set stays', async t => {
  await makeNode('labels', { labels: { [lifecycle]: 'skip-tests', [zone]: 'z1' } })
  await nodeChanged('labels')
  t.match((await stored(admin, 'labels')).spec, { lifecycleEnabled: true, skipTests: true })
  await admin.patch(Hypervisor, { name: 'labels' }, { metadata: { labels: { mine: 'yes' } }, spec: { highAvailability: false } })
  await admin.patch(Node, { name: 'labels' }, { metadata: { labels: { [lifecycle]: null, [zone]: null } } })
  t.equal(await nodeChanged('labels', 'labels'), 204)
  const { metadata, spec } = await stored(admin, 'labels')
  t.strictSame(metadata.labels, { mine: 'yes' })
  t.match(spec, { lifecycleEnabled: false, highAvailability: false }, 'an explicit false, and the other hand untouched')

  await admin.patch(Hypervisor, { name: 'labels' }, { spec: { lifecycleEnabled: true } })
  t.equal(await nodeChanged('labels', 'labels'), 204)
  t.equal((await stored(admin, 'labels')).spec.lifecycleEnabled, true, 'another manager owns it now')
  const events = await request<{ items: Array<{ reason: string; regarding: { name: string } }> }>(
    api,
    'GET',
    '/apis/events.k8s.io/v1/events'
  )
  t.ok(events.body.items.some(({ reason, regarding }) => reason === 'LifecycleKept' && regarding.name === 'labels'))
})

t.test('HV-5: a conflict with another manager: the Node’s word counts, what it says nothing of stays', async t => {
  await makeNode('contested', { labels: { [lifecycle]: 'true' } })
  const rival = await connect({ manager: 'rival', kubeconfig: api.kubeconfig })
  t.teardown(() => rival.close())
  await rival.apply(Hypervisor, { metadata: { name: 'contested' }, spec: { lifecycleEnabled: false, evacuateOnReboot: false } })
  t.equal(await nodeChanged('contested'), 204)
  const { metadata, spec } = await stored(admin, 'contested')
  t.match(spec, { lifecycleEnabled: true, evacuateOnReboot: false })
  t.equal(await nodeChanged('contested'), 204)
  t.equal((await stored(admin, 'contested')).metadata.resourceVersion, metadata.resourceVersion, 'and there it rests')
})

t.test('HV-8: a host that is only observed keeps its spec, and says what it would be', async t => {
  await makeNode('observed', { labels: { [lifecycle]: 'true' } })
  await admin.apply(Hypervisor, {
    metadata: { name: 'observed', annotations: { 'kvm.cloud.sap/drover-observe': 'true' } },
    spec: { lifecycleEnabled: false }
  })
  t.equal(await nodeChanged('observed'), 204)
  const { metadata, spec, status } = await stored(admin, 'observed')
  t.equal(spec.lifecycleEnabled, false)
  t.equal(metadata.ownerReferences, undefined)
  t.notOk(status?.conditions, 'the operator in use writes these')
  t.match(status?.drift, [{ kind: 'spec', name: 'lifecycleEnabled', expected: 'true', actual: 'false', action: 'reported' }])
})

t.test('HV-27: an object of the operator in use is adopted, not begun anew', async t => {
  await makeNode('running', { labels: { [lifecycle]: 'true' } })
  await request(api, 'POST', '/apis/kvm.cloud.sap/v1/hypervisors?fieldManager=manager', {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata: { name: 'running' },
    spec: { lifecycleEnabled: true, evacuateOnReboot: false }
  })
  const path = '/apis/kvm.cloud.sap/v1/hypervisors/running/status?fieldManager=manager'
  const onboarded = { type: 'Onboarding', status: 'False', reason: 'Succeeded', message: '', lastTransitionTime: longAgo }
  const patch = { status: { serviceId: 'service', numInstances: 0, conditions: [onboarded] } }
  await request(api, 'PATCH', path, patch, { 'content-type': 'application/merge-patch+json' })
  t.equal(await nodeChanged('running'), 204)
  t.match(await stored(admin, 'running'), {
    spec: { evacuateOnReboot: false },
    status: { serviceId: 'service', phase: 'Active', conditions: [onboarded, { type: 'Ready', status: 'True', reason: 'Ready' }] }
  })
})

t.test('HV-5: fields of an earlier writer are taken over, so that they go when the Node drops them', async t => {
  await makeNode('adopted', { labels: { [zone]: 'z1' }, annotations: { 'nova.openstack.cloud.sap/aggregates': 'a' } })
  const before = {
    metadata: { name: 'adopted', labels: { [zone]: 'z1' } },
    spec: { aggregates: ['a', 'z1'], lifecycleEnabled: true }
  }
  await request(api, 'POST', '/apis/kvm.cloud.sap/v1/hypervisors?fieldManager=manager', {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    ...before
  })
  await nodeChanged('adopted')
  await admin.patch(
    Node,
    { name: 'adopted' },
    { metadata: { labels: { [zone]: null }, annotations: { 'nova.openstack.cloud.sap/aggregates': null } } }
  )
  t.equal(await nodeChanged('adopted'), 204)
  const { metadata, spec } = await stored(admin, 'adopted')
  t.strictSame(metadata.labels ?? {}, {})
  t.strictSame(spec.aggregates, [])
  t.equal(spec.lifecycleEnabled, true)
})

t.test('HV-22, HV-24: a terminating Node freezes the spec; status goes on and notes the difference', async t => {
  await makeNode('ending', { labels: { [lifecycle]: 'true' } })
  await nodeChanged('ending')
  const conditions = [{ type: 'Terminating', status: 'True', reason: 'Gone', message: '', lastTransitionTime: longAgo }]
  await admin.patch(Node, { name: 'ending' }, { status: { conditions } }, { subresource: 'status' })
  t.equal(await nodeChanged('ending', 'conditions'), 204)
  t.match(await stored(admin, 'ending'), {
    spec: { maintenance: 'termination' },
    status: {
      phase: 'Terminating',
      conditions: [
        { type: 'Ready', reason: 'Terminating' },
        { type: 'Terminating', status: 'True' }
      ]
    }
  })
  await admin.patch(Node, { name: 'ending' }, { metadata: { labels: { [lifecycle]: null, [zone]: 'z9' } } })
  t.equal(await nodeChanged('ending', 'labels'), 204)
  t.match(await stored(admin, 'ending'), {
    metadata: { labels: { [zone]: 'z9' } },
    spec: { lifecycleEnabled: true },
    status: { drift: [{ kind: 'spec', name: 'lifecycleEnabled', expected: 'false', actual: 'true' }] }
  })
  await admin.patch(Node, { name: 'ending' }, { status: { conditions: [] } }, { subresource: 'status' })
  await nodeChanged('ending', 'conditions')
  t.match(
    (await stored(admin, 'ending')).status?.conditions?.find(({ type }) => type === 'Terminating'),
    { status: 'False', reason: 'Cancelled' }
  )
})

t.test('HV-25: agents that must leave are counted, and the status follows their pods', async t => {
  await makeNode('leaving')
  await nodeChanged('leaving')
  await admin.patch(Node, { name: 'leaving' }, { spec: { taints: [{ key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' }] } })
  const evicting = {
    type: 'Evicting',
    status: 'False',
    reason: 'Succeeded',
    message: '',
    lastTransitionTime: longAgo
  } as const
  await admin.applyStatus(Hypervisor, { metadata: { name: 'leaving' }, status: { conditions: [evicting] } })
  const pod = {
    metadata: { name: 'nova', namespace: 'monsoon3' },
    spec: { nodeName: 'leaving', containers: [{ name: 'c', image: 'i' }] }
  }
  await eventually('the service account of the namespace', () => admin.create(Pod, pod).catch(() => undefined))
  const verdict = async () => (await stored(admin, 'leaving')).status?.conditions?.find(({ type }) => type === 'AgentPodsEvicted')
  t.equal(
    await post('io.k8s.pod.changed.v1', 'leaving', {
      data: { apiVersion: 'v1', kind: 'Pod', name: 'nova', namespace: 'monsoon3' }
    }),
    204
  )
  t.match(await verdict(), { status: 'False', reason: 'AgentPodsRunning', message: /monsoon3\/nova/ })
  await request(api, 'DELETE', '/api/v1/namespaces/monsoon3/pods/nova?gracePeriodSeconds=0')
  t.equal(
    await post('io.k8s.pod.deleted.v1', 'leaving', {
      data: { apiVersion: 'v1', kind: 'Pod', name: 'nova', namespace: 'monsoon3' }
    }),
    204
  )
  t.match(await verdict(), { status: 'True', reason: 'NoAgentPods' })

  await admin.create(Pod, pod)
  const byApiServerSource = { apiVersion: 'v1', kind: 'Pod', name: 'nova', namespace: 'monsoon3' }
  t.equal(await post('io.k8s.pod.changed.v1', '', { data: byApiServerSource }), 204, 'a sender that does not know the node')
  t.match(await verdict(), { status: 'False', reason: 'AgentPodsRunning' })
})

t.test('HV-26: a Node that vanishes with servers on it is told before and after its Hypervisor is collected', async t => {
  await makeNode('vanished')
  await nodeChanged('vanished')
  const instances = [{ id: 'server-1', name: 's', active: true }]
  await admin.applyStatus(Hypervisor, { metadata: { name: 'vanished' }, status: { numInstances: 1, instances } })
  // held, so that the garbage collector does not come before the first event
  const hold = (finalizers: string[]) => admin.patch(Hypervisor, { name: 'vanished' }, { metadata: { finalizers } })
  const { metadata } = await hold(['drover.dev/test'])
  await admin.delete(Node, { name: 'vanished' })
  t.equal(await post('io.k8s.node.deleted.v1', 'vanished'), 204)
  await hold([])
  await admin.delete(Hypervisor, { name: 'vanished' })
  const last = { numInstances: 1, instances: ['server-1'] }
  const data = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name: 'vanished', uid: metadata.uid, last }
  t.equal(await post('sap.cloud.kvm.hypervisor.deleted.v1', 'vanished', { data }), 204)
  const events = told.filter(({ type }) => type === 'sap.cloud.kvm.node.vanished.v1')
  const id = `${metadata.uid}/vanished`
  t.strictSame(
    events.map(event => event.id),
    [id, id],
    'one fact, however often it is told'
  )
  t.match(JSON.parse(events[0]?.body ?? ''), { host: 'vanished', numInstances: 1, instances: ['server-1'] })
})

t.test('HV-9: the tick alone, with every event lost, reaches the same state', async t => {
  await makeNode('silent', { labels: { [lifecycle]: 'true', [zone]: 'z1' } })
  t.equal(await tick('slow'), 204)
  t.match(await stored(admin, 'silent'), { spec: { lifecycleEnabled: true }, status: { phase: 'Registering' } })
  await admin.delete(Hypervisor, { name: 'silent' })
  t.equal(await tick('slow'), 204)
  t.match(await stored(admin, 'silent'), { metadata: { labels: { [zone]: 'z1' } }, status: { conditions: [{ type: 'Ready' }] } })
})

t.test('the fast tick sees that an agent fell silent, and that it is back', async t => {
  await makeNode('beating')
  await nodeChanged('beating')
  const onboarded = {
    type: 'Onboarding',
    status: 'False',
    reason: 'Succeeded',
    message: '',
    lastTransitionTime: longAgo
  } as const
  const beat = (time: number) =>
    admin.applyStatus(Hypervisor, {
      metadata: { name: 'beating' },
      status: { agent: { lastHeartbeat: new Date(time).toISOString() }, conditions: [onboarded] }
    })
  const reason = async () => (await stored(admin, 'beating')).status?.conditions?.find(({ type }) => type === 'Ready')?.reason
  await beat(Date.now())
  await post('sap.cloud.kvm.hypervisor.changed.v1', 'beating', { changed: 'conditions' })
  t.equal(await reason(), 'Ready')
  await beat(Date.now() - 100_000)
  t.equal(await tick('fast'), 204)
  t.equal(await reason(), 'AgentLost')
  t.match(told.findLast(({ type }) => type === 'sap.cloud.kvm.heartbeat.missed.v1')?.body, /"host":"beating"/)
  await beat(Date.now())
  t.equal(await tick('fast'), 204)
  t.equal(await reason(), 'Ready')
})

t.test('OV-51, OV-53, OV-55: the OVSNode shows in its Hypervisor, and a silent agent turns Unknown', async t => {
  await makeNode('switched')
  await nodeChanged('switched')
  const namespace = 'ovn-system'
  const agent = await connect({ manager: 'drover-ovs-agent', kubeconfig: api.kubeconfig })
  t.teardown(() => agent.close())
  await agent.apply(OVSNode, { metadata: { name: 'switched', namespace }, spec: { nodeRef: { name: 'switched' } } })
  const says = async (ready: string, reason: string, bonds: string, at = Date.now()) => {
    const verdict = (type: string, status: string, why: string) => ({
      type,
      status: status as 'True',
      reason: why,
      message: why,
      lastTransitionTime: longAgo
    })
    const conditions = [
      verdict('Ready', ready, reason),
      verdict('AllBondsHealthy', bonds === 'AllActive' ? 'True' : 'False', bonds)
    ]
    const status = { observedAt: new Date(at).toISOString(), heartbeatSeconds: 30, conditions }
    await agent.applyStatus(OVSNode, { metadata: { name: 'switched', namespace }, status })
  }
  await admin.applyStatus(Hypervisor, {
    metadata: { name: 'switched' },
    status: {
      conditions: [{ type: 'Onboarding', status: 'False', reason: 'Succeeded', message: '', lastTransitionTime: longAgo }]
    }
  })
  const tell = () => post('io.c5c3.ovs.ovsnode.changed.v1', 'switched', { changed: 'conditions' })
  const seen = async () => {
    const conditions = (await stored(admin, 'switched')).status?.conditions
    const of = (type: string) => conditions?.find(known => known.type === type)
    return { network: of('NetworkHealthy'), ready: of('Ready') }
  }
  await says('True', 'AllHealthy', 'AllActive')
  t.equal(await tell(), 204)
  t.match(await seen(), { network: { status: 'True', reason: 'AllHealthy' }, ready: { reason: 'Ready' } })
  await says('False', 'BondDegraded', 'BondDegraded')
  await tell()
  t.match(await seen(), {
    network: { status: 'False', reason: 'NetworkDegraded' },
    ready: { reason: 'Ready', message: /BondDegraded/ }
  })
  await says('False', 'BondDown', 'BondDown')
  await tell()
  t.match(await seen(), {
    network: { status: 'False', reason: 'NetworkDown' },
    ready: { status: 'False', reason: 'NetworkDown' }
  })
  await says('True', 'AllHealthy', 'AllActive', Date.now() - 101_000)
  t.equal(await tick('fast'), 204)
  t.match(await seen(), {
    network: { status: 'Unknown', reason: 'AgentSilent' },
    ready: { reason: 'Ready', message: /last heard/ }
  })
  const silenced = await admin.find(OVSNode, 'switched', namespace)
  t.match(
    silenced?.status?.conditions?.find(({ type }) => type === 'Ready'),
    { status: 'Unknown', reason: 'AgentSilent' }
  )
  t.match(
    silenced?.status?.conditions?.find(({ type }) => type === 'AllBondsHealthy'),
    { status: 'True' },
    'the rest stays the agent’s'
  )
  const lost = () => told.filter(({ type }) => type === 'io.c5c3.ovs.agent.lost.v1')
  t.equal(lost().length, 1)
  await tick('fast')
  t.equal(lost().length, 1, 'told once')
  await says('True', 'AllHealthy', 'AllActive')
  await tell()
  t.match(await seen(), { network: { status: 'True' }, ready: { reason: 'Ready' } }, 'the agent takes it back')
})

t.test('a Hypervisor without a spec is completed', async t => {
  await makeNode('bare-object', { labels: { [lifecycle]: 'true' } })
  await request(api, 'POST', '/apis/kvm.cloud.sap/v1/hypervisors', {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata: { name: 'bare-object' }
  })
  t.equal(await nodeChanged('bare-object'), 204)
  t.match((await stored(admin, 'bare-object')).spec, { lifecycleEnabled: true, evacuateOnReboot: true })
})

t.test('HV-4: what it calls and what the CRD knows is in its metrics', async t => {
  const metrics = await (await fetch(`${fn.url}/metrics`)).text()
  t.match(metrics, /^drover_crd_extended 1$/m)
  t.match(metrics, /^drover_kube_call_seconds_count\{verb="apply",kind="Hypervisor",code="OK"\} \d+$/m)
})

t.test('refusals and noise', async t => {
  t.equal(await post('io.k8s.node.changed.v1', 'x', { data: { kind: 'Node' } }), 422, 'data that is not of the kind')
  t.equal(await post('unknown.type.v1', 'x'), 422)
  t.equal(await post('sap.cloud.kvm.hypervisor.changed.v1', 'x', { changed: 'annotations' }), 204, 'nothing that it cares about')
})

// before the restart below: an API server that has just come up refuses for a moment, until it has read the roles
t.test('its role is the smallest that works: nothing was refused, and nothing is granted that was not used', async t => {
  t.strictSame(await rightsOf(api, 'hypervisor.yaml', 'hypervisor'), { unused: [], refused: [] })
})

t.test('the whole way, as it ships: Node → bundle of the cluster agent → bundle of the function → Hypervisor', async t => {
  await fn.close() // from here on the bundles alone
  const shipped = await startBundle(t, 'functions/hypervisor/main.ts', { KUBECONFIG: kubeconfig, K_SINK: sink })
  url = shipped.url
  const agent = await startBundle(t, 'agents/cluster/main.ts', {
    KUBECONFIG: await asServiceAccount(t, api, 'cluster-agent.yaml', 'cluster-agent'),
    K_SINK: url,
    LEASE_NAMESPACE: 'drover',
    POD_NAME: 'one',
    WATCH_MACHINES: 'false'
  })
  await makeNode('walked', { labels: { [zone]: 'z1' } })
  await eventually('the Hypervisor', async () => (await admin.find(Hypervisor, 'walked'))?.status?.phase)
  await admin.patch(Node, { name: 'walked' }, { metadata: { labels: { [zone]: 'z2' } } })
  await eventually('the new label', async () => (await stored(admin, 'walked')).metadata.labels?.[zone] === 'z2')

  t.comment('the API server is restarted in the middle')
  await api.kill('kube-apiserver')
  t.equal(await nodeChanged('walked'), 503, 'what could not even be written down is sent again')
  await api.up()
  await admin.patch(Node, { name: 'walked' }, { metadata: { labels: { [zone]: 'z3' } } })
  await eventually('the newest label', async () => (await stored(admin, 'walked')).metadata.labels?.[zone] === 'z3')
  t.strictSame(await Promise.all([agent.stop(), shipped.stop()]), [0, 0], 'both stop in order')
})

t.test('a Hypervisor goes with its Node', async t => {
  await admin.delete(Node, { name: 'plain' })
  // the garbage collector looks for new kinds every 30 s only
  await eventually('the garbage collector', async () => (await admin.find(Hypervisor, 'plain')) === undefined, 60_000)
  t.pass()
})
