// What goes back to the client.
import type { ServerResponse } from 'node:http'
import { bytesOf, bytesOfList } from './encode.ts'
import type { Fields } from './object.ts'
import { ApiError } from './status.ts'

export interface Answer {
  code: number
  body: Fields | string
  warnings?: string[]
  type?: string
  headers?: Record<string, string>
}

export const isList = (body: Fields): body is Fields & { items: object[] } =>
  Array.isArray(body['items']) && String(body['kind']).endsWith('List')

export const warningsOf = (warnings: readonly string[]): string[] =>
  [...new Set(warnings)].map(warning => `299 - ${JSON.stringify(warning)}`)

export interface Encoded {
  code: number
  headers: Record<string, string | number | string[]>
  bytes: Buffer
}

export function encode({ code, body, warnings = [], type, headers: more }: Answer): Encoded {
  const bytes = typeof body === 'string' ? Buffer.from(body) : isList(body) ? bytesOfList(body) : bytesOf(body)
  const headers: Encoded['headers'] = {
    'content-type': type ?? (typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'),
    'cache-control': 'no-cache, private',
    'content-length': bytes.length,
    ...more
  }
  if (warnings.length > 0) headers.warning = warningsOf(warnings)
  return { code, headers, bytes }
}

export function send(response: ServerResponse, answer: Answer): void {
  const { code, headers, bytes } = encode(answer)
  response.writeHead(code, headers).end(bytes)
}

export function failure(err: unknown, onFault: (err: unknown) => void): Answer {
  if (err instanceof ApiError) return { code: err.code, body: err.toStatus() }
  onFault(err)
  const message = `Internal error occurred: ${err instanceof Error ? err.message : String(err)}`
  return { code: 500, body: new ApiError(500, 'InternalError', message, {}).toStatus() }
}
