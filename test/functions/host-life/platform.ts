// Functions under their own ServiceAccounts on a real API server, with the cluster agent and a relay in place of the broker.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { clusterAgent } from '../../../agents/cluster/agent.ts'
import { startAgent } from '../../../shared/runtime/agent.ts'
import type { DroverFunction } from '../../../shared/runtime/function.ts'
import { serve } from '../../../shared/runtime/serve.ts'
import type { Access } from '../../servers/access.ts'
import { asServiceAccount } from '../../servers/identity.ts'

export interface Running {
  /** One event to one function; its answer. */
  post(fn: string, type: string, data: object, attributes?: Record<string, string>): Promise<number>
  hypervisorChanged(fn: string, name: string): Promise<number>
  /** To every function that reacts to it. */
  tick(speed: 'fast' | 'slow', ...only: string[]): Promise<number[]>
  /** Where a function answers. */
  url(fn: string): string
  /** The cluster agent, so that changes are told by themselves. */
  watch(): Promise<void>
  /** What agents send here goes to every function that reacts to it, as by the broker's Triggers. */
  relay(heard?: (type: string, body: string) => void): Promise<string>
}

const ping = 'dev.knative.sources.ping'

export async function run(
  t: Test,
  api: Access,
  functions: readonly DroverFunction[],
  env: Record<string, string>,
  envOf: Record<string, Record<string, string>> = {}
): Promise<Running> {
  const urls = new Map<string, string>()
  for (const fn of functions) {
    const kubeconfig = await asServiceAccount(t, api, `${fn.name}.yaml`, fn.name)
    const base = { KUBECONFIG: kubeconfig, LOG_LEVEL: process.env['TEST_LOG'] ?? 'fatal', HOST: '127.0.0.1', PORT: '0' }
    const served = await serve(fn, { env: { ...base, K_SINK: 'http://127.0.0.1:9', ...env, ...envOf[fn.name] } })
    t.teardown(() => served.close())
    urls.set(fn.name, served.url)
  }
  const reacts = (type: string): string[] =>
    functions.filter(({ reactions }) => reactions.some(({ kind }) => kind.type === type)).map(({ name }) => name)
  const send = async (name: string, headers: Record<string, string>, body: string): Promise<number> => {
    const response = await fetch(urls.get(name) ?? '', { method: 'POST', headers, body })
    await response.arrayBuffer()
    return response.status
  }
  let number = 0
  const headersOf = (type: string, attributes: Record<string, string>) => ({
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': `t${(number += 1)}`,
    'ce-source': '/test',
    'ce-type': type,
    ...Object.fromEntries(Object.entries(attributes).map(([key, value]) => [`ce-${key}`, value]))
  })
  const post: Running['post'] = (fn, type, data, attributes = {}) => send(fn, headersOf(type, attributes), JSON.stringify(data))

  const relay: Running['relay'] = async (heard = () => {}) => {
    const server = createServer(async (request, response) => {
      const body = Buffer.concat(await Array.fromAsync(request)).toString()
      const headers = Object.fromEntries(
        Object.entries(request.headers).filter(([name]) => name.startsWith('ce-') || name === 'content-type')
      ) as Record<string, string>
      const type = headers['ce-type'] ?? ''
      heard(type, body)
      const statuses = await Promise.all(reacts(type).map(fn => send(fn, headers, body)))
      response.writeHead(statuses.includes(503) ? 503 : 202).end()
    }).listen(0, '127.0.0.1')
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise(resolve => server.once('listening', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  return {
    post,
    relay,
    url: fn => urls.get(fn) ?? '',
    hypervisorChanged: (fn, name) =>
      post(
        fn,
        'sap.cloud.kvm.hypervisor.changed.v1',
        { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name },
        { partitionkey: name }
      ),
    tick: (speed, ...only) => Promise.all((only.length > 0 ? only : reacts(ping)).map(fn => post(fn, ping, { tick: speed }))),
    async watch() {
      const agent = await startAgent(clusterAgent, {
        env: {
          KUBECONFIG: await asServiceAccount(t, api, 'cluster-agent.yaml', 'cluster-agent'),
          K_SINK: await relay(),
          PORT: '0',
          HOST: '127.0.0.1',
          LOG_LEVEL: 'fatal',
          LEASE_NAMESPACE: 'drover',
          POD_NAME: 'one',
          WATCH_MACHINES: 'false'
        }
      })
      t.teardown(() => agent.close())
    }
  }
}
