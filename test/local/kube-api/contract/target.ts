// What the contract runs against: the embedded API and the real one look the same from here.
import type { Test } from 'tap'
import { request, type Answer } from '../../../servers/request.ts'
import { widgets } from './widgets.ts'

export interface Target {
  server: string
  /** Path of the authority's certificate. */
  ca: string
  adminToken: string
  /** For the caller alone. */
  namespace: string
  /** Where a server that has a network of its own reaches a webhook of the test; loopback when left out. */
  hook?: HookPlace
}

/** All but the host in PEM. */
export interface HookPlace {
  host: string
  certificate: string
  key: string
  ca: string
}

export interface Body {
  kind?: string
  apiVersion?: string
  message?: string
  reason?: string
  code?: number
  details?: {
    name?: string
    group?: string
    kind?: string
    causes?: Array<{ reason?: string; message?: string; field?: string }>
  }
  metadata: Record<string, unknown> & {
    name?: string
    uid?: string
    resourceVersion?: string
    generation?: number
    managedFields?: ManagedFields[]
  }
  spec?: Record<string, unknown>
  status?: Record<string, unknown>
  items?: Body[]
  [field: string]: unknown
}

export interface ManagedFields {
  manager: string
  operation: string
  subresource?: string
  fieldsV1: unknown
}

export const apply = 'application/apply-patch+yaml'
export const merge = 'application/merge-patch+json'
export const jsonPatch = 'application/json-patch+json'
export const strategic = 'application/strategic-merge-patch+json'

export interface Api extends Target {
  /** The widgets of the target's namespace. */
  widgets: string
  call: (method: string, path: string, body?: unknown, type?: string, headers?: Record<string, string>) => Promise<Answer<Body>>
  /** Calls that must succeed give their body. */
  done: (method: string, path: string, body?: unknown, type?: string) => Promise<Body>
}

// Node sends a DELETE's body without saying how long it is, unless told.
const lengthOf = (method: string, body: unknown): Record<string, string> =>
  method === 'DELETE' && body !== undefined ? { 'content-length': String(Buffer.byteLength(JSON.stringify(body))) } : {}

export function connect(target: Target): Api {
  const call: Api['call'] = (method, path, body, type = 'application/json', headers = {}) =>
    request<Body>(target, method, path, body, { 'content-type': type, ...lengthOf(method, body), ...headers })
  return {
    ...target,
    widgets: `/apis/contract.drover.dev/v1/namespaces/${target.namespace}/widgets`,
    call,
    async done(method, path, body, type) {
      const answer = await call(method, path, body, type)
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    }
  }
}

export const widget = (name: string, spec: object = { color: 'red' }, metadata: object = {}): object => ({
  apiVersion: 'contract.drover.dev/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec
})

/** Asks again until the answer is right; the file's own time-out is the deadline. */
export async function until<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (isRight(answer)) return answer
    await new Promise(resolve => setImmediate(resolve))
  }
}

export async function installWidgets(api: Api): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${widgets.metadata.name}?fieldManager=contract&force=true`
  await api.done('PATCH', path, widgets, apply)
  await until(
    () => api.call('GET', api.widgets),
    ({ status }) => status === 200
  )
}

export interface Case {
  name: string
  send: [method: string, path: string, body?: unknown, type?: string, headers?: Record<string, string>]
  status: number
  reason?: string
  message?: string | RegExp
  /** Of the details; true when there are none to name. */
  causes?: Array<[reason: string, field: string]>
  warning?: string
}

// Ids and times differ from run to run.
export const anonymous = (text: string): string =>
  text.replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UID').replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')

export async function runCase(t: Test, api: Api, { name, send, status, reason, message, causes, warning }: Case): Promise<void> {
  await t.test(name, async t => {
    const answer = await api.call(...send)
    const { body } = answer
    t.equal(answer.status, status, 'status')
    if (status >= 400) t.match(body, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status }, 'a Status object')
    if (reason !== undefined) t.equal(body.reason ?? '', reason, 'reason')
    if (typeof message === 'string') t.equal(anonymous(body.message ?? ''), message, 'message')
    else if (message) t.match(body.message ?? '', message, 'message')
    if (causes)
      t.strictSame(
        body.details?.causes?.map(cause => [cause.reason, cause.field]),
        causes,
        'causes'
      )
    if (warning !== undefined) t.equal(String(answer.headers.warning ?? ''), warning, 'warning')
  })
}
