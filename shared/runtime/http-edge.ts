import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Service } from './service.ts'

export interface HttpEdge {
  app: FastifyInstance
  /** Refuses what comes, waits for what runs, whether or not its sender is still there. */
  drain: () => Promise<void>
}

const noBody = Buffer.alloc(0)
const mediaTypes = ['application/json', 'application/cloudevents+json', 'application/cloudevents-batch+json', '*']
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
  let running = 0
  let whenIdle: (() => void) | undefined
  const finished = (): void => {
    if (--running === 0) whenIdle?.()
  }

  const app = fastify({
    bodyLimit,
    requestTimeout: 30_000,
    requestIdHeader: false,
    schemaController,
    // An event is an event on any path, a malformed one included.
    rewriteUrl: ({ method, url = '/' }) => (method === 'POST' ? '/' : url)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(mediaTypes, { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))

  // Before the body is read: what a route takes is its own from the first byte.
  app.addHook('onRequest', (request, reply, next) => {
    const { raw, method, originalUrl } = request
    if (ownPages.has(originalUrl)) return next()
    const hand = ({ route }: Pick<Service, 'route'>): void => {
      const answering = route(method, originalUrl)
      if (!answering) return next()
      reply.hijack()
      running++
      raw.url = originalUrl
      void answering(raw, reply.raw, stopping.signal).finally(finished)
    }
    if (service) hand(service)
    else starting.then(hand, next)
  })
  app.post('/', async (request: FastifyRequest, reply: FastifyReply) => {
    running++
    try {
      const { receive } = service ?? (await starting)
      const body = Buffer.isBuffer(request.body) ? request.body : noBody
      const answer = await receive({ headers: request.headers, body })
      if (stopping.signal.aborted) reply.header('connection', 'close')
      return reply.code(answer.status).send(answer.body)
    } finally {
      finished()
    }
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
    const status = [400, 413, 415].includes(error.statusCode ?? 0) ? (error.statusCode ?? 0) : 503
    if (status === 503) service?.log.error({ err: error }, 'request failed')
    else service?.unreadable(status, error.message)
    return reply.code(status).send(status === 503 ? 'failed, to be sent again' : error.message.slice(0, 200))
  })

  return {
    app,
    async drain() {
      stopping.abort()
      await app.close()
      if (running > 0) await new Promise<void>(resolve => (whenIdle = resolve))
    }
  }
}
