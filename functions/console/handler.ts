import type { IncomingMessage, ServerResponse } from 'node:http'
import { Type } from 'typebox'
import { defineFunction, type Call } from '../../shared/runtime/function.ts'
import { importMapHash, loadAssets, type Asset } from './assets.ts'
import type { Fleet } from '../../shared/view/watch-fleet.ts'
import { askSimulator } from './sim.ts'

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  title: Type.String({ default: 'fleet', description: 'name of this installation, shown in the page' }),
  simFile: Type.Optional(Type.String({ description: 'where the simulated fleet of npm start answers; never set in a cluster' }))
})

interface Deps {
  fleet: Fleet
  simFile: string | undefined
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
  const path = pathOf(request)
  if (path === undefined) return void response.writeHead(400, security).end('that is no address\n')
  const found = assets.get(path)
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
  const name = pathOf(request)?.slice('/api/hosts/'.length)
  if (name === undefined) return json(response, 400, { message: 'that is no address' })
  const found = fleet.detail(name)
  json(response, found ? 200 : 404, found ?? { message: `there is no host ${name}` })
}

const networks = (_request: IncomingMessage, response: ServerResponse, { fleet }: Deps): void =>
  json(response, 200, fleet.networks())

async function simulator(request: IncomingMessage, response: ServerResponse, { simFile }: Deps): Promise<void> {
  const { status, body } = await askSimulator(simFile, request, pathOf(request)?.slice('/api/sim'.length) ?? '')
  response.writeHead(status, { ...security, 'content-type': 'application/json', 'cache-control': 'no-store' }).end(body)
}

export default defineFunction({
  name: 'console',
  config,

  async open({ kubeconfig, title, simFile }, { clock, log, onClose, signal }): Promise<Deps> {
    const [{ connect }, { watchFleet }] = await Promise.all([
      import('../../shared/kube/index.ts'),
      import('../../shared/view/watch-fleet.ts')
    ])
    const kube = await connect({ manager: 'drover-console', log, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    const onError = (err: unknown, kind: string): void => log.warn({ err, kind }, 'cannot be watched, and is not shown')
    const fleet = watchFleet({ kube, title, clock, signal, batchMs: 100, onError })
    return { fleet, simFile, assets: await loadAssets() }
  },

  reactions: [],

  routes: { '/api/stream': stream, '/api/hosts': host, '/api/networks': networks, '/api/sim': simulator, '/': file }
})
