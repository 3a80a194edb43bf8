// The HTTP side of the ingress (knative.md §3.1), on loopback only.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLetterPage, letterPage, type LetterBox } from './dead-letter-pages.ts'
import type { Hub } from './hub.ts'
import type { Answer, Headers, Log } from './types.ts'

export interface Ingress {
  /** http://127.0.0.1:PORT */
  url: string
  close: () => Promise<void>
}

export async function listen(port: number, log: Log, hub: Hub, letters: LetterBox): Promise<Ingress> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    answer(req, hub, letters).then(
      result => respond(res, result),
      (err: unknown) => {
        log.error({ err }, 'the ingress failed')
        respond(res, { status: 500 })
      }
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => close(server) }
}

async function answer(req: IncomingMessage, hub: Hub, letters: LetterBox): Promise<Answer> {
  const { method = 'GET', url = '/' } = req
  if (isLetterPage(url)) return letterPage(method, url, letters)
  if (method === 'OPTIONS') return { status: 200, headers: { 'webhook-allowed-origin': '*', 'webhook-allowed-rate': '*' } }
  if (method !== 'POST') return { status: 405 }
  if (url === '/') return { status: 404 }
  const [, namespace, name, ...more] = url.replace(/\/$/, '').split('/')
  if (!namespace || !name || more.length > 0) return { status: 400, body: 'the path is not /NAMESPACE/BROKER' }

  const { chunks, held, whole } = await read(req, hub)
  try {
    if (!whole) return TOO_MUCH
    return await hub.receive(
      `${namespace}/${name}`,
      req.headers as Headers,
      chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    )
  } finally {
    hub.release(held)
  }
}

interface Read {
  chunks: Buffer[]
  /** Bytes reserved. */
  held: number
  whole: boolean
}

/** Events rather than `for await`, which costs more than all the rest of a small request. */
function read(req: IncomingMessage, hub: Hub): Promise<Read> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let held = 0
    req.on('data', (chunk: Buffer) => {
      if (!hub.reserve(chunk.length)) return resolve({ chunks, held, whole: false })
      held += chunk.length
      chunks.push(chunk)
    })
    req.on('end', () => resolve({ chunks, held, whole: true }))
    req.on('error', () => resolve({ chunks, held, whole: false })) // the sender is gone: nobody reads the answer
  })
}

const TOO_MUCH: Answer = { status: 429, headers: { 'retry-after': '1', connection: 'close' }, body: 'too much data is waiting' }

function respond(res: ServerResponse, { status, headers, body = '' }: Answer): void {
  res.writeHead(status, { allow: 'POST, OPTIONS', 'content-length': Buffer.byteLength(body), ...headers }).end(body)
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}
