import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Call, Route } from './function.ts'
import type { Logger } from './log.ts'

/**
 * Answers one request; `over` is called when its route is done and its answer is out or its peer gone. `stopping` aborts when no more time
 * is to be taken. Without promises of its own: they would cost more than what a route such as admission's does.
 */
export type Answering = (request: IncomingMessage, response: ServerResponse, stopping: AbortSignal, over: () => void) => void

/** Who answers a request that is no event. */
export type FindRoute = (method: string, url: string) => Answering | undefined

/** `/explain` takes itself and all below it, the longest wins; `/` takes what is left, but for POST: that is an event. */
export function routesOf<Deps>(routes: Readonly<Record<string, Route<Deps>>>, deps: () => Promise<Deps>, log: Logger): FindRoute {
  const byLength = Object.entries(routes)
    .sort(([a], [b]) => b.length - a.length)
    .map(([path, route]) => ({ path, below: `${path}/`, answer: answering(route, deps, log) }))
  if (byLength.length === 0) return () => undefined // most functions have none, and every event asks
  return (method, url) => {
    const query = url.indexOf('?')
    const asked = query < 0 ? url : url.slice(0, query)
    for (const { path, below, answer } of byLength)
      if (path === '/' ? method !== 'POST' : asked === path || asked.startsWith(below)) return answer
    return undefined
  }
}

function answering<Deps>(route: Route<Deps>, deps: () => Promise<Deps>, log: Logger): Answering {
  let opened: { deps: Deps } | undefined // once it is, it stays

  const fail = (request: IncomingMessage, response: ServerResponse, err: unknown): void => {
    if (!response.closed) log.error({ err, method: request.method, url: request.url }, 'request failed')
    if (response.headersSent) response.destroy()
    else response.writeHead(500).end('failed\n')
  }
  const run = (
    request: IncomingMessage,
    response: ServerResponse,
    given: Deps,
    stopping: AbortSignal,
    over: () => void
  ): void => {
    try {
      const running = route(request, response, given, new RouteCall(log, response, stopping))
      if (running) {
        running.catch((err: unknown) => fail(request, response, err)).then(() => whenClosed(response, over), over)
        return
      }
    } catch (err) {
      fail(request, response, err)
    }
    whenClosed(response, over)
  }
  const runWhenOpen: (...exchange: Parameters<Answering>) => Promise<void> = async (request, response, stopping, over) => {
    try {
      opened = { deps: await deps() }
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : 'unknown'
      response.writeHead(503).end(`not ready: ${why.slice(0, 400)}\n`)
      return whenClosed(response, over)
    }
    run(request, response, opened.deps, stopping, over)
  }
  return (request, response, stopping, over) => {
    if (opened) run(request, response, opened.deps, stopping, over)
    else void runWhenOpen(request, response, stopping, over)
  }
}

/** A peer may have been gone before anybody listened. */
function whenClosed(response: ServerResponse, over: () => void): void {
  if (response.closed) over()
  else response.on('close', over)
}

/** A class for its getter: a signal is made when asked for, and only streams do. */
class RouteCall implements Pick<Call, 'log' | 'signal'> {
  readonly log: Logger
  readonly #response: ServerResponse
  readonly #stopping: AbortSignal
  constructor(log: Logger, response: ServerResponse, stopping: AbortSignal) {
    this.log = log
    this.#response = response
    this.#stopping = stopping
  }

  get signal(): AbortSignal {
    const gone = new AbortController()
    whenClosed(this.#response, () => gone.abort())
    return AbortSignal.any([this.#stopping, gone.signal])
  }
}
