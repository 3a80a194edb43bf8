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
}

const isList = (body: Fields): body is Fields & { items: object[] } =>
  Array.isArray(body['items']) && String(body['kind']).endsWith('List')

export function send(response: ServerResponse, { code, body, warnings = [], type }: Answer): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : isList(body) ? bytesOfList(body) : bytesOf(body)
  const headers: Record<string, string | number | string[]> = {
    'content-type': type ?? (typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'),
    'cache-control': 'no-cache, private',
    'content-length': bytes.length
  }
  const told = [...new Set(warnings)].map(warning => `299 - ${JSON.stringify(warning)}`)
  if (told.length > 0) headers.warning = told
  response.writeHead(code, headers).end(bytes)
}

export function failure(err: unknown, onFault: (err: unknown) => void): Answer {
  if (err instanceof ApiError) return { code: err.code, body: err.toStatus() }
  onFault(err)
  const message = `Internal error occurred: ${err instanceof Error ? err.message : String(err)}`
  return { code: 500, body: new ApiError(500, 'InternalError', message, {}).toStatus() }
}
