// HV-14 and OV-5 through the real API server: agents with the tokens of their pods, from which the API server tells the webhook the node.
import t from 'tap'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { request } from '../../servers/request.ts'
import { create, hostKind, hosts, merged, ovsNodes, refusedBy, type Refusal, webhookInPlace } from './webhook.ts'

t.setTimeout(240_000)
const api = await ownKubernetes(t)
const webhook = await webhookInPlace(t, api)

const patch = (path: string, body: object, headers: Record<string, string>) =>
  request<Refusal>(api, 'PATCH', path, body, { ...merged, ...headers })

/** The token of a pod on a node: the API server tells the webhook the node from its claims. */
async function agentOn(node: string, namespace: string, account: string): Promise<Record<string, string>> {
  const pods = `/api/v1/namespaces/${namespace}/pods`
  const pod = {
    metadata: { name: `${account}-${node}` },
    spec: { serviceAccountName: account, nodeName: node, containers: [{ name: 'c', image: 'i' }] }
  }
  const { metadata } = await create<{ metadata: { uid: string } }>(api, pods, pod)
  const bound = { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: metadata.uid } } }
  const { body } = await request<{ status: { token: string } }>(
    api,
    'POST',
    `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    bound
  )
  return { authorization: `Bearer ${body.status.token}` }
}
for (const [namespace, account] of [
  ['drover-agents', 'hypervisor-agent'],
  ['ovn-system', 'ovs-agent']
] as const) {
  await request(api, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  await create(api, `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: account } })
  await create(api, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: account },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }, // the webhook alone is to hold it back
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }]
  })
}
for (const name of ['node-a', 'node-b']) {
  await create(api, '/api/v1/nodes', { metadata: { name } })
  await create(api, hosts, { ...hostKind, metadata: { name }, spec: {} })
}

t.test('HV-14: an agent writes the status of its own host, and its own fields of it', async t => {
  const agent = await agentOn('node-a', 'drover-agents', 'hypervisor-agent')
  const status = (name: string, status: object) => patch(`${hosts}/${name}/status`, { status }, agent)
  t.equal((await status('node-a', { numInstances: 3, agent: { version: '1' } })).status, 200)
  const condition = (type: string) => ({
    conditions: [{ type, status: 'True', reason: 'Connected', message: '', lastTransitionTime: '2026-11-01T00:00:00Z' }]
  })
  t.equal((await status('node-a', condition('LibVirtConnection'))).status, 200)
  t.equal((await status('node-a', condition('virtqemud.service'))).status, 200, 'a unit of its choice (NA-16)')
  const line = (actor: string) => ({ history: [{ id: `boot-${actor}`, kind: 'boot', to: 'b', actor }] })
  t.equal((await status('node-a', line('drover-hypervisor-agent'))).status, 200, 'its own line of the history (§1.3)')
  for (const [what, answer] of Object.entries({
    'another host': await status('node-b', { numInstances: 3 }),
    'a field of a function': await status('node-a', { evicted: true }),
    'a line of another in the history': await status('node-a', line('drover-hypervisor')),
    'its own line taken for that of another': await status('node-a', {
      history: [{ id: 'boot-drover-hypervisor-agent', actor: 'drover-ha' }]
    }),
    'a condition of a function': await status('node-a', condition('Ready')),
    'the spec': await patch(`${hosts}/node-a`, { spec: { maintenance: 'auto' } }, agent),
    'a label': await patch(`${hosts}/node-a`, { metadata: { labels: { a: 'b' } } }, agent),
    creation: await request<Refusal>(api, 'POST', hosts, { ...hostKind, metadata: { name: 'node-c' }, spec: {} }, agent),
    deletion: await request<Refusal>(api, 'DELETE', `${hosts}/node-a`, undefined, agent)
  })) {
    t.equal(answer.status, 403, what, { answer })
    t.strictSame(refusedBy(answer), ['HV-14'], what)
  }
  const unbound = await request<{ status: { token: string } }>(
    api,
    'POST',
    '/api/v1/namespaces/drover-agents/serviceaccounts/hypervisor-agent/token',
    { spec: {} }
  )
  const bare = { authorization: `Bearer ${unbound.body.status.token}` }
  t.strictSame(
    refusedBy(await patch(`${hosts}/node-a/status`, { status: { numInstances: 1 } }, bare)),
    ['HV-14'],
    'a token of no pod'
  )
})

t.test('nobody is asked about the heartbeat of an own host or the state of an own switch, but about all else', async t => {
  const asked = async (): Promise<number> => {
    const figures = await (await fetch(`${webhook.url}/metrics`)).text()
    const counts = [...figures.matchAll(/^drover_admission_reviews_total\{[^}]*\} (\d+)/gm)].map(([, count]) => Number(count))
    return counts.reduce((sum, count) => sum + count, 0)
  }
  const writes = async (path: string, status: object, agent: Record<string, string>) => {
    const before = await asked()
    const answer = await patch(`${path}/status`, { status }, agent)
    return { status: answer.status, asked: (await asked()) - before }
  }
  for (const name of ['quiet-a', 'quiet-b']) {
    await create(api, '/api/v1/nodes', { metadata: { name } })
    await create(api, hosts, { ...hostKind, metadata: { name }, spec: {} })
    await create(api, ovsNodes.list('ovn-system'), { ...ovsNodes.kind, metadata: { name }, spec: { nodeRef: { name } } })
  }
  const agent = await agentOn('quiet-a', 'drover-agents', 'hypervisor-agent')
  const [own, foreign] = [`${hosts}/quiet-a`, `${hosts}/quiet-b`]
  const beat = (version: string) => ({ agent: { version } })
  t.strictSame(await writes(own, beat('1'), agent), { status: 200, asked: 1 }, 'the first word of a host')
  t.strictSame(await writes(own, beat('2'), agent), { status: 200, asked: 0 }, 'its heartbeat')
  t.strictSame(
    await writes(own, { ...beat('3'), numInstances: 4 }, agent),
    { status: 200, asked: 1 },
    'a heartbeat that says more'
  )
  t.strictSame(await writes(own, { ...beat('4'), evicted: true }, agent), { status: 403, asked: 1 }, 'what is not its own')
  t.strictSame(await writes(own, { ...beat('4'), numInstances: null }, agent), { status: 200, asked: 1 }, 'what it takes away')
  t.strictSame(await writes(foreign, beat('1'), agent), { status: 403, asked: 1 }, 'the heartbeat of another host')
  const ovs = await agentOn('quiet-a', 'ovn-system', 'ovs-agent')
  const [ownSwitch, another] = ['quiet-a', 'quiet-b'].map(name => `${ovsNodes.list('ovn-system')}/${name}`) as [string, string]
  const seen = { observedAt: '2026-11-01T00:00:00Z' }
  t.strictSame(await writes(ownSwitch, seen, ovs), { status: 200, asked: 0 }, 'its own switch')
  t.strictSame(await writes(another, seen, ovs), { status: 403, asked: 1 }, 'that of another')
})

t.test('OV-5: an agent writes the OVSNode of its own node', async t => {
  const agent = await agentOn('node-b', 'ovn-system', 'ovs-agent')
  const list = ovsNodes.list('ovn-system')
  const node = (name: string) => ({ ...ovsNodes.kind, metadata: { name }, spec: { nodeRef: { name } } })
  const foreign = await request<Refusal>(api, 'POST', list, node('node-a'), agent)
  t.equal(foreign.status, 403)
  t.strictSame(refusedBy(foreign), ['OV-5'])
  t.equal((await request(api, 'POST', list, node('node-b'), agent)).status, 201)
  t.equal((await patch(`${list}/node-b/status`, { status: { observedAt: '2026-11-01T00:00:00Z' } }, agent)).status, 200)
  await create(api, list, node('node-a'))
  t.strictSame(refusedBy(await patch(`${list}/node-a/status`, { status: { observedAt: '2026-11-01T00:00:00Z' } }, agent)), [
    'OV-5'
  ])
  t.strictSame(refusedBy(await request<Refusal>(api, 'DELETE', `${list}/node-a`, undefined, agent)), ['OV-5'])
})
