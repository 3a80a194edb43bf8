import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './receive.ts'
import type { Service } from './service.ts'

export interface EventEdgeOptions {
  bodyLimit: number
  /** Called around the handling of an event, whether or not its sender waits for the answer. */
  begun: () => void
  finished: () => void
  stopping: AbortSignal
}

/** Answers one POST as an event. */
export type TakeEvent = (service: Service, request: IncomingMessage, response: ServerResponse) => void

/** Events by POST. What a framework does for a request costs as much as all that we do for an event, so none is asked here. */
export function eventEdge({ bodyLimit, begun, finished, stopping }: EventEdgeOptions): TakeEvent {
  return (service, request, response) => {
    const answer = ({ status, body }: Answer): void => {
      response.statusCode = status
      if (stopping.aborted) response.setHeader('connection', 'close')
      if (body === undefined) {
        response.end()
      } else {
        response.setHeader('content-type', 'text/plain; charset=utf-8')
        response.end(body)
      }
    }
    const refuse = (status: number, reason: string): void => {
      service.unreadable(status, reason)
      response.setHeader('connection', 'close') // more of it may be under way
      answer({ status, body: reason })
    }
    const handle = async (body: Buffer): Promise<void> => {
      begun()
      try {
        answer(await service.receive({ headers: request.rawHeaders, body }))
      } catch (err) {
        service.log.error({ err }, 'request failed')
        answer({ status: 503, body: 'failed, to be sent again' })
      } finally {
        finished()
      }
    }
    readBody(request, bodyLimit, handle, refuse)
  }
}

/** Ends in one of the two, or in none when the sender is gone before its body is whole. */
function readBody(
  request: IncomingMessage,
  limit: number,
  whole: (body: Buffer) => Promise<void>,
  refuse: (status: number, reason: string) => void
): void {
  let chunks: Buffer[] = []
  let length = 0
  const take = (chunk: Buffer): void => {
    length += chunk.length
    if (length <= limit) {
      chunks.push(chunk)
      return
    }
    chunks = []
    request.off('data', take).off('end', end)
    request.resume() // unread bytes would turn the end of the connection into a reset, and the answer would be lost
    refuse(413, 'the body is too large')
  }
  const end = (): void => void whole(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length))
  if (Number(request.headers['content-length']) > limit) refuse(413, 'the body is too large')
  else request.on('data', take).on('end', end)
}
