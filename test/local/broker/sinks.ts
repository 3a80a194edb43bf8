// Sinks for tests: what they got, and a promise for the n-th of it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { Answer, Request } from '../../../shared/local/broker/index.ts'

export interface Received extends Request {
  method: string
}

export type Respond = (received: Received, nth: number) => Answer | Promise<Answer>

export interface Deliveries {
  received: Received[]
  /** Resolves with the first n requests as soon as there are as many. */
  until: (n: number) => Promise<Received[]>
}

/** Over HTTP. */
export interface Sink extends Deliveries {
  url: string
}

/** A function in the broker's process. */
export interface LocalSink extends Deliveries {
  deliver: (request: Request) => Promise<Answer>
}

interface Recorder extends Deliveries {
  take: (received: Received) => Promise<Answer>
}

const nothing: Respond = () => ({ status: 204 })

function recorder(respond: Respond = nothing): Recorder {
  const received: Received[] = []
  let waiting: Array<{ n: number; resolve: (first: Received[]) => void }> = []
  return {
    received,
    until: n =>
      received.length >= n ? Promise.resolve(received.slice(0, n)) : new Promise(resolve => waiting.push({ n, resolve })),
    take(one) {
      const nth = received.push(one)
      const reached = waiting.filter(({ n }) => n <= nth)
      waiting = waiting.filter(({ n }) => n > nth)
      for (const { n, resolve } of reached) resolve(received.slice(0, n))
      return Promise.resolve(respond(one, nth))
    }
  }
}

export function localSink(respond?: Respond): LocalSink {
  const { take, ...record } = recorder(respond)
  return { ...record, deliver: request => take({ method: 'POST', ...request }) }
}

/** What it is to overlook is answered and not recorded. */
export async function httpSink(
  t: Test,
  respond?: Respond,
  host = '127.0.0.1',
  overlook: (received: Received) => boolean = () => false
): Promise<Sink> {
  const { take, ...record } = recorder(respond)
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const one = {
        method: req.method!,
        path: req.url!,
        headers: req.headers as Record<string, string>,
        body: Buffer.concat(chunks)
      }
      if (overlook(one)) return res.writeHead(204).end()
      return take(one).then(
        ({ status, headers = {}, body = '' }) =>
          status === 0 ? req.socket.resetAndDestroy() : res.writeHead(status, headers).end(body),
        (err: unknown) => t.fail(String(err))
      )
    })
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { ...record, url: `http://${host}:${(server.address() as AddressInfo).port}/` }
}
