// Subscribers that do not answer, or send elsewhere (knative.md §3.2).
import type { Test } from 'tap'
import { quick, send, type Target } from './contract-target.ts'
import { eventHeaders, type Spec } from './manifests.ts'

export async function unanswered(t: Test, target: Target): Promise<void> {
  const hung: Array<() => void> = []
  const subscriber = await target.sink(t, ({ path }) =>
    path === '/reset' ? { status: 0 } : new Promise(resolve => hung.push(() => resolve({ status: 204 })))
  )
  t.teardown(() => hung.forEach(release => release()))
  const deadLetters = await target.sink(t)
  const nobody = 'http://127.0.0.1:1/'
  const delivery = { ...quick, deadLetterSink: { uri: deadLetters.url } }
  const { ingress, settled } = await target.install(t, undefined, {
    reset: { subscriber: { uri: `${subscriber.url}reset` }, filter: { attributes: { id: 'reset' } }, delivery },
    refused: { subscriber: { uri: nobody }, filter: { attributes: { id: 'refused' } }, delivery },
    slow: {
      subscriber: { uri: `${subscriber.url}slow` },
      filter: { attributes: { id: 'slow' } },
      delivery: { ...delivery, timeout: 'PT0.1S' }
    }
  })
  for (const id of ['reset', 'refused', 'slow']) await send(ingress, eventHeaders({ id }))
  await settled()

  const letters = new Map(deadLetters.received.map(({ headers }) => [headers['ce-id'], headers]))
  t.equal(subscriber.received.filter(({ path }) => path === '/reset').length, 2, 'a reset is retried')
  t.equal(subscriber.received.filter(({ path }) => path === '/slow').length, 2, 'a time-out is retried')
  t.match(letters.get('reset'), { 'ce-knativeerrorcode': '500', 'ce-knativeerrordest': `${subscriber.url}reset` })
  t.match(letters.get('refused'), { 'ce-knativeerrorcode': '500', 'ce-knativeerrordest': nobody })
  t.ok(letters.has('slow'))
  t.notOk(letters.get('slow')?.['ce-knativeerrorcode'], 'a time-out has no error attributes')
}

export async function redirects(t: Test, target: Target): Promise<void> {
  const end = await target.sink(t, ({ path }) => ({ status: path === '/refuses' ? 422 : 204 }))
  const subscriber = await target.sink(t, ({ path }) => ({
    status: Number(path.slice(1, 4)),
    headers: { location: path.endsWith('-refused') ? `${end.url}refuses` : `${end.url}${path.slice(1)}` }
  }))
  const deadLetters = await target.sink(t)
  const paths = ['301', '302', '307', '307-refused']
  const trigger = (path: string): Spec => ({
    subscriber: { uri: `${subscriber.url}${path}` },
    filter: { attributes: { id: path } },
    delivery: { ...quick, deadLetterSink: { uri: deadLetters.url } }
  })
  const { ingress, settled } = await target.install(
    t,
    undefined,
    Object.fromEntries(paths.map(path => [`r${path}`, trigger(path)]))
  )
  for (const id of paths) await send(ingress, { ...eventHeaders({ id }), 'content-type': 'text/plain' }, 'data')
  await settled()

  const got = new Map(end.received.map(one => [one.path, one]))
  t.match(got.get('/301'), { method: 'GET', body: { length: 0 }, headers: { 'ce-id': '301' } })
  t.match(got.get('/302'), { method: 'GET', body: { length: 0 } })
  t.match(got.get('/307'), { method: 'POST', headers: { 'content-type': 'text/plain' } })
  t.equal(got.get('/307')?.body.toString(), 'data')
  t.strictSame(
    deadLetters.received.map(({ headers }) => [headers['ce-id'], headers['ce-knativeerrorcode']]),
    [['307-refused', '422']],
    'what it leads to counts'
  )
}
