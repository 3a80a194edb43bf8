// A load that costs less than what it measures: 13 to 20 µs of CPU a request. Under autocannon two servers of different cost came out alike on
// two cores, since the load was the slower of the two processes.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface Press {
  port: number
  tls?: boolean
  connections: number
  /** As they go over the wire, sent in turns; see `requestOf`. */
  requests: readonly Buffer[]
  /** Ends after so many answers, or so many seconds. */
  amount?: number
  seconds?: number
}

export interface Pressed {
  answers: number
  perSecond: number
  p99: number
}

export function requestOf(path: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const all = { host: '127.0.0.1', ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

const headEnd = '\r\n\r\n'

/** Where the first answer in the text ends; -1 while it is not whole. */
export function answerEnd(text: string): number {
  const head = text.indexOf(headEnd)
  if (head < 0) return -1
  const start = head + headEnd.length
  const fields = text.slice(0, head).toLowerCase()
  if (fields.includes('\r\ntransfer-encoding: chunked')) {
    if (text.startsWith('0\r\n\r\n', start)) return start + 5
    const last = text.indexOf('\r\n0\r\n\r\n', start)
    return last < 0 ? -1 : last + 7
  }
  const end = start + Number(/\r\ncontent-length: (\d+)/.exec(fields)?.[1] ?? 0)
  return text.length < end ? -1 : end
}

async function connected({ port, tls = false }: Press): Promise<Socket> {
  const socket = tls
    ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, tls ? 'secureConnect' : 'connect')
  return socket
}

/** Each connection has one request under way at any time, the first when all are open. Any answer but a 2xx ends it all. */
export async function press(how: Press): Promise<Pressed> {
  const { connections, requests, amount, seconds = 1 } = how
  const sockets = await Promise.all(Array.from({ length: connections }, () => connected(how)))
  const latencies: number[] = []
  let sent = 0
  const from = performance.now()
  const isOver = (): boolean => (amount === undefined ? performance.now() - from >= seconds * 1000 : sent >= amount)

  const drive = (socket: Socket): Promise<void> =>
    new Promise((resolve, reject) => {
      let text = ''
      let startedAt = 0
      const send = (): void => {
        startedAt = performance.now()
        if (isOver()) socket.end(resolve)
        else socket.write(requests[sent++ % requests.length] as Buffer)
      }
      socket.on('error', reject).once('close', () => reject(new Error('the connection was closed'))) // no effect once it is over
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
        const end = answerEnd(text)
        if (end < 0) return
        if (text[9] !== '2') socket.destroy(new Error(`answered ${text.slice(9, 60)}`))
        text = text.slice(end)
        latencies.push(performance.now() - startedAt)
        if (!socket.destroyed) send()
      })
      send()
    })
  await Promise.all(sockets.map(drive))
  const passed = (performance.now() - from) / 1000
  const sorted = Float64Array.from(latencies).sort()
  return {
    answers: sorted.length,
    perSecond: sorted.length / passed,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
  }
}
