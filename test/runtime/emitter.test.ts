import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { nodeChanged } from '../../shared/events/objects.ts'
import { EmitError, emitter, type EmitterOptions } from '../../shared/runtime/emitter.ts'

const data = { apiVersion: 'v1', kind: 'Node', name: 'n1' }

/** A broker that answers by script: a status, or nothing at all for `hang`, or a closed connection for `reset`. */
async function sink(t: Test, script: Array<number | 'hang' | 'reset'>) {
  const seen: Array<{ headers: IncomingHttpHeaders; body: string; port: number | undefined }> = []
  const play = (response: ServerResponse): void => {
    const next = script.shift() ?? 202
    if (next === 'reset') response.destroy()
    else if (next !== 'hang') response.writeHead(next).end(next < 300 ? '' : 'a text that must be read')
  }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => (body += chunk))
    request.on('end', () => {
      seen.push({ headers: request.headers, body, port: request.socket.remotePort })
      play(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ns/broker`, seen }
}

const options = (url: string | undefined): EmitterOptions => ({ sink: url, source: '/functions/test', delay: async () => {} })

t.test('an event in binary mode, over one connection', async t => {
  const { url, seen } = await sink(t, [])
  const emit = emitter(options(url))
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await emit({
    kind: nodeChanged,
    data,
    subject: 'Zürich 1',
    partitionkey: 'n1',
    sequence: '7',
    extensions: { changed: 'labels' },
    traceparent
  })
  await emit({ kind: nodeChanged, data, subject: undefined, traceparent: undefined })
  const [first, second] = seen
  t.match(first?.headers, {
    'content-type': /^application\/json/,
    'ce-specversion': '1.0',
    'ce-type': nodeChanged.type,
    'ce-source': '/functions/test',
    'ce-subject': 'Z%C3%BCrich%201',
    'ce-partitionkey': 'n1',
    'ce-sequence': '7',
    'ce-changed': 'labels',
    'ce-traceparent': traceparent
  })
  t.strictSame(JSON.parse(first?.body ?? ''), data)
  t.notHas(second?.headers, { 'ce-subject': String }, 'what is undefined is not sent')
  t.not(first?.headers['ce-id'], second?.headers['ce-id'])
  t.equal(first?.port, second?.port)
})

t.test('a trace begins with the event that nobody caused, and is the same whoever sends it again', async t => {
  const { url, seen } = await sink(t, [])
  for (const id of ['one', 'one', 'two']) await emitter(options(url))({ kind: nodeChanged, data, id })
  const traces = seen.map(({ headers }) => String(headers['ce-traceparent']))
  t.match(traces[0], /^00-[\da-f]{32}-[\da-f]{16}-01$/)
  t.equal(traces[0], traces[1])
  t.not(traces[0], traces[2])
})

t.test('what may pass is tried again with the same id', async t => {
  const metrics = new Registry()
  const { url, seen } = await sink(t, [500, 503, 'reset', 429, 202])
  await emitter({ ...options(url), metrics })({ kind: nodeChanged, data })
  t.equal(seen.length, 5)
  t.equal(new Set(seen.map(({ headers }) => headers['ce-id'])).size, 1)
  t.equal(new Set(seen.map(({ headers }) => headers['ce-time'])).size, 1)
  t.equal(new Set(seen.map(({ headers }) => headers['ce-traceparent'])).size, 1)
  t.match(await metrics.metrics(), `drover_emitted_total{type="${nodeChanged.type}",outcome="sent"} 1`)
  t.match(await metrics.metrics(), `drover_emitted_total{type="${nodeChanged.type}",outcome="retried"} 4`)
})

t.test('no answer in time: tried again, then given up', async t => {
  const { url, seen } = await sink(t, ['hang', 'hang'])
  const impatient = { ...options(url), timeoutMs: 500, retry: { attempts: 2, minDelayMs: 1, maxDelayMs: 1 } }
  await t.rejects(emitter(impatient)({ kind: nodeChanged, data, id: 'x' }), { code: 'timeout', retryable: true })
  t.strictSame(
    seen.map(({ headers }) => headers['ce-id']),
    ['x', 'x']
  )
})

t.test('a refusal is final', async t => {
  const { url, seen } = await sink(t, [400])
  await t.rejects(emitter(options(url))({ kind: nodeChanged, data }), { code: 'refused', message: 'the broker answered 400' })
  t.equal(seen.length, 1)
})

t.test('nobody there', async t => {
  const { url } = await sink(t, [])
  const gone = new URL(url)
  gone.port = '1'
  await t.rejects(emitter(options(String(gone)))({ kind: nodeChanged, data }), { code: 'unreachable' })
})

t.test('without a sink only the use fails', async t => {
  const emit = emitter(options(undefined))
  await t.rejects(emit({ kind: nodeChanged, data }), new EmitError('no-sink', 'no address to send events to: K_SINK is not set'))
})

t.test('a stop ends the waiting', async t => {
  const { url } = await sink(t, ['hang'])
  const stop = new AbortController()
  const sent = emitter({ ...options(url), signal: stop.signal })({ kind: nodeChanged, data })
  stop.abort()
  await t.rejects(sent)
})
