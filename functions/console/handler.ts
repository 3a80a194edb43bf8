import type { IncomingMessage, ServerResponse } from 'node:http'
import { Type } from 'typebox'
import { defineFunction, type Call } from '../../shared/runtime/function.ts'
import { importMapHash, loadAssets, type Asset } from './assets.ts'
import { watchFleet, type Fleet } from './fleet.ts'

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  title: Type.String({ default: 'fleet', description: 'name of this installation, shown in the page' })
})

interface Deps {
  fleet: Fleet
  assets: ReadonlyMap<string, Asset>
}

// The page brings everything along; nothing else may be loaded, framed or sent.
const security = {
  'content-security-policy': `default-src 'none'; script-src 'self' '${importMapHash}'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer'
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { ...security, 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body))
}

/** The path that is asked for; undefined when it is none. */
function pathOf({ url = '/' }: IncomingMessage): string | undefined {
  try {
    return decodeURIComponent(new URL(url, 'http://console').pathname)
  } catch {
    return undefined
  }
}

function file(request: IncomingMessage, response: ServerResponse, { assets }: Deps): void {
  const found = assets.get(pathOf(request) ?? '')
  if (!found) return void response.writeHead(404, security).end('there is no such page; the fleet is at /\n')
  const headers = { ...security, 'content-type': found.type, etag: found.etag, 'cache-control': 'no-cache' }
  if (request.headers['if-none-match'] === found.etag) return void response.writeHead(304, headers).end()
  response.writeHead(200, headers).end(found.body)
}

/** Server-sent events. A browser that does not read is dropped: it comes back by itself and gets everything anew. */
function stream(_request: IncomingMessage, response: ServerResponse, { fleet }: Deps, { signal }: Pick<Call, 'signal'>): void {
  response.writeHead(200, { ...security, 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const send = (text: string): void => {
    response.write(text)
    if (response.writableLength > maxUnreadBytes) response.destroy()
  }
  send(`retry: 1000\ndata: ${JSON.stringify(fleet.snapshot())}\n\n`)
  fleet.follow(update => send(`data: ${JSON.stringify(update)}\n\n`), signal)
  const alive = setInterval(() => send(': alive\n\n'), aliveMs)
  signal.addEventListener('abort', () => {
    clearInterval(alive)
    response.end()
  })
}
const aliveMs = 15_000
const maxUnreadBytes = 16 * 1024 * 1024

function host(request: IncomingMessage, response: ServerResponse, { fleet }: Deps): void {
  const name = pathOf(request)?.slice('/api/hosts/'.length) ?? ''
  const found = fleet.detail(name)
  json(response, found ? 200 : 404, found ?? { message: `there is no host ${name}` })
}

export default defineFunction({
  name: 'console',
  config,

  async open({ kubeconfig, title }, { clock, log, onClose, signal }): Promise<Deps> {
    const { connect } = await import('../../shared/kube/index.ts')
    const kube = await connect({ manager: 'drover-console', log, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    const onError = (err: unknown, kind: string): void => log.warn({ err, kind }, 'cannot be watched, and is not shown')
    return { fleet: watchFleet({ kube, title, clock, signal, batchMs: 100, onError }), assets: await loadAssets() }
  },

  reactions: [],

  routes: { '/api/stream': stream, '/api/hosts': host, '/': file }
})
