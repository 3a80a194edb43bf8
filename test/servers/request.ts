import { readFileSync } from 'node:fs'
import { Agent, request as send } from 'node:https'
import type { Access } from './access.ts'

export interface Answer<T> {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: T
}

const agents = new Map<string, Agent>()
function agent(ca: string): Agent {
  const known = agents.get(ca)
  if (known) return known
  const made = new Agent({ ca: readFileSync(ca), keepAlive: true })
  agents.set(ca, made)
  return made
}

/** One request to the API server as its own words would have it: no retry, no error for a status. */
export function request<T = Record<string, unknown>>(
  api: Pick<Access, 'server' | 'ca' | 'adminToken'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {}
): Promise<Answer<T>> {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    const call = send(`${api.server}${path}`, {
      method,
      agent: agent(api.ca),
      headers: {
        authorization: `Bearer ${api.adminToken}`,
        'content-type': 'application/json',
        accept: 'application/json',
        ...headers
      }
    })
    call.on('error', reject).on('response', response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk)).on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const json = response.headers['content-type']?.includes('json') === true && text !== ''
        resolve({ status: response.statusCode as number, headers: response.headers, body: (json ? JSON.parse(text) : text) as T })
      })
    })
    call.end(payload)
  })
}
