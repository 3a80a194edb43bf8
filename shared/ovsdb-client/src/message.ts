// JSON-RPC 1.0 envelopes (RFC 7047 §4). ovsdb-server leaves `result` out of an error reply.
import { OvsdbError } from './error.ts'
import { isObject } from './json.ts'

export type Incoming =
  | { readonly kind: 'result'; readonly id: unknown; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: unknown; readonly error: unknown }
  | { readonly kind: 'request'; readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }
  | { readonly kind: 'notification'; readonly method: string; readonly params: readonly unknown[] }

export function readMessage(json: unknown): Incoming {
  if (!isObject(json)) throw new OvsdbError('protocol', 'a message must be an object')
  const { id = null, method, params, result, error = null } = json
  if (method !== undefined) {
    if (typeof method !== 'string' || !Array.isArray(params)) throw new OvsdbError('protocol', 'malformed request')
    return id === null ? { kind: 'notification', method, params } : { kind: 'request', id, method, params }
  }
  if (error !== null) return { kind: 'error', id, error }
  if (result === undefined) throw new OvsdbError('protocol', 'a reply has neither result nor error')
  return { kind: 'result', id, result }
}

export const writeRequest = (id: unknown, method: string, params: readonly unknown[]) => JSON.stringify({ id, method, params })
/** RFC 7047 §4.1.4: takes back a request that the server is still holding, e.g. for its `wait`. */
export const writeCancel = (id: unknown) => JSON.stringify({ id: null, method: 'cancel', params: [id] })
export const writeResult = (id: unknown, result: unknown) => JSON.stringify({ id, result, error: null })
export const writeError = (id: unknown, error: string) => JSON.stringify({ id, result: null, error })
