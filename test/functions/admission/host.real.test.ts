// Rules about hosts, Evictions and OVSNodes through the real API server, as the ones who ask: a person, the functions, agents with the
// tokens of their pods.
import t, { type Test } from 'tap'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { eventually } from '../../servers/eventually.ts'
import { type Answer, request } from '../../servers/request.ts'
import {
  evictionKind,
  evictions,
  hostKind,
  hosts,
  installWebhooks,
  merged,
  refusedBy,
  type Refusal,
  startWebhook,
  warnedBy,
  write
} from './webhook.ts'

t.setTimeout(240_000)
const api = await ownKubernetes(t)

const create = async (path: string, body: object): Promise<{ metadata: { uid: string } }> => {
  const answer = await request<{ metadata: { uid: string } }>(api, 'POST', path, body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const patch = (path: string, body: object, headers: Record<string, string> = {}) =>
  request<Refusal & { metadata: { annotations?: Record<string, string> } }>(api, 'PATCH', path, body, { ...merged, ...headers })

interface Size {
  zone?: string
  cpu?: number
  used?: number
  spec?: object
  aggregates?: object[]
}
async function host(name: string, { zone = name, cpu, used = 0, spec = {}, aggregates }: Size = {}): Promise<void> {
  await create(hosts, { ...hostKind, metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } }, spec })
  const amounts = (n: number) => ({ cpu: String(n), memory: `${n}Gi` })
  const size = cpu === undefined ? {} : { capacity: amounts(cpu), allocation: amounts(used) }
  await patch(`${hosts}/${name}/status`, { status: { ...size, ...(aggregates && { aggregates }) } })
}
const uuid = '6fa459ea-ee8a-3ca4-894e-db77e160355e'
await host('plain')
await host('ending', { spec: { maintenance: 'termination' } })
for (const name of ['full-1', 'full-2', 'full-3']) await host(name, { zone: 'full', cpu: 10, used: 8 })
for (const name of ['easy-1', 'easy-2', 'easy-3', 'easy-4']) await host(name, { zone: 'easy', cpu: 10, used: 2 })
const budget = [{ name: 'gpu', uuid, metadata: { maxUnavailable: '1' } }]
for (const name of ['gpu-1', 'gpu-2', 'gpu-3']) await host(name, { zone: 'gpu', cpu: 10, aggregates: budget })
await patch(`${hosts}/gpu-1`, { spec: { maintenance: 'auto' } })
await host('silent', { zone: 'silent' })
await create(evictions, { ...evictionKind, metadata: { name: 'running' }, spec: { hypervisor: 'plain', reason: 'test' } })

const webhook = await startWebhook(t, api)
const strict = await startWebhook(t, api, { ENFORCE: 'true' })
t.teardown(() => Promise.all([webhook.close(), strict.close()]))
await installWebhooks(api, webhook.tlsUrl)

const jane = { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' }
const as = (account: string) => ({
  'impersonate-user': `system:serviceaccount:drover:${account}`,
  'impersonate-group': 'system:masters'
})
const change = (name: string, spec: object, headers: Record<string, string> = jane) =>
  write(api, 'PATCH', `${hosts}/${name}`, { spec }, { ...headers, ...merged })
const evict = (spec: object, headers: Record<string, string> = jane) =>
  write(api, 'POST', evictions, { ...evictionKind, metadata: { name: 'new' }, spec: { reason: 'test', ...spec } }, headers)

// The CRD refuses what it can say first, with its own words; the webhook repeats it for clusters that cannot.
interface Asked {
  object: object
  oldObject?: object
  username?: string
  resource?: string
  extra?: Record<string, string[]>
}
async function review(
  { object, oldObject, username = 'jane', resource = 'hypervisors', extra }: Asked,
  url = webhook.url
): Promise<{ allowed: boolean; rules: string[]; warnings: string[] }> {
  const group = resource === 'ovsnodes' ? 'ovs.c5c3.io' : 'kvm.cloud.sap'
  const asked = {
    uid: 'u',
    operation: oldObject ? 'UPDATE' : 'CREATE',
    resource: { group, version: 'v1', resource },
    userInfo: { username, extra },
    object,
    oldObject
  }
  const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: asked })
  const { response } = (await (await fetch(`${url}/admit`, { method: 'POST', body })).json()) as {
    response: { allowed: boolean; status?: Refusal; warnings?: string[] }
  }
  const rules = [...new Set(response.status?.details?.causes?.map(({ reason }) => reason) ?? [])]
  return { allowed: response.allowed, rules, warnings: response.warnings ?? [] }
}
const defaults = {
  reboot: false,
  evacuateOnReboot: true,
  lifecycleEnabled: true,
  skipTests: false,
  highAvailability: true,
  createCertManagerCertificate: false,
  installCertificate: true,
  customTraits: [],
  aggregates: [],
  allowedProjects: []
}
const hv = (spec: object) => ({ ...hostKind, metadata: { name: 'h' }, spec: { ...defaults, ...spec } })

const byCrd: Array<[id: string, bad: Asked, good: Asked]> = [
  [
    'R1',
    { object: hv({ maintenance: 'auto' }), oldObject: hv({ maintenance: 'termination' }) },
    {
      object: hv({ maintenance: 'ha' }),
      oldObject: hv({ maintenance: 'termination' }),
      username: 'system:serviceaccount:drover:ha'
    }
  ],
  ['R2', { object: hv({ maintenance: 'manual' }) }, { object: hv({ maintenance: 'manual', maintenanceReason: 'disk' }) }],
  ['R3', { object: hv({ overcommit: { cpu: 0.9 } }) }, { object: hv({ overcommit: { cpu: 1 } }) }],
  ['R4', { object: hv({ groups: [{}] }) }, { object: hv({ groups: [{ trait: { name: 'CUSTOM_A' } }] }) }],
  [
    'R4',
    { object: hv({ groups: [{ trait: { name: 'A' }, aggregate: { name: 'a', uuid } }] }) },
    { object: hv({ groups: [{ aggregate: { name: 'a', uuid } }] }) }
  ],
  ['R5', { object: hv({ groups: [{ trait: { name: '' } }] }) }, { object: hv({ groups: [{ trait: { name: 'A' } }] }) }],
  [
    'R5',
    { object: hv({ groups: [{ aggregate: { name: 'a', uuid: '6fa459ea' } }] }) },
    { object: hv({ groups: [{ aggregate: { name: 'a', uuid } }] }) }
  ],
  [
    '1.5',
    {
      resource: 'evictions',
      object: { ...evictionKind, metadata: { name: 'e' }, spec: { hypervisor: 'b', reason: 'r' } },
      oldObject: { ...evictionKind, metadata: { name: 'e' }, spec: { hypervisor: 'a', reason: 'r' } }
    },
    {
      resource: 'evictions',
      object: { ...evictionKind, metadata: { name: 'e' }, spec: { hypervisor: 'a', reason: 'r2' } },
      oldObject: { ...evictionKind, metadata: { name: 'e' }, spec: { hypervisor: 'a', reason: 'r' } }
    }
  ],
  [
    '1.5',
    {
      resource: 'evictions',
      object: { ...evictionKind, metadata: { name: 'e' }, spec: { hypervisor: 'a', reason: 'r', mode: 'evacuate' } },
      oldObject: { ...evictionKind, metadata: { name: 'e' }, spec: { hypervisor: 'a', reason: 'r' } }
    },
    {
      resource: 'evictions',
      object: { ...evictionKind, metadata: { name: 'e' }, spec: { hypervisor: 'a', reason: 'r', mode: 'drain' } },
      oldObject: { ...evictionKind, metadata: { name: 'e' }, spec: { hypervisor: 'a', reason: 'r' } }
    }
  ],
  [
    'OV-5',
    { resource: 'ovsnodes', object: { metadata: { name: 'a' }, spec: { nodeRef: { name: 'b' } } } },
    { resource: 'ovsnodes', object: { metadata: { name: 'a' }, spec: { nodeRef: { name: 'a' } } } }
  ]
]
for (const [id, bad, good] of byCrd) {
  t.test(`${id}, as an older cluster asks: ${JSON.stringify(bad.object)}`, async t => {
    t.match(await review(bad), { allowed: false, rules: [id] })
    t.match(await review(good), { allowed: true, rules: [] })
  })
}
t.test('R1–R5 through this API server: its CRD refuses them', async t => {
  const specs = [{ maintenance: 'manual' }, { overcommit: { cpu: 0.5 } }, { groups: [{}] }, { groups: [{ trait: { name: '' } }] }]
  for (const spec of specs) t.equal((await change('plain', spec)).status, 422, JSON.stringify(spec))
  t.equal((await change('ending', { maintenance: 'auto' })).status, 422, 'R1')
  t.equal((await change('ending', { maintenance: 'ha' }, as('ha'))).status, 200)
})

/** A warning out of the box, a refusal where objections are enforced. */
async function objects(
  t: Test,
  id: string,
  ask: () => Promise<Answer<Refusal>>,
  neighbour: () => Promise<Answer<Refusal>>
): Promise<void> {
  const warned = await ask()
  t.ok(warned.status < 300, 'is admitted', { warned })
  t.same(warnedBy(warned), [id], 'with a warning', { warned })
  const passed = await neighbour()
  t.ok(passed.status < 300)
  t.same(warnedBy(passed), [], 'the neighbour passes in silence', { passed })
  await installWebhooks(api, strict.tlsUrl)
  const refused = await eventually('enforcement', async () => {
    const answer = await ask()
    return answer.status >= 400 && answer
  })
  t.same(refusedBy(refused), [id], 'enforced: refused by this rule alone', { refused })
  t.ok((await neighbour()).status < 300)
  await installWebhooks(api, webhook.tlsUrl)
  await eventually('the usual again', async () => (await ask()).status < 300)
}
const trait = { trait: { name: 'CUSTOM_A' } }
t.test('HV-11: a trait twice', t =>
  objects(
    t,
    'HV-11',
    () => change('plain', { groups: [trait, trait] }),
    () => change('plain', { groups: [trait] })
  )
)
t.test('HV-12: N−1 capacity of the zone', t =>
  objects(
    t,
    'HV-12',
    () => change('full-1', { maintenance: 'auto' }),
    () => change('easy-1', { maintenance: 'auto' })
  )
)
t.test('HV-12: a second host of an aggregate that can spare one', t =>
  objects(
    t,
    'HV-12',
    () => change('gpu-2', { maintenance: 'auto' }),
    () => change('easy-1', { maintenance: 'auto' })
  )
)
t.test('HV-13: maintenance: ha', t =>
  objects(
    t,
    'HV-13',
    () => change('plain', { maintenance: 'ha' }),
    () => change('plain', { maintenance: 'ha' }, as('ha'))
  )
)
t.test('HV-13: termination', t =>
  objects(
    t,
    'HV-13',
    () => change('easy-1', { maintenance: 'termination' }),
    () => change('easy-1', { maintenance: 'termination' }, as('hypervisor'))
  )
)
t.test('HV-13: a second active Eviction names the first', async t => {
  await objects(
    t,
    'HV-13',
    () => evict({ hypervisor: 'plain' }),
    () => evict({ hypervisor: 'easy-1' })
  )
  const { headers } = await evict({ hypervisor: 'plain' })
  t.match(String(headers['warning']), /plain is being emptied by the Eviction running already/)
  t.same(warnedBy(await evict({ hypervisor: 'plain', mode: 'evacuate' }, as('ha'))), [], 'an evacuation supersedes it')
  await patch(`${evictions}/running/status`, {
    status: {
      conditions: [
        { type: 'Evicting', status: 'False', reason: 'Succeeded', message: '', lastTransitionTime: '2026-11-01T00:00:00Z' }
      ]
    }
  })
  await eventually('the first to be over', async () => warnedBy(await evict({ hypervisor: 'plain' })).length === 0)
})
t.test('HV-13: evacuate by others is always refused', async t => {
  const refused = await evict({ hypervisor: 'easy-1', mode: 'evacuate' })
  t.equal(refused.status, 403)
  t.same(refusedBy(refused), ['HV-13'])
  t.equal((await evict({ hypervisor: 'easy-1', mode: 'evacuate' }, as('ha'))).status, 201)
})
t.test('HV-12: what cannot be known is said', async t => {
  const { status, headers } = await change('silent', { maintenance: 'auto' })
  t.equal(status, 200)
  t.match(String(headers['warning']), /was not checked: silent does not tell its size/)
})

const [setBy, setAt] = ['kvm.cloud.sap/maintenance-set-by', 'kvm.cloud.sap/maintenance-set-at']
t.test('HV-12: who set maintenance, and when, is stamped and cannot be forged', async t => {
  await host('stamped')
  const annotations = async (body: object, headers: Record<string, string> = jane) =>
    (await patch(`${hosts}/stamped`, body, headers)).body.metadata.annotations ?? {}
  const first = await annotations({ spec: { maintenance: 'auto' } })
  t.equal(first[setBy], 'jane')
  t.match(first[setAt], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const forged = await annotations({ metadata: { annotations: { [setBy]: 'bob', [setAt]: null, other: 'yes' } } })
  t.same(forged, { ...first, other: 'yes' }, 'put right, and nothing else touched')
  const again = await annotations({ spec: { maintenance: 'ha' } }, as('ha'))
  t.equal(again[setBy], 'system:serviceaccount:drover:ha')
  t.same(await annotations({ spec: { maintenance: '' } }), { other: 'yes' }, 'gone with maintenance')
  const born = await request<{ metadata: { annotations?: object } }>(api, 'POST', hosts, {
    ...hostKind,
    metadata: { name: 'born', annotations: { [setBy]: 'bob' } },
    spec: {}
  })
  t.same(born.body.metadata.annotations ?? {}, {}, 'a stamp without maintenance is none')
})

/** The token of a pod on a node: the API server tells the webhook the node from its claims. */
async function agentOn(node: string, namespace: string, account: string): Promise<Record<string, string>> {
  const pods = `/api/v1/namespaces/${namespace}/pods`
  const pod = {
    metadata: { name: `${account}-${node}` },
    spec: { serviceAccountName: account, nodeName: node, containers: [{ name: 'c', image: 'i' }] }
  }
  const { metadata } = await create(pods, pod)
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
  ['drover', 'hypervisor-agent'],
  ['ovn-system', 'ovs-agent']
] as const) {
  await request(api, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  await create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: account } })
  await create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: account },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }, // the webhook alone is to hold it back
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }]
  })
}
for (const name of ['node-a', 'node-b']) {
  await create('/api/v1/nodes', { metadata: { name } })
  await host(name)
}

t.test('HV-14: an agent writes the status of its own host, and its own fields of it', async t => {
  const agent = await agentOn('node-a', 'drover', 'hypervisor-agent')
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
    t.same(refusedBy(answer), ['HV-14'], what)
  }
  const unbound = await request<{ status: { token: string } }>(
    api,
    'POST',
    '/api/v1/namespaces/drover/serviceaccounts/hypervisor-agent/token',
    { spec: {} }
  )
  const bare = { authorization: `Bearer ${unbound.body.status.token}` }
  t.same(refusedBy(await patch(`${hosts}/node-a/status`, { status: { numInstances: 1 } }, bare)), ['HV-14'], 'a token of no pod')
})

t.test('OV-5: an agent writes the OVSNode of its own node', async t => {
  const agent = await agentOn('node-b', 'ovn-system', 'ovs-agent')
  const list = '/apis/ovs.c5c3.io/v1alpha1/namespaces/ovn-system/ovsnodes'
  const node = (name: string) => ({
    apiVersion: 'ovs.c5c3.io/v1alpha1',
    kind: 'OVSNode',
    metadata: { name },
    spec: { nodeRef: { name } }
  })
  const foreign = await request<Refusal>(api, 'POST', list, node('node-a'), agent)
  t.equal(foreign.status, 403)
  t.same(refusedBy(foreign), ['OV-5'])
  t.equal((await request(api, 'POST', list, node('node-b'), agent)).status, 201)
  t.equal((await patch(`${list}/node-b/status`, { status: { observedAt: '2026-11-01T00:00:00Z' } }, agent)).status, 200)
  await create(list, node('node-a'))
  t.same(refusedBy(await patch(`${list}/node-a/status`, { status: { observedAt: '2026-11-01T00:00:00Z' } }, agent)), ['OV-5'])
  t.same(refusedBy(await request<Refusal>(api, 'DELETE', `${list}/node-a`, undefined, agent)), ['OV-5'])
})
