// The one place that knows HTTP here: a body in, an AdmissionReview out, and never a crash. On the path of every write to our kinds, so
// it allocates little and awaits nothing unless a look-up must.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Route } from '../../shared/runtime/function.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import { Malformed, readReview, type Review } from './review.ts'

/** What becomes of a readable review: the text of the answer. */
export type Answer = (review: Review) => string | Promise<string>

const json = { 'content-type': 'application/json' }
const plain = { 'content-type': 'text/plain; charset=utf-8' }

export function respond(request: IncomingMessage, response: ServerResponse, maxBytes: number, log: Logger, answer: Answer): void {
  const refuse = (status: number, why: string): void => {
    // What is left of the body is of no interest, and nobody waits for it.
    if (!request.complete) response.setHeader('connection', 'close')
    response.writeHead(status, plain).end(`${why}\n`)
  }
  if (request.method !== 'POST') return refuse(405, 'reviews come by POST')
  const chunks: Buffer[] = []
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
    else if (!response.headersSent) refuse(413, `a review of more than ${maxBytes} bytes is not read`)
  })
  request.on('end', () => {
    if (response.headersSent) return
    const send = (text: string): void => void response.writeHead(200, json).end(text)
    const fail = (err: unknown): void => {
      if (err instanceof Malformed) return refuse(400, err.message)
      // Nothing that an API server stores is so deep that rules run out of stack over it.
      if (err instanceof RangeError) return refuse(422, 'the object is nested too deeply')
      log.error({ err }, 'review failed')
      refuse(500, 'failed')
    }
    try {
      const answered = answer(readReview(text(chunks)))
      if (typeof answered === 'string') send(answered)
      else answered.then(send).catch(fail)
    } catch (err) {
      fail(err)
    }
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
