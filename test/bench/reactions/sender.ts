// A broker that costs less than what it measures: so many requests at a time, each on a connection of its own.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { answerEnd } from '../lib/press.ts'

export interface Sender {
  /** how many more can be sent at once */
  free(): number
  /** the status of the answer; waits for a connection when all are in use, as what is sent again may */
  send(request: Buffer): Promise<number>
  close(): void
}

export async function sender(port: number, atOnce: number): Promise<Sender> {
  const idle = await Promise.all(
    Array.from({ length: atOnce }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      await once(socket, 'connect')
      return socket
    })
  )
  const all = [...idle]
  const waiting: Array<(socket: Socket) => void> = []
  return {
    free: () => idle.length,
    async send(request) {
      const socket = idle.pop() ?? (await new Promise<Socket>(resolve => waiting.push(resolve)))
      const answer = answerOf(socket)
      socket.write(request)
      const status = await answer
      const next = waiting.shift()
      if (next) next(socket)
      else idle.push(socket)
      return status
    },
    close: () => all.forEach(socket => socket.destroy())
  }
}

function answerOf(socket: Socket): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let text = ''
  const settle = (then: () => void): void => {
    socket.off('data', take).off('close', gone)
    then()
  }
  const take = (chunk: Buffer): void => {
    text += chunk.toString('latin1')
    if (answerEnd(text) >= 0) settle(() => resolve(Number(text.slice(9, 12))))
  }
  const gone = (): void => settle(() => reject(new Error('the function hung up')))
  socket.on('data', take).on('close', gone)
  return promise
}
