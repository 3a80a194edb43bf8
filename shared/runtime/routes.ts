import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Route } from './function.ts'
import type { Logger } from './log.ts'

/** Answers one request; settles when its answer is out or its peer is gone. `stopping` aborts when no more time is to be taken. */
export type Answering = (request: IncomingMessage, response: ServerResponse, stopping: AbortSignal) => Promise<void>

/** Who answers a request that is no event. */
export type FindRoute = (method: string, url: string) => Answering | undefined

/** `/explain` takes itself and all below it, the longest wins; `/` takes what is left, but for POST: that is an event. */
export function routesOf<Deps>(routes: Readonly<Record<string, Route<Deps>>>, deps: () => Promise<Deps>, log: Logger): FindRoute {
  const byLength = Object.entries(routes).sort(([a], [b]) => b.length - a.length)
  if (byLength.length === 0) return () => undefined // most functions have none, and every event asks
  return (method, url) => {
    const [asked = url] = url.split('?', 1)
    const takes = (path: string) => (path === '/' ? method !== 'POST' : asked === path || asked.startsWith(`${path}/`))
    const [, route] = byLength.find(([path]) => takes(path)) ?? []
    return route && ((request, response, stopping) => answer(route, deps, log, { request, response, stopping }))
  }
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  stopping: AbortSignal
}

async function answer<Deps>(route: Route<Deps>, deps: () => Promise<Deps>, log: Logger, exchange: Exchange): Promise<void> {
  const { request, response, stopping } = exchange
  const over = new Promise<void>(resolve => response.once('close', resolve))
  try {
    const opened = await deps().catch((cause: unknown) => {
      throw new NotReady(cause instanceof Error ? cause.message : 'unknown')
    })
    await route(request, response, opened, {
      log,
      // Made when asked for: only streams do.
      get signal() {
        return untilOver(response, stopping)
      }
    })
  } catch (err) {
    const notReady = err instanceof NotReady
    if (!notReady && !response.closed) log.error({ err, method: request.method, url: request.url }, 'request failed')
    if (response.headersSent) response.destroy()
    else response.writeHead(notReady ? 503 : 500).end(notReady ? `not ready: ${err.message.slice(0, 400)}\n` : 'failed\n')
  }
  await over
}

function untilOver(response: ServerResponse, stopping: AbortSignal): AbortSignal {
  const gone = new AbortController()
  if (response.closed) gone.abort()
  else response.once('close', () => gone.abort())
  return AbortSignal.any([stopping, gone.signal])
}

class NotReady extends Error {}
