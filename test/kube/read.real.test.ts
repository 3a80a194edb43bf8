import t from 'tap'
import type { Kind } from '../../shared/kube/index.ts'
import { ConfigMap, Namespace } from '../../shared/kube/index.ts'
import { kubernetes } from '../servers/kubernetes.ts'
import { connected } from './connected.ts'

const api = await kubernetes(t)
const { namespace } = api
let requests = 0
const kube = await connected(t, api, { onCall: () => requests++ })
const names = Array.from({ length: 300 }, (_, index) => `map-${String(index).padStart(3, '0')}`)

t.before(async () => {
  const create = (name: string, index: number) =>
    kube.create(ConfigMap, { metadata: { name, namespace, labels: { odd: String(index % 2 === 1) } } })
  await Promise.all(names.map(create))
})

t.test('find: an object, in a namespace and in none', async t => {
  t.match(await kube.find(ConfigMap, 'map-007', namespace), { kind: 'ConfigMap', metadata: { name: 'map-007', namespace } })
  t.match(await kube.find(Namespace, namespace), { kind: 'Namespace' })
})

t.test('find: an object that is not there, in a namespace that is not there', async t => {
  t.equal(await kube.find(ConfigMap, 'nothing', namespace), undefined)
  t.equal(await kube.find(ConfigMap, 'nothing', 'nowhere'), undefined)
})

t.test('find: a kind that is not there is an error', async t => {
  for (const group of ['example.dev', 'apps']) {
    const unknown: Kind = { group, version: 'v1', kind: 'Thing', plural: 'things', namespaced: true }
    await t.rejects(kube.find(unknown, 'a', namespace), { code: 'NotFound' })
    await t.rejects(kube.delete(unknown, { name: 'a', namespace }), { code: 'NotFound' })
  }
})

t.test('list: 300 objects in pages are all there, once, each with its kind', async t => {
  for (const [pageSize, pages] of [
    [7, 43],
    [100, 3],
    [undefined, 1]
  ] as const) {
    requests = 0
    const { items, resourceVersion } = await kube.list(ConfigMap, { namespace, pageSize, labelSelector: 'odd' })
    t.strictSame(
      items.map(item => item.metadata!.name),
      names
    )
    t.equal(requests, pages)
    t.match(items[299], { apiVersion: 'v1', kind: 'ConfigMap' })
    t.match(resourceVersion, /^\d+$/)
  }
})

t.test('list: one state, though objects come and go between the pages', async t => {
  const late = { metadata: { name: 'map-150-late', namespace, labels: { odd: 'late' } } }
  let writes: Promise<unknown> | undefined
  const paging = await connected(t, api, {
    onCall: () => (writes ??= Promise.all([kube.create(ConfigMap, late), kube.delete(ConfigMap, { name: 'map-299', namespace })]))
  })
  const { items } = await paging.list(ConfigMap, { namespace, pageSize: 20, labelSelector: 'odd' })
  await writes
  t.strictSame(
    items.map(item => item.metadata!.name),
    names
  )
})

t.test('pages: page after page', async t => {
  const sizes: number[] = []
  for await (const page of kube.pages(ConfigMap, { namespace, pageSize: 90, labelSelector: 'odd in (true, false)' }))
    sizes.push(page.length)
  t.strictSame(sizes, [90, 90, 90, 29])
})

t.test('selectors', async t => {
  t.equal((await kube.list(ConfigMap, { namespace, labelSelector: 'odd=false' })).items.length, 150)
  t.equal((await kube.list(ConfigMap, { namespace, fieldSelector: 'metadata.name=map-010' })).items.length, 1)
  t.equal(
    (await kube.list(ConfigMap, { fieldSelector: `metadata.namespace=${namespace}`, labelSelector: 'odd' })).items.length,
    300
  )
  await t.rejects(kube.list(ConfigMap, { labelSelector: 'a in (' }), { code: 'BadRequest' })
})
