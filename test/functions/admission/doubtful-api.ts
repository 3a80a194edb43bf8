// Stands between the function and the API server, as a server that does not answer everything.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { Access } from '../../servers/access.ts'

export interface DoubtfulApi {
  server: string
  /** Requests for these are never answered. */
  hold(paths: RegExp | undefined): void
  /** Requests for these are forbidden; those that are under way end at once. */
  forbid(paths: RegExp | undefined): void
}

const forbidden = JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code: 403,
  reason: 'Forbidden',
  message: 'no'
})

export async function doubtfulApi(t: Test, api: Access): Promise<DoubtfulApi> {
  const agent = new Agent({ ca: readFileSync(api.ca), keepAlive: true })
  const running = new Map<ServerResponse, string>()
  let [held, denied]: Array<RegExp | undefined> = []
  const pass = (asked: IncomingMessage, answer: ServerResponse): void => {
    const { method, url = '', headers } = asked
    if (held?.test(url)) return
    if (denied?.test(url)) {
      answer.writeHead(403, { 'content-type': 'application/json' }).end(forbidden)
      return
    }
    running.set(answer, url)
    const onward = request(`${api.server}${url}`, { method, headers: { ...headers, host: new URL(api.server).host }, agent })
    onward.on('error', () => answer.destroy())
    onward.on('response', found => {
      found.on('error', () => answer.destroy())
      answer.writeHead(found.statusCode ?? 502, found.headers).flushHeaders() // a watch begins before it has anything to tell
      found.pipe(answer)
    })
    answer.on('close', () => {
      running.delete(answer)
      onward.destroy()
    })
    asked.pipe(onward)
  }
  const entrance = createServer({ cert: readFileSync(api.webhookCert), key: readFileSync(api.webhookKey) }, pass)
  await once(entrance.listen(0, '127.0.0.1'), 'listening')
  t.teardown(async () => {
    entrance.closeAllConnections()
    agent.destroy()
    await new Promise(resolve => entrance.close(resolve))
  })
  return {
    server: `https://127.0.0.1:${(entrance.address() as AddressInfo).port}`,
    hold: paths => void (held = paths),
    forbid(paths) {
      denied = paths
      for (const [answer, url] of running) if (paths?.test(url)) answer.destroy()
    }
  }
}
