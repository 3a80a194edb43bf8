import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { nodeChanged } from '../../shared/events/objects.ts'
import { ConfigError } from '../../shared/runtime/config.ts'
import { defineFunction, on, type DroverFunction } from '../../shared/runtime/function.ts'
import { serve, type Served, type Source } from '../../shared/runtime/serve.ts'
import { eventHeaders } from './platform.ts'

const node = { apiVersion: 'v1', kind: 'Node', name: 'n1' }
const headers = eventHeaders(nodeChanged.type)
const env = { LOG_LEVEL: 'silent', HOST: '127.0.0.1', PORT: '0' }

type Parts = { open?: () => Promise<unknown>; handle?: () => Promise<void> }
const noop = async (): Promise<void> => {}
const fn = ({ open = noop, handle = noop }: Parts = {}): DroverFunction =>
  defineFunction({ name: 'f', config: Type.Object({}), open, reactions: [on(nodeChanged, { changed: ['labels'] }, handle)] })

async function start(t: Test, source: Source, extra: Record<string, string> = {}): Promise<Served> {
  const served = await serve(source, { env: { ...env, ...extra } })
  t.teardown(served.close)
  return served
}
const post = (url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { method: 'POST', headers, body: JSON.stringify(node), ...init })

const requests: Array<[name: string, status: number, path: string, init: RequestInit]> = [
  ['an event', 204, '/', {}],
  ['an event on any path', 204, `/some/%/where${'/x'.repeat(500)}?a=b`, {}],
  ['an event without a body', 422, '/', { body: null }],
  ['data over the limit', 413, '/', { body: JSON.stringify({ ...node, uid: 'x'.repeat(2000) }) }],
  ['data in another format', 415, '/', { headers: { ...headers, 'content-type': 'text/csv' } }],
  ['a content type that is none', 415, '/', { headers: { ...headers, 'content-type': 'nonsense' } }],
  ['no event', 400, '/', { headers: { 'content-type': 'application/json' } }],
  ['a type nobody takes', 422, '/', { headers: eventHeaders('x.y') }],
  ['GET of something', 405, '/some/where', { method: 'GET', body: null }],
  ['PUT', 405, '/', { method: 'PUT' }],
  ['DELETE', 405, '/healthz', { method: 'DELETE' }]
]
t.test('answers', async t => {
  const { url } = await start(t, fn(), { MAX_BODY_BYTES: '1000' })
  for (const [name, status, path, init] of requests) {
    const response = await post(`${url}${path}`, init)
    const body = await response.text()
    t.equal(response.status, status, `${name}: ${status}`)
    t.ok(status === 204 ? body === '' : body.length < 512, `${name}: ${status === 204 ? 'no body' : 'a short one'}`)
  }
  const metrics = await (await fetch(`${url}/metrics`)).text()
  t.match(metrics, 'drover_events_total{function="f",type="unknown",outcome="malformed"} 4', 'each is counted')
  t.match(metrics, 'process_cpu_seconds_total')
  t.equal((await fetch(`${url}/healthz`)).status, 200)
})

t.test('a body over the limit that does not say its length', async t => {
  const { url } = await start(t, fn(), { MAX_BODY_BYTES: '1000' })
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const lines = Object.entries({ ...headers, host: 'x', 'transfer-encoding': 'chunked' }).map(
    ([name, value]) => `${name}: ${value}`
  )
  socket.write(`POST / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n7d0\r\n${'x'.repeat(2000)}\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  t.match(answer.toString(), /^HTTP\/1.1 413 /)
  socket.destroy()
})

t.test('listens while the function opens: not ready, events that matter wait, the others are acknowledged', async t => {
  const opened = Promise.withResolvers<void>()
  const { url } = await start(t, async () => ({ default: fn({ open: () => opened.promise }) }))
  t.equal((await fetch(`${url}/readyz`)).status, 503)
  t.equal((await post(url, { headers: eventHeaders(nodeChanged.type, { changed: 'status' }) })).status, 204)
  const waiting = post(url)
  opened.resolve()
  t.equal((await waiting).status, 204)
  t.equal((await fetch(`${url}/readyz`)).status, 200)
})

t.test('a function that cannot open says why, answers 503, and comes back', async t => {
  const second = Promise.withResolvers<void>()
  let tries = 0
  const open = async (): Promise<void> => {
    if (++tries === 1) throw new Error('no route to the cluster')
    second.resolve()
  }
  const { url } = await start(t, fn({ open }))
  t.match(await (await fetch(`${url}/readyz`)).text(), 'no route to the cluster')
  t.equal((await post(url)).status, 503)
  t.equal((await fetch(`${url}/healthz`)).status, 200)
  await second.promise
  t.equal((await post(url)).status, 204)
  t.equal((await fetch(`${url}/readyz`)).status, 200)
})

t.test('close waits for what runs, even when its sender has gone', async t => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const order: string[] = []
  const handle = async (): Promise<void> => {
    started.resolve()
    await release.promise
    order.push('handled')
  }
  const served = await serve(fn({ handle }), { env })
  const gone = new AbortController()
  const sent = post(served.url, { signal: gone.signal })
  await started.promise
  gone.abort()
  await t.rejects(sent)
  const closed = served.close().then(() => order.push('closed'))
  release.resolve()
  await closed
  t.strictSame(order, ['handled', 'closed'])
})

t.test('what the function opened is closed, the last first', async t => {
  const order: number[] = []
  const served = await serve(
    defineFunction({
      name: 'f',
      config: Type.Object({}),
      reactions: [],
      async open(_config, { onClose, signal }) {
        onClose(() => void order.push(1))
        onClose(async () => void order.push(signal.aborted ? 2 : 0))
      }
    }),
    { env }
  )
  await served.close()
  t.strictSame(order, [2, 1])
  await t.rejects(fetch(served.url))
})

t.test('a wrong configuration ends the start and frees the port', async t => {
  await t.rejects(serve(fn(), { env: { ...env, PORT: 'x', GRACE: '5' } }), { name: 'ConfigError', problems: { length: 2 } })
  const needy = { ...fn(), config: Type.Object({ region: Type.String() }) }
  await t.rejects(serve(needy, { env }), ConfigError)
})
