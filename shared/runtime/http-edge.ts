import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import { eventEdge } from './event-edge.ts'
import type { Service } from './service.ts'
import { underWay } from './under-way.ts'

export interface HttpEdge {
  app: FastifyInstance
  /** Refuses what comes, waits for what runs, whether or not its sender is still there. */
  drain: () => Promise<void>
}

const ownPages = new Set(['/healthz', '/readyz', '/metrics'])
// No route has a schema, so neither of fastify's compilers is ever asked for: ajv alone would cost 10 ms of each cold start.
const unused = (): never => {
  throw new Error('routes here have no schema')
}
const schemaController = { compilersFactory: { buildValidator: unused, buildSerializer: unused } }

/** All that knows HTTP: three pages for the platform, the routes of the function, and events by POST on any other path. */
export function httpEdge(starting: Promise<Service>, bodyLimit: number): HttpEdge {
  let service: Service | undefined
  void starting.then(started => (service = started)).catch(() => {}) // the one who starts it is told
  const stopping = new AbortController()
  const { begun, over, idle } = underWay()
  const takeEvent = eventEdge({ bodyLimit, begun, finished: over, stopping: stopping.signal })

  // Knative sends a 503 again, to whoever is there by then.
  const refuse = (response: ServerResponse): void =>
    void response.writeHead(503, { connection: 'close' }).end('failed, to be sent again')
  const hand = (to: Service, request: IncomingMessage, response: ServerResponse, pages: RequestListener): void => {
    const { method = 'GET', url = '/' } = request
    const answering = to.route(method, url)
    if (answering) {
      begun()
      answering(request, response, stopping.signal, over)
    } else if (method === 'POST') takeEvent(to, request, response)
    else pages(request, response)
  }
  const listener =
    (pages: RequestListener): RequestListener =>
    (request, response) => {
      if (stopping.signal.aborted) refuse(response)
      else if (request.method !== 'POST' && ownPages.has(request.url ?? '/')) pages(request, response)
      else if (service) hand(service, request, response, pages)
      else
        starting.then(
          started => hand(started, request, response, pages),
          () => refuse(response)
        )
    }

  const app = fastify({
    schemaController,
    serverFactory: pages => createServer({ requestTimeout: 30_000, keepAliveTimeout: 72_000 }, listener(pages))
  })
  app.get('/healthz', (_request, reply) => reply.send('ok\n'))
  app.get('/readyz', (_request, reply) => {
    const problem = service ? service.problem() : 'loading'
    return problem === undefined ? reply.send('ok\n') : reply.code(503).send(`${problem.slice(0, 400)}\n`)
  })
  app.get('/metrics', async (_request, reply) => {
    const { metrics } = service ?? (await starting)
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics())
  })
  // Knative retries a 404, and GET /somewhere is a mistake of the method anyway.
  app.setNotFoundHandler((_request, reply) => reply.code(405).header('allow', 'POST').send('events come by POST\n'))
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    service?.log.error({ err: error }, 'request failed')
    return reply.code(503).send('failed\n')
  })
  return {
    app,
    async drain() {
      stopping.abort()
      await app.close()
      await idle()
    }
  }
}
