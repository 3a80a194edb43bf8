import { createServer, type Server } from 'node:http'

/** Knative's own, in the same pod (H2). */
const reserved = new Set([8008, 8012, 8013, 8022, 8112, 9090, 9091])

export interface Address {
  host: string | undefined
  port: number
}

/** `:8081` or `127.0.0.1:8081`; throws with the variable's name, so that the process does not start (CF1). */
export function parseAddress(variable: string, text: string): Address {
  const [, host, digits] = /^(?:\[?([^\]]*?)\]?)?:(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535) throw new Error(`${variable} is ${text}, expected an address such as :8081`)
  if (reserved.has(port)) throw new Error(`${variable} is ${text}, but Knative keeps port ${port} for itself`)
  return { host: host || undefined, port }
}

export interface Pages {
  metrics: () => Promise<string>
  problem: () => Promise<string | undefined>
}

/** The seed's three paths on a port of their own, for whoever does not want them on the function's. */
export async function servePages({ host, port }: Address, { metrics, problem }: Pages): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.url === '/healthz') return response.writeHead(200).end('ok\n')
    if (request.url === '/readyz') {
      const why = await problem()
      return response.writeHead(why === undefined ? 200 : 500).end(`${why ?? 'ok'}\n`)
    }
    if (request.url === '/metrics')
      return response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(await metrics())
    return response.writeHead(404).end()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return server
}
