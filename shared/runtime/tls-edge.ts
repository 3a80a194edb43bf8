import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Service } from './service.ts'

export interface TlsEdge {
  url: string
  /** Refuses what comes, waits for what runs. */
  drain: () => Promise<void>
}

export interface TlsEdgeOptions {
  port: number
  host: string
  /** Holds tls.crt and tls.key, as a mounted Secret of the type kubernetes.io/tls does. */
  dir: string
  /** How often the pair is looked at: certificates are renewed while we run. */
  renewMs: number
}

// TLS itself takes an empty file or a foreign key without a word, and then refuses every handshake.
async function readPair(dir: string): Promise<{ cert: string; key: string }> {
  const [cert, key] = await Promise.all([readFile(join(dir, 'tls.crt'), 'utf8'), readFile(join(dir, 'tls.key'), 'utf8')])
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error(`tls.crt and tls.key of ${dir} do not fit together`)
  return { cert, key }
}

/** A second port for the routes alone, over TLS: the API server calls webhooks in no other way. */
export async function tlsEdge({ route, log }: Service, { port, host, dir, renewMs }: TlsEdgeOptions): Promise<TlsEdge> {
  let pair = await readPair(dir)
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const server = createServer({ ...pair, requestTimeout: 30_000 }, (request, response) => {
    const answered = route(request.method ?? 'GET', request.url ?? '/')?.(request, response, stopping.signal)
    if (answered) {
      running.add(answered)
      void answered.finally(() => running.delete(answered))
    } else response.writeHead(404).end()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))

  const renew = async (): Promise<void> => {
    const found = await readPair(dir)
    if (found.cert === pair.cert && found.key === pair.key) return
    server.setSecureContext(found)
    pair = found
    log.info('took the new certificate')
  }
  // While a Secret is being replaced the two may not fit: the old pair stays until they do.
  const timer = setInterval(() => renew().catch((err: unknown) => log.warn({ err }, 'the new certificate is unusable')), renewMs)
  timer.unref()
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async drain() {
      clearInterval(timer)
      stopping.abort()
      const closed = new Promise(resolve => server.close(resolve))
      await Promise.all(running)
      server.closeAllConnections()
      await closed
    }
  }
}
