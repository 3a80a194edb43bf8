// Calls validating webhooks as the real server does: all that match at once, each with its own time-out and failure policy.
import { randomUUID } from 'node:crypto'
import { Agent, request as send } from 'node:https'
import type { Admit, Call, Cluster } from './cluster.ts'
import { at, fieldsOf, isFields, listOf, text, type Fields } from './object.ts'
import { ApiError, badRequest } from './status.ts'
import { concerns, meetsConditions, type Admission } from './webhook-match.ts'

const shelf = 'admissionregistration.k8s.io/validatingwebhookconfigurations'
const largestAnswer = 3 * 1024 * 1024

export interface Webhooks {
  admit: Admit
  close(): void
}

export function webhooks(cluster: Omit<Cluster, 'admit'>): Webhooks {
  const agents = new Map<string, Agent>()
  const agentFor = (ca: string): Agent => {
    const agent = agents.get(ca) ?? new Agent({ keepAlive: true, ...(ca && { ca: Buffer.from(ca, 'base64') }) })
    agents.set(ca, agent)
    return agent
  }

  async function ask(webhook: Fields, admission: Admission): Promise<void> {
    const { call } = admission
    const name = String(webhook.name)
    const request = requestOf(admission)
    try {
      if (!meetsConditions(webhook, request, admission)) return
      const response = await post(webhook, request, agentFor)
      call.warnings.push(...listOf(response.warnings).map(String))
      if (response.allowed !== true) throw denial(name, fieldsOf(response.status))
    } catch (err) {
      if (err instanceof ApiError) throw err
      if (webhook.failurePolicy === 'Ignore') return
      const message = `Internal error occurred: failed calling webhook ${JSON.stringify(name)}: failed to call webhook: ${(err as Error).message}`
      throw new ApiError(500, 'InternalError', message, {
        causes: [{ message: message.replace('Internal error occurred: ', '') }]
      })
    }
  }

  return {
    async admit(call, operation, object, old) {
      const admission = { call, operation, object, old }
      const configured = cluster.store.list(shelf)
      if (configured.length === 0) return
      const concerned = configured
        .flatMap(configuration => listOf(configuration.webhooks).map(fieldsOf))
        .filter(webhook => concerns(cluster as Cluster, webhook, admission))
      refuseSideEffects(call, concerned)
      const answers = await Promise.allSettled(concerned.map(webhook => ask(webhook, admission)))
      for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
    },
    close: () => agents.forEach(agent => agent.destroy())
  }
}

function refuseSideEffects({ options }: Call, concerned: Fields[]): void {
  const risky = options.dryRun && concerned.find(webhook => !['None', 'NoneOnDryRun'].includes(String(webhook.sideEffects)))
  if (risky) throw badRequest(`admission webhook ${JSON.stringify(risky.name)} does not support dry run`)
}

function requestOf({ call, operation, object, old }: Admission): Fields {
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

async function post(webhook: Fields, request: Fields, agentFor: (ca: string) => Agent): Promise<Fields> {
  const { url, caBundle } = fieldsOf(webhook.clientConfig)
  if (typeof url !== 'string') throw new Error('only clientConfig.url is served here, a service reference is not')
  const seconds = Number(webhook.timeoutSeconds ?? 10)
  const address = new URL(url)
  address.searchParams.set('timeout', `${seconds}s`)
  const body = JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request })
  const agent = agentFor(typeof caBundle === 'string' ? caBundle : '')
  const answer = await exchange(address, agent, body, seconds * 1000)
  const response = at(JSON.parse(answer), 'response')
  if (!isFields(response) || response.uid !== request.uid)
    throw new Error(`expected response.uid=${JSON.stringify(request.uid)}, got ${JSON.stringify(at(response, 'uid') ?? '')}`)
  return response
}

function exchange(address: URL, agent: Agent, body: string, timeoutMs: number): Promise<string> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const described = (why: string): Error => new Error(`Post ${JSON.stringify(address.href)}: ${why}`)
  return new Promise((resolve, reject) => {
    const call = send(address, { method: 'POST', agent, headers, signal: AbortSignal.timeout(timeoutMs) }, response => {
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
    })
    call.on('error', err => reject(described(reason(err, address))))
    call.end(body)
  })
}

function reason(err: NodeJS.ErrnoException, { hostname, port }: URL): string {
  if (err.name === 'TimeoutError' || err.name === 'AbortError') return 'context deadline exceeded'
  if (err.code === 'ECONNREFUSED') return `dial tcp ${hostname}:${port}: connect: connection refused`
  return err.message
}

function denial(name: string, status: Fields): ApiError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`
  const why = text(status.message) || text(status.reason)
  const code = typeof status.code === 'number' && status.code >= 400 ? status.code : 400
  const details = isFields(status.details) ? status.details : undefined
  return new ApiError(code, text(status.reason), why ? `${by}: ${why}` : `${by} without explanation`, details)
}
