import t from 'tap'
import { ConfigMap, Namespace } from '../../shared/kube/index.ts'
import { kubernetes } from '../servers/kubernetes.ts'
import { connected } from './connected.ts'

const api = await kubernetes(t)
const { namespace } = api
const kube = await connected(t, api)
const map = (name: string, data: Record<string, string> = {}): ConfigMap => ({ metadata: { name, namespace }, data })

t.test('create: once', async t => {
  const made = await kube.create(ConfigMap, map('once', { a: '1' }))
  t.match(made, { kind: 'ConfigMap', data: { a: '1' }, metadata: { managedFields: [{ manager: 'drover-test' }] } })
  await t.rejects(kube.create(ConfigMap, map('once')), {
    code: 'AlreadyExists',
    status: 409,
    retryable: false,
    details: { name: 'once' }
  })
})

t.test('create: what the server refuses', async t => {
  await t.rejects(kube.create(ConfigMap, map('Not A Name')), { code: 'Invalid', status: 422, message: /metadata.name/ })
  await t.rejects(kube.create(ConfigMap, { metadata: { name: 'lost', namespace: 'nowhere' } }), { code: 'NotFound' })
  await t.rejects(kube.create(ConfigMap, { ...map('odd'), data: { a: 1 } } as unknown as ConfigMap), { code: 'BadRequest' })
  await t.rejects(kube.create(ConfigMap, map('big', { a: 'x'.repeat(4 * 1024 * 1024) })), { code: 'TooLarge', retryable: false })
})

t.test('patch: an object merges, an array is a list of operations', async t => {
  await kube.create(ConfigMap, map('patched', { a: '1', b: '2' }))
  const ref = { name: 'patched', namespace }
  t.strictSame((await kube.patch(ConfigMap, ref, { data: { a: null, c: '3' } })).data, { b: '2', c: '3' })
  const operations = [
    { op: 'test', path: '/data/b', value: '2' },
    { op: 'move', from: '/data/b', path: '/data/d' }
  ] as const
  t.strictSame((await kube.patch(ConfigMap, ref, [...operations])).data, { c: '3', d: '2' })
  await t.rejects(kube.patch(ConfigMap, ref, [...operations]), { code: 'Invalid' })
  await t.rejects(kube.patch(ConfigMap, { name: 'nothing', namespace }, {}), { code: 'NotFound' })
})

t.test('patch: a version that is named must be the present one', async t => {
  const made = await kube.create(ConfigMap, map('versioned', { a: '1' }))
  const ref = { name: 'versioned', namespace }
  const { resourceVersion } = made.metadata!
  await kube.patch(ConfigMap, ref, { metadata: { resourceVersion }, data: { a: '2' } })
  await t.rejects(kube.patch(ConfigMap, ref, { metadata: { resourceVersion }, data: { a: '3' } }), {
    code: 'Conflict',
    retryable: true
  })
})

t.test('patch: a subresource', async t => {
  const body = { status: { conditions: [{ type: 'X', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] } }
  const patched = await kube.patch(Namespace, { name: namespace }, body, { subresource: 'status' })
  t.match(patched.status?.conditions, [{ type: 'X' }])
})

t.test('delete: true, then false', async t => {
  await kube.create(ConfigMap, map('short'))
  t.equal(await kube.delete(ConfigMap, { name: 'short', namespace }), true)
  t.equal(await kube.delete(ConfigMap, { name: 'short', namespace }), false)
})

t.test('delete: only the object that was meant', async t => {
  const first = (await kube.create(ConfigMap, map('meant'))).metadata!
  const ref = { name: 'meant', namespace }
  await kube.delete(ConfigMap, { ...ref, uid: first.uid })
  const second = (await kube.create(ConfigMap, map('meant'))).metadata!
  await t.rejects(kube.delete(ConfigMap, { ...ref, uid: first.uid }), { code: 'Conflict' })
  await kube.patch(ConfigMap, ref, { data: { a: '1' } })
  await t.rejects(kube.delete(ConfigMap, { ...ref, resourceVersion: second.resourceVersion }), { code: 'Conflict' })
  t.ok(await kube.find(ConfigMap, 'meant', namespace))
  t.equal(await kube.delete(ConfigMap, { ...ref, uid: second.uid }, { propagation: 'Foreground' }), true)
})
