// One webhook asked: the review it is sent, the answer it gives, and the words for when it gives none.
import { randomUUID } from 'node:crypto'
import { Agent as PlainAgent, request as sendPlain, type IncomingMessage } from 'node:http'
import { Agent, request as sendTls } from 'node:https'
import type { Admission } from './admission-cel.ts'
import { bytesOf } from './encode.ts'
import { at, fieldsOf, isFields, text, type Fields } from './object.ts'
import { ApiError } from './status.ts'

const largestAnswer = 3 * 1024 * 1024

/** Where a Service that a webhook names is reached from here; undefined when there is none. */
export type ResolveService = (service: { namespace: string; name: string }) => string | undefined

export interface Caller {
  ask: (webhook: Fields, request: Fields) => Promise<Fields>
  close: () => void
}

export function caller(resolve: ResolveService): Caller {
  const plain = new PlainAgent({ keepAlive: true })
  const agents = new Map<string, Agent>()
  const agentFor = (ca: string): Agent => {
    const agent = agents.get(ca) ?? new Agent({ keepAlive: true, ...(ca && { ca: Buffer.from(ca, 'base64') }) })
    agents.set(ca, agent)
    return agent
  }
  return {
    async ask(webhook, request) {
      const config = fieldsOf(webhook.clientConfig)
      const seconds = Number(webhook.timeoutSeconds ?? 10)
      const address = addressOf(config, resolve)
      address.searchParams.set('timeout', `${seconds}s`)
      const agent = address.protocol === 'http:' ? plain : agentFor(text(config.caBundle))
      const body = bytesOfReview(request)
      const response = at(JSON.parse(await exchange(address, agent, body, seconds * 1000)), 'response')
      if (!isFields(response) || response.uid !== request.uid)
        throw new Error(`expected response.uid=${JSON.stringify(request.uid)}, got ${JSON.stringify(at(response, 'uid') ?? '')}`)
      return response
    },
    close() {
      plain.destroy()
      for (const agent of agents.values()) agent.destroy()
    }
  }
}

function addressOf({ url, service }: Fields, resolve: ResolveService): URL {
  if (typeof url === 'string') return new URL(url)
  const { namespace, name, path, port = 443 } = fieldsOf(service)
  const base = resolve({ namespace: text(namespace), name: text(name) })
  if (base === undefined)
    throw new Error(
      `Post "https://${text(name)}.${text(namespace)}.svc:${Number(port)}${text(path)}": service "${text(name)}" not found`
    )
  return new URL(text(path) || '/', base)
}

export function requestOf({ call, operation, object, old }: Admission): Fields {
  const { resource, subresource, namespace, name, user, options } = call
  const kind = { group: resource.group, version: resource.version, kind: resource.kind }
  const plural = { group: resource.group, version: resource.version, resource: resource.plural }
  const optionsKind = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' }[operation]
  return {
    uid: randomUUID(),
    kind,
    resource: plural,
    ...(subresource && { subResource: subresource }),
    requestKind: kind,
    requestResource: plural,
    ...(subresource && { requestSubResource: subresource }),
    name,
    ...(namespace && { namespace }),
    operation,
    userInfo: user,
    object: object ?? null,
    oldObject: old ?? null,
    dryRun: options.dryRun,
    options: {
      kind: optionsKind,
      apiVersion: 'meta.k8s.io/v1',
      ...(operation !== 'DELETE' && { fieldManager: options.fieldManager })
    }
  }
}

const reviewStart = Buffer.from('{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"oldObject":')
const reviewEnd = Buffer.from('}')

/** The object as it is stored was told to others before, and its bytes are known. */
function bytesOfReview({ oldObject, ...request }: Fields): Buffer {
  const old = isFields(oldObject) ? bytesOf(oldObject) : Buffer.from('null')
  return Buffer.concat([reviewStart, old, Buffer.from(`,${JSON.stringify(request).slice(1)}`), reviewEnd])
}

function exchange(address: URL, agent: Agent | PlainAgent, body: Buffer, timeoutMs: number): Promise<string> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const described = (why: string): Error => new Error(`Post ${JSON.stringify(address.href)}: ${why}`)
  const send = address.protocol === 'http:' ? sendPlain : sendTls
  return new Promise((resolve, reject) => {
    const take = (response: IncomingMessage): void => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > largestAnswer) call.destroy(described('the answer is too large'))
        else chunks.push(chunk)
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString())
        else reject(described(`the server answered ${response.statusCode}`))
      })
    }
    const call = send(address, { method: 'POST', agent, headers, signal: AbortSignal.timeout(timeoutMs) }, take)
    call.on('error', err => reject(described(reason(err, address))))
    call.end(body)
  })
}

function reason(err: NodeJS.ErrnoException, { hostname, port }: URL): string {
  if (err.name === 'TimeoutError' || err.name === 'AbortError') return 'context deadline exceeded'
  if (err.code === 'ECONNREFUSED') return `dial tcp ${hostname}:${port}: connect: connection refused`
  return err.message
}

export function denial(name: string, status: Fields): ApiError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`
  const why = text(status.message) || text(status.reason)
  const code = typeof status.code === 'number' && status.code >= 400 ? status.code : 400
  const details = isFields(status.details) ? status.details : undefined
  return new ApiError(code, text(status.reason), why ? `${by}: ${why}` : `${by} without explanation`, details)
}
