import { once } from 'node:events'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { nodeChanged } from '../../shared/events/objects.ts'
import { defineFunction, on, type DroverFunction, type Route } from '../../shared/runtime/function.ts'
import { serve, type Served } from '../../shared/runtime/serve.ts'
import { makeAuthority, makeCertificate } from '../servers/certificates.ts'
import { eventually } from '../servers/eventually.ts'
import { eventHeaders } from './platform.ts'

interface Deps {
  word: string
}
const env = { LOG_LEVEL: 'silent', HOST: '127.0.0.1', PORT: '0' }
const says =
  (name: string): Route<Deps> =>
  async (request, response, { word }) => {
    const body = await text(request)
    response.setHeader('content-type', 'text/plain')
    response.end(`${name} ${word} ${request.method} ${request.url} ${body}`.trim())
  }
const throws: Route<Deps> = async () => {
  throw new Error('a secret of ours')
}
const breaks: Route<Deps> = async (_request, response) => {
  response.write('half')
  throw new Error('after the first byte')
}
const streams: Route<Deps> = async (_request, response, _deps, { signal }) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: hello\n\n')
  await once(signal, 'abort')
  response.end('data: bye\n\n')
}

const fn = (open: () => Promise<Deps> = async () => ({ word: 'hi' })): DroverFunction =>
  defineFunction({
    name: 'f',
    config: Type.Object({}),
    open,
    reactions: [on(nodeChanged, async () => {})],
    routes: {
      '/': says('page'),
      '/explain': says('explain'),
      '/explain/deep': says('deep'),
      '/throws': throws,
      '/breaks': breaks,
      '/stream': streams
    }
  })

async function start(t: Test, source: DroverFunction, extra: Record<string, string> = {}): Promise<Served> {
  const served = await serve(source, { env: { ...env, ...extra } })
  t.teardown(served.close)
  return served
}

const requests: Array<[name: string, path: string, init: RequestInit, status: number, body: RegExp]> = [
  ['a page', '/', {}, 200, /^page hi GET \/$/],
  ['the page takes what is left', '/style.css?v=1', {}, 200, /^page hi GET \/style\.css\?v=1$/],
  ['a path', '/explain', {}, 200, /^explain hi GET \/explain$/],
  ['below it', '/explain/host-1?x=%20', {}, 200, /^explain hi GET \/explain\/host-1\?x=%20$/],
  ['the longest path wins', '/explain/deep/er', {}, 200, /^deep hi GET /],
  ['a neighbour is not below it', '/explainer', {}, 200, /^page hi GET /],
  [
    'a POST with its body, whatever its type',
    '/explain',
    { method: 'POST', body: 'ask' },
    200,
    /^explain hi POST \/explain ask$/
  ],
  ['HEAD', '/explain', { method: 'HEAD' }, 200, /^$/],
  ['our own pages stay ours', '/healthz', {}, 200, /^ok\n$/],
  ['a POST elsewhere is an event, if a bad one', '/', { method: 'POST', body: 'x' }, 400, /./],
  ['a route that throws', '/throws', {}, 500, /^failed\n$/]
]
t.test('routes', async t => {
  const { url } = await start(t, fn())
  for (const [name, path, init, status, body] of requests) {
    const response = await fetch(`${url}${path}`, init)
    t.equal(response.status, status, `${name}: ${status}`)
    t.match(await response.text(), body, name)
  }
  const event = { method: 'POST', headers: eventHeaders(nodeChanged.type), body: '{"apiVersion":"v1","kind":"Node","name":"n"}' }
  t.equal((await fetch(`${url}/elsewhere`, event)).status, 204, 'events arrive as before')
  await t.rejects(
    fetch(`${url}/breaks`).then(response => response.text()),
    'a broken answer is not a whole one'
  )
})

t.test('a route waits for what the function opens, and says why it is not there', async t => {
  const opened = Promise.withResolvers<Deps>()
  const { url } = await start(
    t,
    fn(() => opened.promise)
  )
  const waiting = fetch(`${url}/explain`)
  opened.resolve({ word: 'late' })
  t.match(await (await waiting).text(), 'explain late')

  const failing = await start(
    t,
    fn(async () => {
      throw new Error('no route to the cluster')
    })
  )
  const answer = await fetch(`${failing.url}/explain`)
  t.equal(answer.status, 503)
  t.equal(await answer.text(), 'not ready: no route to the cluster\n')
})

t.test('a peer that went before the function was open holds up no stop', async t => {
  const opened = Promise.withResolvers<Deps>()
  const served = await serve(
    fn(() => opened.promise),
    { env }
  )
  const asked = httpRequest(`${served.url}/explain`, { agent: false }).end()
  await once(asked, 'finish')
  t.equal((await fetch(`${served.url}/healthz`)).status, 200)
  const gone = new Promise(resolve => asked.on('error', () => undefined).once('close', resolve))
  asked.destroy()
  await gone
  t.equal((await fetch(`${served.url}/healthz`)).status, 200)
  opened.resolve({ word: 'late' })
  await served.close()
})

t.test('a stream ends when the process stops, and is told when its peer is gone', async t => {
  const served = await serve(fn(), { env })
  const response = await fetch(`${served.url}/stream`)
  const closed = served.close()
  t.equal(await response.text(), 'data: hello\n\ndata: bye\n\n')
  await closed

  const ended = Promise.withResolvers<void>()
  const told = defineFunction({
    ...fn(),
    routes: {
      '/wait': async (_request, response, _deps, { signal }) => {
        response.writeHead(200).write('x')
        await once(signal, 'abort')
        ended.resolve()
      }
    }
  })
  const { url } = await start(t, told)
  const gone = new AbortController()
  await fetch(`${url}/wait`, { signal: gone.signal })
  gone.abort()
  await ended.promise
})

t.test('the second port: routes alone, over TLS, with a certificate that may be renewed', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'drover-tls-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const authority = await makeAuthority(folder)
  const place = async (): Promise<void> => {
    await makeCertificate(authority, folder, 'tls', [{ type: 'ip', value: '127.0.0.1' }])
  }
  await place()
  const { tlsUrl } = await start(t, fn(), { TLS_PORT: '0', TLS_DIR: folder, TLS_RENEW: '20ms' })
  const ask = async (path: string) => {
    const ca = authority.certificate.toString('pem')
    const sent = httpsRequest(`${tlsUrl}${path}`, { method: 'POST', ca, agent: false }).end('ask')
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const { serialNumber } = (answer.socket as TLSSocket).getPeerCertificate()
    return { status: answer.statusCode, body: await text(answer), serialNumber }
  }
  const first = await ask('/explain')
  t.match(first, { status: 200, body: 'explain hi POST /explain ask' })
  t.match(await ask('/elsewhere'), { status: 404 }, 'no events here')
  await copyFile(join(folder, 'ca.crt'), join(folder, 'tls.crt'))
  t.match(await ask('/explain'), { status: 200 }, 'a pair that does not fit is not taken')
  await place()
  await eventually('the new certificate', async () => (await ask('/explain')).serialNumber !== first.serialNumber)

  await t.rejects(serve(fn(), { env: { ...env, TLS_PORT: '0', TLS_DIR: join(folder, 'absent') } }), { code: 'ENOENT' })
})
