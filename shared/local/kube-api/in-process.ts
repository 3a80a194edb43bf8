// Answers for those who ask in this very process: the same handling as of a request by HTTP, without a socket. The stored objects themselves
// are handed out, frozen, since everybody gets the same ones.
import type { Answer, InProcessServer, Request } from '../../kube/in-process.ts'
import { encode, failure, isList, warningsOf, type Answer as Given } from './answer.ts'
import type { Asked } from './body.ts'
import { handle, NoPage, type Reply, type Server } from './handle.ts'
import type { Outlet } from './watch.ts'

export const inProcess =
  (server: Server, onFault: (err: unknown) => void): InProcessServer =>
  (request, signal) =>
    new Promise((resolve, reject) => {
      const stop = (): void => reject(signal.reason as Error)
      if (signal.aborted) return stop()
      signal.addEventListener('abort', stop, { once: true })
      const answer = (given: Answer): void => {
        if (!given.events) signal.removeEventListener('abort', stop)
        resolve(given)
      }
      const reply: Reply = {
        send: given => answer(answered(given)),
        follow: () => {
          const { outlet, events } = link(signal)
          answer({ ...answered({ code: 200, body: '' }), events })
          return outlet
        },
        lose: () => reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
      }
      handle(server, asked(request), reply).catch((err: unknown) =>
        reply.send(err instanceof NoPage ? { code: 404, body: '404 page not found\n' } : failure(err, onFault))
      )
    })

const asked = ({ method, path, headers, body }: Request): Asked => ({
  method,
  url: path,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])), // as node:http has them
  destroy: () => {},
  async *[Symbol.asyncIterator]() {
    if (body) yield body
  }
})

/** A list is written down all the same: whoever asks for one makes its own of the items. */
function answered(given: Given): Answer {
  const { code, body, warnings = [], headers } = given
  const answer: Answer = {
    statusCode: code,
    headers: { ...headers, ...(warnings.length > 0 && { warning: warningsOf(warnings).join(', ') }) },
    resume: () => answer as never,
    destroy: () => answer as never,
    async *[Symbol.asyncIterator]() {
      yield encode(given).bytes
    },
    ...(typeof body !== 'string' && !isList(body) && { object: frozen(body) })
  }
  return answer
}

/** One who tells and one who listens, each waiting for the other. */
function link(signal: AbortSignal): { outlet: Outlet; events: AsyncIterable<unknown> } {
  const waiting: object[] = []
  let [isOver, isDropped] = [false, false]
  let wake = (): void => {}
  let taken = (): void => {}
  const closers: Array<() => void> = []
  const close = (): void => {
    isOver = true
    wake()
    taken()
    for (const closed of closers.splice(0)) closed()
  }
  signal.addEventListener('abort', close, { once: true })
  const outlet: Outlet = {
    tell(type, object) {
      if (isOver) return undefined
      waiting.push(Object.freeze({ type, object: frozen(object) }))
      wake()
      return new Promise(resolve => (taken = resolve))
    },
    onClose: closed => void closers.push(closed),
    end: close,
    drop() {
      isDropped = true
      close()
    }
  }
  async function* events(): AsyncGenerator {
    try {
      for (;;) {
        while (waiting.length > 0) {
          yield waiting.shift()
          taken()
        }
        if (signal.aborted) throw signal.reason
        if (isDropped) throw new Error('the watch was too slow')
        if (isOver) return
        await new Promise<void>(resolve => (wake = resolve))
      }
    } finally {
      signal.removeEventListener('abort', close)
      close()
    }
  }
  return { outlet, events: events() }
}

/** With all that is in it. Most of a new version is that of the one before, and frozen already. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const key in value) frozen(value[key])
  return value
}
