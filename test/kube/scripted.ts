import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { ConnectOptions, Kube, Pace } from '../../shared/kube/index.ts'
import { connect } from '../../shared/kube/index.ts'
import { kubeconfig } from './connected.ts'

/** Answers one request; the script is over when the test asks for more than it has. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void

export interface Scripted {
  kube: Kube
  /** Path and query of what was asked, in order. */
  asked: URL[]
  /** The pauses that were made, without making them. */
  pauses: number[]
}

/** An API server that does what no healthy one does. It fails the test on a request that the script does not foresee. */
export async function scripted(
  t: Test,
  answers: Answer[],
  { user = { token: 'x' }, ...options }: Partial<ConnectOptions> & { user?: object } = {}
): Promise<Scripted> {
  const asked: URL[] = []
  const pauses: number[] = []
  const server = createServer((request, response) => {
    asked.push(new URL(request.url!, 'http://server'))
    const answer = answers[asked.length - 1]
    if (answer) answer(response, request)
    else t.fail(`unexpected ${request.method} ${request.url}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  const pace: Pace = { delay: async ms => void pauses.push(ms), random: () => 1 }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const kube = await connect({ manager: 'drover-test', kubeconfig: await kubeconfig(t, url, user), pace, ...options })
  t.teardown(() => kube.close())
  return { kube, asked, pauses }
}

export const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  response => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

export const refuse = (code: number, reason: string, headers: Record<string, string> = {}, details?: object): Answer =>
  json(code, { kind: 'Status', code, reason, message: `${reason} it is`, details }, headers)

/** A watch that sends these bytes, one chunk each, and then ends, breaks, or says no more. */
export const stream =
  (chunks: Iterable<string | Buffer>, then: 'end' | 'break' | 'silence' = 'end'): Answer =>
  async response => {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    for (const chunk of chunks) await new Promise(resolve => response.write(chunk, resolve))
    if (then === 'end') response.end()
    if (then === 'break') response.destroy()
  }

export const silence: Answer = () => undefined
