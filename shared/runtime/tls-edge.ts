import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { routeEdge, type RouteEdge } from './route-edge.ts'
import type { Service } from './service.ts'

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
export async function tlsEdge(service: Service, { port, host, dir, renewMs }: TlsEdgeOptions): Promise<RouteEdge> {
  const { log } = service
  let pair = await readPair(dir)
  // Longer than the 90 s that the API server keeps an idle connection: it is the one to close it, never while a request is on its way.
  const server = createServer({ ...pair, requestTimeout: 30_000, keepAliveTimeout: 120_000 })
  const edge = await routeEdge(server, service, port, host)
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
    port: edge.port,
    drain() {
      clearInterval(timer)
      return edge.drain()
    }
  }
}
