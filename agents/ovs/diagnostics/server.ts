// HTTPS only. Every request, allowed or not, gives one line of audit (OV-65), and nothing of a capture gets into it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Server, createServer } from 'node:https'
import { parseBindAddress } from '../../../shared/runtime/bind-address.ts'
import type { User } from '../../../shared/kube/index.ts'
import type { Logger } from '../../../shared/runtime/log.ts'
import type { Captures } from '../capture/captures.ts'
import { runTrace, startCapture } from './actions.ts'
import type { Admit, Question } from './access.ts'
import type { Certificate } from './certificate.ts'
import { readInput } from './input.ts'
import type { Limits, Weight } from './limits.ts'
import { Refusal } from './refusal.ts'
import { type Sight, listBridges, plain, showBond, showBridge, showDatapath, showFlows, showOvn, showPort } from './views.ts'

export interface DiagnosticsOptions {
  readonly certificate: Certificate
  readonly bindAddress: string
  readonly admit: Admit
  readonly limits: Limits
  readonly sight: Sight
  readonly captures: Captures
  readonly mirrorPorts: readonly string[]
  readonly log: Logger
  /** Traces are told as Events of Kubernetes; captures tell themselves. */
  readonly onTrace: (user: string, bridge: string) => void
  readonly count: (kind: string, verdict: string) => void
}

interface Asked {
  readonly id: string
  readonly query: URLSearchParams
  readonly body: string
  readonly user: User
  readonly accept: string
  /** What the audit says of the body, once it was found valid. */
  parameters?: object
}
type Answer = { readonly status: number; readonly body: unknown } | { readonly status: number; readonly file: Buffer }

interface Route extends Question {
  readonly method: string
  readonly path: RegExp
  readonly weight: Weight
  readonly handle: (asked: Asked) => Promise<Answer>
}

const maxBodyBytes = 16 * 1024
const maxReplyBytes = 4 * 1024 * 1024
const ok = (body: unknown, status = 200): Answer => ({ status, body })

function routes({ sight, captures, mirrorPorts, onTrace }: DiagnosticsOptions): Route[] {
  const look = { method: 'GET', subresource: 'diagnostics', verb: 'get', weight: 'brief' } as const
  const one = (collection: string, tail = '') => new RegExp(`^/v1/${collection}/([A-Za-z0-9_.:@-]{1,64})${tail}$`)
  const captured = (id: string) => {
    const state = captures.get(id)
    if (!state) throw new Refusal(404, `there is no capture ${id}`)
    return state
  }
  return [
    {
      method: 'POST',
      path: /^\/v1\/trace$/,
      subresource: 'trace',
      verb: 'create',
      weight: 'trace',
      handle: async asked => {
        const wish = readInput('trace', asked.body)
        asked.parameters = wish
        const answer = await runTrace(sight, wish)
        onTrace(asked.user.username, wish.bridge)
        return ok(answer)
      }
    },
    {
      method: 'POST',
      path: /^\/v1\/captures$/,
      subresource: 'captures',
      verb: 'create',
      weight: 'brief',
      handle: async asked => {
        const wish = readInput('capture', asked.body)
        asked.parameters = wish
        return ok(await startCapture(sight, captures, wish, asked.user.username, mirrorPorts), 201)
      }
    },
    {
      ...look,
      path: one('captures'),
      subresource: 'captures',
      handle: async ({ id, accept }) => {
        const state = captured(id)
        if (!accept.includes('application/x-pcapng')) return ok(state)
        return { status: 200, file: captures.file(id) ?? Buffer.alloc(0) }
      }
    },
    {
      method: 'DELETE',
      path: one('captures'),
      subresource: 'captures',
      verb: 'delete',
      weight: 'brief',
      handle: async ({ id }) => {
        const state = captured(id)
        await captures.delete(id)
        return ok({ ...state, state: 'ended' })
      }
    },
    { ...look, path: /^\/v1\/bridges$/, handle: async () => ok(await listBridges(sight)) },
    { ...look, path: one('bridges'), weight: 'dump', handle: async ({ id }) => ok(await showBridge(sight, id)) },
    {
      ...look,
      path: one('bridges', '/flows'),
      weight: 'dump',
      handle: async ({ id, query }) => ok(await showFlows(sight, id, query))
    },
    { ...look, path: one('ports'), handle: async ({ id }) => ok(await showPort(sight, id)) },
    { ...look, path: one('bonds'), handle: async ({ id }) => ok(await showBond(sight, id)) },
    { ...look, path: /^\/v1\/datapath$/, handle: async () => ok(await showDatapath(sight)) },
    { ...look, path: /^\/v1\/ovn$/, handle: async () => ok(await showOvn(sight)) }
  ]
}

export async function serveDiagnostics(options: DiagnosticsOptions): Promise<Server> {
  const { certificate, bindAddress, log } = options
  const table = routes(options)
  const server = createServer({ ...tlsOptions(certificate), requestTimeout: 30_000, maxHeaderSize: 16 * 1024 })
  server.on('request', (request, response) => void answer(request, response, table, options))
  const { host, port } = parseBindAddress(bindAddress)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(port, host, resolve)
  await promise
  server.off('error', reject).on('error', err => log.error({ err }, 'diagnostics'))
  return server
}

/** Connections made from now on are served with it. */
export const renew = (server: Server, certificate: Certificate): void => server.setSecureContext(tlsOptions(certificate))

const tlsOptions = ({ cert, key }: Certificate) => ({ cert, key, minVersion: 'TLSv1.2' as const })

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  table: readonly Route[],
  options: DiagnosticsOptions
): Promise<void> {
  const started = performance.now()
  const url = URL.parse(request.url ?? '/', 'https://agent') ?? new URL('https://agent') // anybody can send what is no path
  const route = table.find(({ method, path }) => method === request.method && path.test(url.pathname))
  let user: User | undefined
  let asked: Asked | undefined
  let given: Answer
  try {
    // whoever may ask nothing learns nothing, not even which paths there are
    user = await options.admit(request.headers.authorization, route ?? { subresource: 'diagnostics', verb: 'get' })
    options.limits.count(user.username)
    if (!route) throw new Refusal(404, 'there is no such view')
    const [, id = ''] = route.path.exec(url.pathname) ?? []
    const all: Asked = { id, query: url.searchParams, body: await readBody(request), user, accept: request.headers.accept ?? '' }
    asked = all
    given = await options.limits.within(route.weight, () => route.handle(all))
  } catch (error) {
    if (!(error instanceof Refusal)) options.log.error({ err: error, path: url.pathname }, 'diagnostics failed')
    given = error instanceof Refusal ? ok({ error: error.message }, error.status) : ok({ error: 'failed' }, 503)
  }
  const { status, type, bytes } = render(given)
  response.writeHead(status, { 'content-type': type, 'content-length': bytes.length, 'cache-control': 'no-store' }).end(bytes)
  options.count(route?.subresource ?? 'none', String(status))
  options.log.info(
    {
      audit: {
        user: user?.username ?? null,
        groups: user?.groups ?? [],
        method: request.method,
        path: url.pathname,
        query: url.search,
        parameters: asked?.parameters ?? null,
        verdict: status,
        durationMs: Math.round(performance.now() - started),
        bytes: bytes.length
      }
    },
    'diagnostics'
  )
}

/** OV-59: texts were cut before; what is too long all the same is told as such. */
function render(answer: Answer): { status: number; type: string; bytes: Buffer } {
  const { status } = answer
  if ('file' in answer) return { status, type: 'application/x-pcapng', bytes: answer.file }
  const bytes = Buffer.from(`${JSON.stringify(answer.body, plain)}\n`)
  if (bytes.length > maxReplyBytes) return render(ok({ error: `the answer has ${bytes.length} bytes: ask for less` }, 413))
  return { status, type: 'application/json', bytes }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBodyBytes) chunks.push(chunk) // the rest is read too, since nobody hears an answer while still speaking
  }
  if (size > maxBodyBytes) throw new Refusal(413, `more than ${maxBodyBytes} bytes`)
  return Buffer.concat(chunks).toString('utf8')
}
