// What a refusal says: each service has its own way to put its words into JSON.
import { type Answer, type Call, isRead, label } from '../call.ts'
import { type ErrorCode, OpenStackError } from '../error.ts'
import type { Secrets } from './secrets.ts'

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  406: 'NotAcceptable',
  409: 'Conflict',
  413: 'TooManyRequests', // Nova before 2013 and some proxies say it this way, with Retry-After
  429: 'TooManyRequests'
}

export function fromAnswer(row: Call<string, unknown>, answer: Answer, secrets: Secrets, nowMs: number): OpenStackError {
  const { status } = answer
  const code = codes[status] ?? (status >= 500 ? 'ServiceFault' : status >= 400 ? 'BadRequest' : 'UnexpectedStatus')
  const { words, reason } = read(answer.body, secrets.scrub)
  return new OpenStackError(code, [status, words ?? code].join(' '), {
    call: label(row),
    status,
    requestId: requestIdOf(answer),
    words,
    reason,
    retryAfterMs: retryAfter(answer.headers['retry-after'], nowMs),
    maybeDone: !isRead(row) && (status >= 500 || code === 'UnexpectedStatus')
  })
}

export const requestIdOf = ({ headers }: Pick<Answer, 'headers'>): string | undefined =>
  headers['x-openstack-request-id'] ?? headers['x-compute-request-id']

// Nova: {"conflictingRequest": {"code": 409, "message": "…"}}   Keystone: {"error": {"message": "…"}}
// Placement: {"errors": [{"detail": "…", "code": "placement.…"}]}   Neutron: {"NeutronError": {"message": "…"}}   Glance: HTML
function read(body: unknown, scrub: Secrets['scrub']): { words?: string; reason?: string } {
  if (typeof body === 'string') return body === '' ? {} : { words: scrub(plain(body)).slice(0, longestPage) }
  if (typeof body !== 'object' || body === null) return {}
  if ('errors' in body && Array.isArray(body.errors)) return fields(body.errors[0], 'detail', 'code', scrub)
  return fields(Object.values(body)[0], 'message', 'type', scrub)
}

function fields(fault: unknown, words: string, reason: string, scrub: Secrets['scrub']): { words?: string; reason?: string } {
  if (typeof fault === 'string') return { words: scrub(fault) }
  const given = (fault ?? {}) as Record<string, unknown>
  return {
    ...(typeof given[words] === 'string' && { words: scrub(given[words].trim()) }),
    ...(typeof given[reason] === 'string' && { reason: scrub(given[reason]) })
  }
}

const longestPage = 500 // cut after secrets were taken out: half a secret is one too

const plain = (html: string): string =>
  html
    .replace(/<head>.*?<\/head>|<[^>]+>/gs, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** RFC 9110 §10.2.3: seconds or a date */
export function retryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
