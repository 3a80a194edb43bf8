// The door of the fake: one HTTP server, a path prefix for each service. A call that no route knows is answered with 501 and remembered.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { prefixOf, type Tokens } from '../api/tokens.ts'
import type { Person, World } from '../world/world.ts'
import type { Faults } from './faults.ts'
import { keystone, Refusal } from './refusal.ts'
import { isObject, type Reply, type Route, type Service } from './request.ts'
import { chosen, hasVersions, versionDocument, type Versions } from './versions.ts'

export interface Seen {
  service: Service
  method: string
  /** without the query */
  path: string
  query: string
  version: string | undefined
  globalRequestId: string | undefined
  status: number
}

export interface DoorOptions {
  world: World
  routes: Route[]
  tokens: Tokens
  faults: Faults
  versions: Versions
  who: Person
  seen: (request: Seen) => void
  unexpected: (call: string) => void
}

const services: Service[] = ['identity', 'compute', 'placement', 'image', 'network']

export function createDoor(options: DoorOptions): Server {
  const routes = options.routes.map(route => ({
    ...route,
    pattern: new RegExp(`^${route.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
  }))

  function find(service: Service, method: string, path: string): { route: Route; params: Record<string, string> } | undefined {
    for (const route of routes) {
      const match = route.service === service && route.method === method ? route.pattern.exec(path) : null
      if (match) return { route, params: mapValues(match.groups ?? {}, decodeURIComponent) }
    }
    return undefined
  }

  function answer(request: IncomingMessage, service: Service, url: URL, path: string, requestId: string, sent: string): Reply {
    const { world, tokens, versions, who } = options
    const method = request.method ?? ''
    const found = find(service, method, path)
    if (hasVersions(service) && method === 'GET' && (path === '' || path === '/'))
      return versionDocument(service, versions[service])
    if (!found) {
      options.unexpected(`${method} ${url.pathname}`)
      return { status: 501, body: { unexpected: `${method} ${url.pathname}` } }
    }
    if (service !== 'identity' && !tokens.isValid(header(request, 'x-auth-token'))) {
      throw keystone(401, 'Unauthorized', 'The request you have made requires authentication.')
    }
    const version = hasVersions(service) ? chosen(service, header(request, 'openstack-api-version'), versions[service]) : 0
    const body: unknown = sent === '' ? {} : JSON.parse(sent)
    const base = `http://${request.headers.host}${prefixOf(service)}`
    return found.route.handle(world, {
      params: found.params,
      query: url.searchParams,
      body: isObject(body) ? body : {},
      who,
      requestId,
      version,
      base
    })
  }

  // Idle connections are closed by the client alone: one that is closed while the client begins a POST fails it, and a POST is not repeated.
  return createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void serve(request, response)
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://fake')
    const service = services.find(
      service => url.pathname.startsWith(`${prefixOf(service)}/`) || url.pathname === prefixOf(service)
    )
    const sent = await text(request)
    if (!service) {
      options.unexpected(`${request.method} ${url.pathname}`)
      return write(response, { status: 501 }, {})
    }
    const path = url.pathname.slice(prefixOf(service).length)
    const requestId = `req-${randomUUID()}`
    const effect = options.faults.next(service, request.method ?? '', path)
    if (effect && 'hang' in effect) return
    if (effect && 'lose' in effect && effect.lose === 'request') return void request.socket.destroy()
    if (effect && 'delayMs' in effect) await new Promise<void>(resolve => options.world.clock.after(effect.delayMs, resolve))
    const reply =
      effect && 'answer' in effect ? effect.answer : settle(() => answer(request, service, url, path, requestId, sent))
    const version = header(request, 'openstack-api-version')
    const globalRequestId = header(request, 'x-openstack-request-id')
    options.seen({
      service,
      method: request.method ?? '',
      path,
      query: url.search,
      version,
      globalRequestId,
      status: reply.status
    })
    if (effect && 'lose' in effect) return void request.socket.destroy()
    write(response, reply, { 'x-openstack-request-id': requestId, ...(version && { 'openstack-api-version': version }) })
  }
}

function settle(run: () => Reply): Reply {
  try {
    return run()
  } catch (err) {
    if (err instanceof Refusal) return { status: err.status, body: err.body }
    throw err
  }
}

function write(response: ServerResponse, { status, body, headers }: Reply, more: Record<string, string>): void {
  const payload = body === undefined ? '' : JSON.stringify(body)
  response.writeHead(status, { ...(payload && { 'content-type': 'application/json' }), ...more, ...headers }).end(payload)
}

const header = ({ headers }: IncomingMessage, name: string): string | undefined => headers[name]?.toString()
const mapValues = (from: Record<string, string>, change: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(from).map(([key, value]) => [key, change(value)]))
