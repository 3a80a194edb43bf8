// Every rule about Machines and NetworkConfigurations through the real API server. Its CRDs know types and nothing else here, as those of
// an older cluster may, so that the webhook itself is seen to refuse.
import t from 'tap'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { request } from '../../servers/request.ts'
import { loosenCrds } from './loose-crds.ts'
import type { Case } from './machine.case.ts'
import { refusals } from './machine.cases.ts'
import { elsewhere, warnings } from './machine-warnings.cases.ts'
import {
  as,
  create,
  machineKind,
  machines,
  merged,
  networkKind,
  networks,
  refusedBy,
  warnedBy,
  webhookInPlace,
  write
} from './webhook.ts'

t.setTimeout(240_000)
const api = await ownKubernetes(t)
await loosenCrds(api, [
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'pattern',
  'enum',
  'minLength',
  'maxLength',
  'minimum',
  'maximum'
])
const probe = { ...networkKind, metadata: { name: 'probe' }, spec: {} }
await eventually('the CRDs to be without rules', async () => (await write(api, 'POST', networks(api), probe)).status === 201)

await create(api, networks(api), { ...networkKind, metadata: { name: 'n1' }, spec: { bridge: 'br0' } })
await create(api, networks(api), { ...networkKind, metadata: { name: 'pods' }, spec: { podNetwork: true } })
const used = { status: { machineCount: 1, machines: [{ name: 'other', nic: 'a', macAddress: '52:54:00:00:00:01' }] } }
await request(api, 'PATCH', `${networks(api)}/n1/status`, used, merged)
for (const name of ['fast', 'slow'])
  await create(api, '/apis/storage.k8s.io/v1/storageclasses', { metadata: { name }, provisioner: 'example.org/none' })
await create(api, `/api/v1/namespaces/${api.namespace}/secrets`, {
  metadata: { name: 'init' },
  stringData: { userdata: '#cloud-config' }
})
await create(api, '/api/v1/namespaces', { metadata: { name: 'images' } })

// What must be there before the rules look at it is written while nobody looks.
const listOf = ({ kind = 'Machine' }: Case) => (kind === 'Machine' ? machines(api) : networks(api))
const typeOf = ({ kind = 'Machine' }: Case) => (kind === 'Machine' ? machineKind : networkKind)
const nameOf = (one: Case, i: number) => (one.was ? `${one.id.toLowerCase()}-${i}` : (one.name ?? 'new'))
for (const list of [refusals, warnings]) {
  for (const [i, one] of list.entries()) {
    if (!one.was) continue
    await create(api, listOf(one), { ...typeOf(one), metadata: { ...one.metadata, name: nameOf(one, i) }, spec: one.was })
    if (one.status) await request(api, 'PATCH', `${listOf(one)}/${nameOf(one, i)}/status`, { status: one.status }, merged)
  }
}

await webhookInPlace(t, api)

/** As a user who may do everything here, but nothing with datavolumes elsewhere. */
const jane = as('jane', 'devs')
await create(api, '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
  metadata: { name: 'dev' },
  rules: [{ apiGroups: ['vitistack.io'], resources: ['*'], verbs: ['*'] }]
})
await create(api, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
  metadata: { name: 'dev' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'dev' },
  subjects: [{ kind: 'Group', name: 'devs', apiGroup: 'rbac.authorization.k8s.io' }]
})

const send = (one: Case, i: number, spec: object, metadata: object = {}) => {
  const name = nameOf(one, i)
  return one.was
    ? write(api, 'PATCH', `${listOf(one)}/${name}`, { metadata: { ...one.metadata, ...metadata }, spec }, { ...jane, ...merged })
    : write(api, 'POST', listOf(one), { ...typeOf(one), metadata: { ...one.metadata, ...metadata, name }, spec }, jane)
}

const inShort = (spec: object): string => JSON.stringify(spec).slice(0, 200)

function refuses(one: Case, i: number): void {
  t.test(`${one.id} refuses ${inShort(one.bad)}`, async t => {
    const refused = await send(one, i, one.bad)
    t.ok([403, 422].includes(refused.status), 'is refused', { refused })
    t.strictSame(refusedBy(refused), [one.id], 'by this rule alone', { refused })
    t.match(refused.body.message, /^admission webhook "machines.admission.drover.dev" denied the request: /)
    const passed = await send({ ...one, ...(one.name && { name: 'new' }) }, i, one.good, one.goodMetadata)
    t.ok(passed.status < 300, 'the neighbour passes', { passed })
  })
}
for (const [i, one] of refusals.entries()) refuses(one, i)

for (const [i, one] of warnings.entries()) {
  t.test(`${one.id} warns of ${inShort(one.bad)}`, async t => {
    const warned = await send(one, i, one.bad)
    t.ok(warned.status < 300, 'is admitted', { warned })
    t.strictSame(warnedBy(warned), [one.id], 'with this warning alone', { warned })
    const passed = await send(one, i, one.good)
    t.ok(passed.status < 300)
    t.strictSame(warnedBy(passed), [], 'the neighbour passes in silence', { passed })
  })
}

t.test('W10: a NetworkConfiguration in use may be deleted, with a word', async t => {
  const gone = await write(api, 'DELETE', `${networks(api)}/n1`)
  t.equal(gone.status, 200)
  t.strictSame(warnedBy(gone), ['W10'])
  t.strictSame(warnedBy(await write(api, 'DELETE', `${networks(api)}/pods`)), [])
})

t.test('A14: with the permission, a foreign source is taken', async t => {
  const source = { pvc: { name: 'golden', namespace: 'images' } }
  const machine = { ...machineKind, metadata: { name: 'cloned' }, spec: { template: 'small', disks: [{ name: 'root', source }] } }
  t.equal((await write(api, 'POST', machines(api), machine)).status, 201, 'the admin holds it')
  t.equal((await request(api, 'POST', machines(api), machine)).status, 201)
  const later = await write(api, 'PATCH', `${machines(api)}/cloned`, { spec: { powerState: 'Stopped' } }, { ...jane, ...merged })
  t.equal(later.status, 200, 'who changes something else needs no permission for what is there', { later })
})

t.test('all reasons at once, each with its path', async t => {
  const spec = {
    template: 'huge',
    bootOrder: ['cdrom'],
    domain: { machine: { type: 'pc-i440fx-2.0' } },
    cloudInit: { networkData: '[' }
  }
  const { status, body } = await write(api, 'POST', machines(api), { ...machineKind, metadata: { name: 'all' }, spec })
  t.equal(status, 422)
  t.strictSame(body.details?.causes?.map(({ field }) => field).sort(), [
    'spec.bootOrder[0]',
    'spec.cloudInit.networkData',
    'spec.domain.machine.type',
    'spec.template'
  ])
  t.match(body.message, /4 things are wrong:\n- spec\.template: there is no template huge: choose small, medium, large \(A1\)/)
})

t.test('a cluster of other nodes', async t => {
  await webhookInPlace(t, api, { ARCHITECTURE: 'arm64', ALLOW_I440FX: 'true' })
  const threads = { template: 'small', resources: { cpu: { threads: 2 } } }
  const probe = { ...machineKind, metadata: { name: 'probe' }, spec: threads }
  await eventually('the other webhook', async () => (await write(api, 'POST', machines(api), probe)).status === 422)
  for (const [i, one] of elsewhere.entries()) {
    const refused = await send(one, i, one.bad)
    t.strictSame(refusedBy(refused), [one.id], inShort(one.bad), { refused })
    const passed = await send(one, i, one.good)
    t.ok(passed.status < 300, `and takes ${inShort(one.good)}`, { passed })
  }
})
