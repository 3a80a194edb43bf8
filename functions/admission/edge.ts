// The one place that knows HTTP here: a body in, an AdmissionReview out, and never a crash. On the path of every write to our kinds, so
// it allocates little and awaits nothing unless a look-up must.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Route } from '../../shared/runtime/function.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import { Malformed, readReview, type Review } from './review.ts'

/** What becomes of a readable review: the text of the answer. */
export type Answer = (review: Review) => string | Promise<string>

export interface Reply {
  status: number
  text: string
}

/** Always an answer: an AdmissionReview, or a status of 400 and more with a word of why. */
export function reply(body: string, answer: Answer, log: Logger): Reply | Promise<Reply> {
  const fail = (err: unknown): Reply => {
    if (err instanceof Malformed) return { status: 400, text: err.message }
    // Nothing that an API server stores is so deep that rules run out of stack over it.
    if (err instanceof RangeError) return { status: 422, text: 'the object is nested too deeply' }
    log.error({ err }, 'review failed')
    return { status: 500, text: 'failed' }
  }
  try {
    const answered = answer(readReview(body))
    return typeof answered === 'string' ? { status: 200, text: answered } : answered.then(text => ({ status: 200, text }), fail)
  } catch (err) {
    return fail(err)
  }
}

const json = 'application/json'
const plain = 'text/plain; charset=utf-8'

export function respond(request: IncomingMessage, response: ServerResponse, maxBytes: number, log: Logger, answer: Answer): void {
  const send = ({ status, text }: Reply): void => {
    // What is left of the body is of no interest, and nobody waits for it.
    if (!request.complete) response.setHeader('connection', 'close')
    response.statusCode = status
    response.setHeader('content-type', status === 200 ? json : plain)
    response.end(text) // without writeHead: head and body of a known length leave in one record of TLS, not in three
  }
  if (request.method !== 'POST') return send({ status: 405, text: 'reviews come by POST' })
  const chunks: Buffer[] = []
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
    else if (!response.headersSent) send({ status: 413, text: `a review of more than ${maxBytes} bytes is not read` })
  })
  request.on('end', () => {
    if (response.headersSent) return
    const replied = reply(text(chunks), answer, log)
    if ('status' in replied) send(replied)
    else void replied.then(send)
  })
}

const text = (chunks: Buffer[]): string => (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString('utf8')

export interface Edge {
  log: Logger
  maxBytes: number
}

export const route =
  <Deps extends Edge>(answer: (review: Review, deps: Deps) => string | Promise<string>): Route<Deps> =>
  (request, response, deps) =>
    respond(request, response, deps.maxBytes, deps.log, review => answer(review, deps))
