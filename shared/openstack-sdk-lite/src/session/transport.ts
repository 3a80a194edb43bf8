// The only file that knows axios and sockets: one request in, one answer or one OpenStackError out.
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import { create } from 'axios'
import type { Answer, Method } from '../call.ts'
import { type ErrorCode, OpenStackError } from '../error.ts'

export interface TransportOptions {
  /** certificates (PEM) that replace the system's */
  ca?: string | undefined
  /** accept any certificate; for trials only */
  insecure?: boolean | undefined
  connectTimeoutMs: number
  /** takes secrets out of a text */
  scrub: (text: string) => string
}

export interface Request {
  method: Method
  url: string
  headers: Record<string, string>
  body?: string | undefined
  signal: AbortSignal
}

export interface Transport {
  exchange(request: Request): Promise<Answer>
  close(): void
}

const largestAnswer = 64 * 2 ** 20

export function createTransport({ ca, insecure, connectTimeoutMs, scrub }: TransportOptions): Transport {
  const keep = { keepAlive: true, maxSockets: 32 }
  const httpAgent = limitConnect(new HttpAgent(keep), 'connect', connectTimeoutMs)
  const httpsAgent = limitConnect(
    new HttpsAgent({ ...keep, ...(ca && { ca }), rejectUnauthorized: !insecure }),
    'secureConnect',
    connectTimeoutMs
  )
  const client = create({
    adapter: 'http',
    httpAgent,
    httpsAgent,
    proxy: false, // axios would read it from the environment
    maxRedirects: 0, // a redirect would carry the token to another server
    maxContentLength: largestAnswer,
    responseType: 'text',
    validateStatus: () => true,
    transformRequest: [data => data],
    transformResponse: [data => data]
  })

  return {
    async exchange({ method, url, headers, body, signal }) {
      try {
        const { status, data, headers: got } = await client.request<string>({ method, url, headers, data: body, signal })
        return { status, body: parse(data, String(got['content-type'])), headers: got as Answer['headers'] }
      } catch (err) {
        throw signal.aborted && signal.reason instanceof OpenStackError ? signal.reason : lost(err, scrub)
      }
    },
    close() {
      httpAgent.destroy()
      httpsAgent.destroy()
    }
  }
}

function parse(data: string, contentType: string): unknown {
  if (!contentType.includes('json')) return data
  try {
    return data === '' ? '' : JSON.parse(data)
  } catch {
    return data // a proxy's page under a false flag: the decoder or the error reader will say what it is
  }
}

/** Node's agents only know an idle time-out; a host that drops packets would hold a request for minutes. */
function limitConnect<A extends HttpAgent>(agent: A, connected: string, timeoutMs: number): A {
  const open = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback): Duplex | null | undefined => {
    const socket = open(options, callback)
    if (!socket) return socket
    const timer = setTimeout(
      () => socket.destroy(Object.assign(new Error(`no connection within ${timeoutMs} ms`), { code: 'ECONNTIMEOUT' })),
      timeoutMs
    )
    const done = (): void => clearTimeout(timer)
    socket.once(connected, done).once('close', done)
    return socket
  }
  return agent
}

// nothing was sent, so even a write is known not to have happened
const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNTIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'])
const isTls = (code: string): boolean => /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)

function lost(err: unknown, scrub: TransportOptions['scrub']): OpenStackError {
  const { message: said, code = '' } = err as { message: string; code?: string }
  const message = scrub(said)
  const kind: ErrorCode = neverSent.has(code) || isTls(code) ? 'ConnectFailed' : 'ConnectionLost'
  // the axios error holds the whole request, token and password included: only its code and text go on
  const cause = Object.assign(new Error(message), { code })
  return new OpenStackError(kind, `${code || 'no code'}: ${message}`, { cause, maybeDone: kind === 'ConnectionLost' })
}
