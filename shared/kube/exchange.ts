import { request as requestPlain } from 'node:http'
import type { RequestOptions } from 'node:https'
import { request as requestTls } from 'node:https'
import type { Status } from './errors.ts'
import { fromStatus, KubeError } from './errors.ts'
import { inProcessServers, type Answer } from './in-process.ts'

export interface Message {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With its query. */
  path: string
  body?: unknown
  contentType?: string
}

const maxBodyBytes = 64 * 1024 * 1024

/** One request, and its answer as soon as that begins. */
export function exchange(
  server: URL,
  options: RequestOptions,
  message: Message,
  userAgent: string,
  signal: AbortSignal
): Promise<Answer> {
  const body = message.body === undefined ? undefined : Buffer.from(JSON.stringify(message.body))
  const headers: Record<string, string> = { ...(options.headers as Record<string, string>), accept: 'application/json' }
  headers['user-agent'] = userAgent
  if (body) {
    headers['content-type'] = message.contentType ?? 'application/json'
    headers['content-length'] = String(body.length)
  }
  const inProcess = inProcessServers.get(server.origin)
  if (inProcess) return inProcess({ method: message.method, path: message.path, headers, body }, signal)
  const url = `${server.origin}${server.pathname.replace(/\/$/, '')}${message.path}`
  const request = server.protocol === 'http:' ? requestPlain : requestTls
  return new Promise((resolve, reject) => {
    request(url, { ...options, method: message.method, headers, signal }, resolve)
      .on('error', reject)
      .end(body)
  })
}

export const isSuccess = ({ statusCode = 0 }: Answer): boolean => statusCode >= 200 && statusCode < 300

export async function refusal(response: Answer): Promise<KubeError> {
  const text = await readText(response)
  const seconds = Number(response.headers['retry-after'])
  return fromStatus(response.statusCode ?? 0, statusOf(text), Number.isFinite(seconds) ? seconds * 1000 : undefined)
}

/** A proxy, or a server that is still starting, refuses in plain text. */
function statusOf(text: string): Status {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return body
  } catch {
    // then the text itself is the message
  }
  return { message: text.trim().slice(0, 512) }
}

export async function readJson<T>(response: Answer): Promise<T> {
  if (response.object !== undefined) return response.object as T
  const text = await readText(response)
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new KubeError('Malformed', 'the answer is not JSON', { cause })
  }
}

export async function readText(response: Answer): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) throw new KubeError('TooLarge', `an answer of more than ${maxBodyBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
