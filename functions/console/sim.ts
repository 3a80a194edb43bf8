// The simulated fleet of `npm start`, for the buttons of the page. In a cluster there is none, and nothing here answers: the page only reads.
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { SimulatorAddress } from '../../shared/runtime/simulator.ts'

export interface SimAnswer {
  status: number
  body: string
}

const timeoutMs = 20_000
const maxBodyBytes = 10_000

const loopback = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/

/**
 * Only what this very page asks: another site in the same browser could send a form here, but not with this type and from this origin;
 * and a name of its own that it lets point here is none of ours.
 */
function isOurs({ headers }: IncomingMessage): boolean {
  const { origin, host = '', 'content-type': type = '' } = headers
  return type.startsWith('application/json') && loopback.test(host) && (origin === undefined || origin === `http://${host}`)
}

const refused = (status: number, error: string): SimAnswer => ({ status, body: JSON.stringify({ error }) })

export async function askSimulator(file: string | undefined, request: IncomingMessage, path: string): Promise<SimAnswer> {
  const { method = 'GET' } = request
  if (file === undefined)
    return path === '/actions' ? { status: 200, body: '{"actions":[]}' } : refused(404, 'there is no simulated fleet here')
  const known = method === 'GET' ? path === '/actions' || path === '/fleet' : /^\/actions\/[a-z-]+$/.test(path)
  if (!known) return refused(404, 'there is no such page')
  if (method !== 'GET' && (method !== 'POST' || !isOurs(request))) return refused(403, 'only this page may do that')
  const address = await readFile(file, 'utf8').catch(() => undefined)
  if (address === undefined) return refused(503, 'the simulated fleet is not up yet')
  const { url, token } = JSON.parse(address) as SimulatorAddress
  const body = method === 'POST' ? await text(request) : undefined
  if ((body?.length ?? 0) > maxBodyBytes) return refused(413, 'too long')
  try {
    return await ask(url + path, token, method, body)
  } catch {
    return refused(503, 'the simulated fleet does not answer')
  }
}

async function ask(url: string, token: string, method: string, body: string | undefined): Promise<SimAnswer> {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
    ...(body !== undefined && { body })
  })
  return { status: answer.status, body: await answer.text() }
}
