// A client that keeps a number of writes in flight, and a watch that counts what it sees.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { json } from 'node:stream/consumers'

export interface Server {
  url: string
  token: string
  ca: string
}

const inFlight = 16

export class Client {
  readonly #server: Server
  readonly #agent: Agent

  constructor(server: Server) {
    this.#server = server
    this.#agent = new Agent({ keepAlive: true, maxSockets: inFlight + 1, ca: server.ca })
  }

  send(method: string, path: string, body: object, type: string): Promise<void> {
    const payload = JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${this.#server.token}`,
      'content-type': type,
      'content-length': Buffer.byteLength(payload)
    }
    return new Promise((resolve, reject) => {
      const call = request(`${this.#server.url}${path}`, { method, agent: this.#agent, headers }, response => {
        response
          .resume()
          .on('error', reject)
          .on('end', () => {
            if ((response.statusCode ?? 500) < 300) resolve()
            else reject(new Error(`${method} ${path}: ${response.statusCode}`))
          })
      })
      call.on('error', reject).end(payload)
    })
  }

  /** All of the jobs, some at a time. */
  async all(jobs: Iterable<() => Promise<void>>): Promise<void> {
    const queue = jobs[Symbol.iterator]()
    const work = async (): Promise<void> => {
      for (let next = queue.next(); !next.done; next = queue.next()) await next.value()
    }
    await Promise.all(Array.from({ length: inFlight }, work))
  }

  /** The version of the whole list, from which on a watch sees what is new. */
  async version(path: string): Promise<string> {
    const headers = { authorization: `Bearer ${this.#server.token}` }
    const call = request(`${this.#server.url}${path}?limit=1`, { agent: this.#agent, headers }).end()
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    return ((await json(response)) as { metadata: { resourceVersion: string } }).metadata.resourceVersion
  }

  /** Resolves `seen` when the watch has sent so many changes. */
  async watch(path: string, count: number): Promise<{ seen: Promise<void> }> {
    const headers = { authorization: `Bearer ${this.#server.token}` }
    const from = `?watch=1&resourceVersion=${await this.version(path)}`
    const call = request(`${this.#server.url}${path}${from}`, { agent: this.#agent, headers })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    await new Promise<void>((started, failed) => {
      call.on('error', failed).on('response', response => {
        started()
        let left = count
        response.on('error', reject).on('data', (chunk: Buffer) => {
          for (const byte of chunk) if (byte === 10 && --left === 0) resolve()
        })
      })
      call.end()
    })
    return { seen: promise }
  }

  close(): void {
    this.#agent.destroy()
  }
}

const api = '/apis/kvm.cloud.sap/v1/hypervisors'
const manager = '?fieldManager=bench&force=true'

const hypervisor = (i: number, round: string): object => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Hypervisor',
  metadata: { name: `bench-${i}`, labels: { 'topology.kubernetes.io/zone': `zone-${i % 3}`, round } },
  spec: { maintenanceReason: `round ${round}` }
})

/** So many applies over 1,000 hypervisors, and a watch that sees each of them: how many a second. An earlier run has other contents. */
export async function applies(server: Server, count: number, run: number): Promise<number> {
  const client = new Client(server)
  const { seen } = await client.watch(api, count)
  const started = performance.now()
  await client.all(
    Array.from({ length: count }, (_, n) => () => {
      const i = n % 1000
      return client.send(
        'PATCH',
        `${api}/bench-${i}${manager}`,
        hypervisor(i, `${run}-${Math.floor(n / 1000)}`),
        'application/apply-patch+yaml'
      )
    })
  )
  await seen
  const seconds = (performance.now() - started) / 1000
  client.close()
  return count / seconds
}

export async function fill(server: Server, hypervisors: number, small: number): Promise<void> {
  const client = new Client(server)
  await client.all(
    Array.from(
      { length: hypervisors },
      (_, i) => () => client.send('PATCH', `${api}/bench-${i}${manager}`, hypervisor(i, 'filled'), 'application/apply-patch+yaml')
    )
  )
  const path = '/api/v1/namespaces/default/configmaps'
  const body = (i: number): object => ({
    metadata: { name: `small-${i}`, labels: { bench: 'yes' } },
    data: { key: `value ${i}` }
  })
  await client.all(Array.from({ length: small }, (_, i) => () => client.send('POST', path, body(i), 'application/json')))
  client.close()
}
