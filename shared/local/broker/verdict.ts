// What an answer means (knative.md §3.2): done, try again, or give up, and what the dead letter will say.
import { BadEvent, claimsEvent, parseEvent, type Event } from './event.ts'
import { passedOn } from './request.ts'
import type { Answer, Headers } from './types.ts'

/** How a request ended. */
export type Result = { answer: Answer } | { failed: 'timeout' | 'unreachable'; message: string }

/** knativeerrorcode and the text in knativeerrordata. */
export interface Cause {
  code: number
  dest: string
  data: string
}

export interface Reply {
  event: Event
  passed: Headers
}

export type Verdict =
  | { done: true; reply?: Reply }
  | { done: false; retry: boolean; cause?: Pick<Cause, 'code' | 'data'>; retryAfter?: string }

/** knativeerrordata holds 1,024 characters of base64. Knative's dispatcher panics on more (knative.md §3.2); here it is cut. */
const DATA_BYTES = 768

/** For a subscriber, whose answer may be an event. */
export function judge(result: Result): Verdict {
  const verdict = judgePlain(result)
  if (!verdict.done || !('answer' in result)) return verdict
  const headers = result.answer.headers ?? {}
  const body = bytes(result.answer)
  if (!claimsEvent(headers)) return body.length === 0 ? { done: true } : FOREIGN_BODY
  try {
    return { done: true, reply: { event: parseEvent(headers, body), passed: passedOn(headers) } }
  } catch (err) {
    if (err instanceof BadEvent) return FOREIGN_BODY
    throw err
  }
}

/** Knative's filter turns this into a 502 of its own, hence no cause. */
const FOREIGN_BODY: Verdict = { done: false, retry: true }

/** For a dead-letter sink or a source's sink, where any 2xx will do. */
export function judgePlain(result: Result): Verdict {
  if ('failed' in result) {
    if (result.failed === 'timeout') return { done: false, retry: true }
    return { done: false, retry: true, cause: { code: 500, data: cut(Buffer.from(`dispatch error: ${result.message}`)) } }
  }
  const { status, headers } = result.answer
  if (status >= 200 && status < 300) return { done: true }
  if (status >= 300 && status < 400 && !redirects.has(status)) return { done: false, retry: false }
  const cause = { code: status, data: cut(bytes(result.answer)) }
  const retryAfter = headers?.['retry-after']
  return { done: false, retry: isRetried(status), cause, ...(retryAfter && asksToWait(status) && { retryAfter }) }
}

/** One that says no place is an answer like any other. */
const redirects = new Set([301, 302, 303, 307, 308])
const isRetried = (status: number): boolean => status >= 500 || [404, 408, 409, 429].includes(status)
const asksToWait = (status: number): boolean => status === 429 || status === 503

const bytes = ({ body }: Answer): Buffer => (body === undefined ? Buffer.alloc(0) : Buffer.from(body as Buffer))
const cut = (body: Buffer): string => body.subarray(0, DATA_BYTES).toString('base64')

/** Retry-After is seconds or a date (RFC 9110 §10.2.3). */
export function retryAfterMs(text: string, now: number): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Math.max(0, ms || 0)
}
