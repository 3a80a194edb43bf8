// HV-11…HV-13 through the real API server, as the ones who ask: a person, the functions. Warned of out of the box, refused where enforced.
import t, { type Test } from 'tap'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { eventually } from '../../servers/eventually.ts'
import { type Answer, request } from '../../servers/request.ts'
import {
  as,
  create,
  evictionKind,
  evictions,
  hostKind,
  hosts,
  installWebhooks,
  merged,
  type Refusal,
  refusedBy,
  startWebhook,
  warnedBy,
  write
} from './webhook.ts'

t.setTimeout(240_000)
const api = await ownKubernetes(t)

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
  await create(api, hosts, { ...hostKind, metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } }, spec })
  const amounts = (n: number) => ({ cpu: String(n), memory: `${n}Gi` })
  const size = cpu === undefined ? {} : { capacity: amounts(cpu), allocation: amounts(used) }
  await patch(`${hosts}/${name}/status`, { status: { ...size, ...(aggregates && { aggregates }) } })
}
const uuid = '6fa459ea-ee8a-3ca4-894e-db77e160355e'
await host('plain')
for (const name of ['full-1', 'full-2', 'full-3']) await host(name, { zone: 'full', cpu: 10, used: 8 })
for (const name of ['easy-1', 'easy-2', 'easy-3', 'easy-4']) await host(name, { zone: 'easy', cpu: 10, used: 2 })
const budget = [{ name: 'gpu', uuid, metadata: { maxUnavailable: '1' } }]
for (const name of ['gpu-1', 'gpu-2', 'gpu-3']) await host(name, { zone: 'gpu', cpu: 10, aggregates: budget })
await patch(`${hosts}/gpu-1`, { spec: { maintenance: 'auto' } })
const spare = [{ name: 'spare', uuid, metadata: { maxUnavailable: '1' } }]
for (const name of ['spare-1', 'spare-2']) await host(name, { zone: 'spare', cpu: 10, aggregates: spare })
await host('silent', { zone: 'silent' })
await create(api, evictions, { ...evictionKind, metadata: { name: 'running' }, spec: { hypervisor: 'plain', reason: 'test' } })

const webhook = await startWebhook(t, api)
const strict = await startWebhook(t, api, { ENFORCE: 'true' })
t.teardown(() => Promise.all([webhook.close(), strict.close()]))
await installWebhooks(api, webhook.tlsUrl)

const jane = as('jane')
const asAccount = (account: string) => as(`system:serviceaccount:drover:${account}`)
const change = (name: string, spec: object, headers: Record<string, string> = jane) =>
  write(api, 'PATCH', `${hosts}/${name}`, { spec }, { ...headers, ...merged })
const evict = (spec: object, headers: Record<string, string> = jane) =>
  write(api, 'POST', evictions, { ...evictionKind, metadata: { name: 'new' }, spec: { reason: 'test', ...spec } }, headers)

/** A warning out of the box, a refusal where objections are enforced. */
async function objects(
  t: Test,
  id: string,
  ask: () => Promise<Answer<Refusal>>,
  neighbour: () => Promise<Answer<Refusal>>
): Promise<void> {
  const warned = await ask()
  t.ok(warned.status < 300, 'is admitted', { warned })
  t.strictSame(warnedBy(warned), [id], 'with a warning', { warned })
  const passed = await neighbour()
  t.ok(passed.status < 300)
  t.strictSame(warnedBy(passed), [], 'the neighbour passes in silence', { passed })
  await installWebhooks(api, strict.tlsUrl)
  const refused = await eventually('enforcement', async () => {
    const answer = await ask()
    return answer.status >= 400 && answer
  })
  t.strictSame(refusedBy(refused), [id], 'enforced: refused by this rule alone', { refused })
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
    () => change('plain', { maintenance: 'ha' }, asAccount('ha'))
  )
)
t.test('HV-13: termination', t =>
  objects(
    t,
    'HV-13',
    () => change('easy-1', { maintenance: 'termination' }),
    () => change('easy-1', { maintenance: 'termination' }, asAccount('hypervisor'))
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
  t.strictSame(
    warnedBy(await evict({ hypervisor: 'plain', mode: 'evacuate' }, asAccount('ha'))),
    [],
    'an evacuation supersedes it'
  )
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
  t.strictSame(refusedBy(refused), ['HV-13'])
  t.equal((await evict({ hypervisor: 'easy-1', mode: 'evacuate' }, asAccount('ha'))).status, 201)
})
t.test('HV-12: of two that are asked for in one instant the second is told of the first', async t => {
  const both = ['spare-1', 'spare-2'].map(name => patch(`${hosts}/${name}`, { spec: { maintenance: 'auto' } }, jane))
  const told = (await Promise.all(both)).filter(({ headers }) => /aggregate spare allows 1/.test(String(headers['warning'])))
  t.equal(told.length, 1)
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
  t.strictSame(forged, { ...first, other: 'yes' }, 'put right, and nothing else touched')
  const again = await annotations({ spec: { maintenance: 'ha' } }, asAccount('ha'))
  t.equal(again[setBy], 'system:serviceaccount:drover:ha')
  t.strictSame(await annotations({ spec: { maintenance: '' } }), { other: 'yes' }, 'gone with maintenance')
  const born = await request<{ metadata: { annotations?: object } }>(api, 'POST', hosts, {
    ...hostKind,
    metadata: { name: 'born', annotations: { [setBy]: 'bob' } },
    spec: {}
  })
  t.strictSame(born.body.metadata.annotations ?? {}, {}, 'a stamp without maintenance is none')
})

t.test('deletion, and the removal of a finalizer, always pass', async t => {
  const held = { finalizers: ['test.drover/hold'] }
  await create(api, hosts, { ...hostKind, metadata: { name: 'leaving', ...held }, spec: { maintenance: 'termination' } })
  await create(api, evictions, {
    ...evictionKind,
    metadata: { name: 'leaving', ...held },
    spec: { hypervisor: 'leaving', reason: 'test' }
  })
  for (const path of [`${hosts}/leaving`, `${evictions}/leaving`]) {
    t.equal((await request(api, 'DELETE', path, undefined, jane)).status, 200, path)
    t.equal((await request(api, 'PATCH', path, { metadata: { finalizers: null } }, { ...jane, ...merged })).status, 200, path)
    t.equal((await request(api, 'GET', path)).status, 404)
  }
})
