import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Service } from './service.ts'
import { underWay } from './under-way.ts'

export interface RouteEdge {
  port: number
  /** Refuses what comes, waits for what runs. */
  drain: () => Promise<void>
}

/** A port for the routes of a function alone, on a server that knows or does not know TLS. */
export async function routeEdge(
  server: Server,
  { route }: Pick<Service, 'route'>,
  port: number,
  host: string
): Promise<RouteEdge> {
  const stopping = new AbortController()
  const { begun, over, idle } = underWay()
  server.on('request', (request, response) => {
    const answering = route(request.method ?? 'GET', request.url ?? '/')
    if (!answering) {
      response.writeHead(404).end()
      return
    }
    begun()
    answering(request, response, stopping.signal, over)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async drain() {
      stopping.abort()
      const closed = new Promise(resolve => server.close(resolve))
      await idle()
      server.closeAllConnections()
      await closed
    }
  }
}
