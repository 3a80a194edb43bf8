import t from 'tap'
import { ConfigMap } from '../../shared/kube/index.ts'
import type { Answer } from './scripted.ts'
import { json, refuse, scripted } from './scripted.ts'

const page = (version: number, names: string[], next?: string): Answer =>
  json(200, {
    metadata: { resourceVersion: String(version), continue: next },
    items: names.map(name => ({ metadata: { name } }))
  })
const expired = refuse(410, 'Expired')
const names = (items: ConfigMap[]): Array<string | undefined> => items.map(({ metadata }) => metadata?.name)

t.test('list: pages that expire midway are dropped, and all begins again', async t => {
  const { kube, asked } = await scripted(t, [page(1, ['a', 'b'], 'next'), expired, page(5, ['b'], 'more'), page(5, ['c'])])
  const { items, resourceVersion } = await kube.list(ConfigMap, { pageSize: 2 })
  t.strictSame(names(items), ['b', 'c'])
  t.equal(resourceVersion, '5')
  t.strictSame(
    asked.map(url => url.searchParams.get('continue')),
    [null, 'next', null, 'more']
  )
})

t.test('pages: what was told stays told, and may come again', async t => {
  const { kube } = await scripted(t, [page(1, ['a'], 'next'), expired, page(5, ['a', 'b'])])
  const told = await Array.fromAsync(kube.pages(ConfigMap), names)
  t.strictSame(told, [['a'], ['a', 'b']])
})

t.test('neither goes on for ever', async t => {
  const never = Array.from({ length: 3 }, () => [page(1, ['a'], 'next'), expired]).flat()
  const { kube } = await scripted(t, [...never, ...never])
  await t.rejects(kube.list(ConfigMap), { code: 'Gone' })
  await t.rejects(Array.fromAsync(kube.pages(ConfigMap)), { code: 'Gone' })
})

t.test('an empty list of a server that says null', async t => {
  const { kube } = await scripted(t, [json(200, { metadata: { resourceVersion: '1' }, items: null })])
  t.strictSame(await kube.list(ConfigMap), { items: [], resourceVersion: '1' })
})
