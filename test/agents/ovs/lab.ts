// One agent on a real switch, with a real API server and a sink that can be taken away.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { makeOvsAgent } from '../../../agents/ovs/agent.ts'
import type { Timings } from '../../../agents/ovs/issue-types.ts'
import { type Kube, connect } from '../../../shared/kube/index.ts'
import { startAgent } from '../../../shared/runtime/agent.ts'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { eventually } from '../../servers/eventually.ts'

export interface Heard {
  readonly type: string
  readonly subject: string
  readonly id: string
  readonly source: string
  readonly partitionkey: string
  readonly data: {
    node: string
    object: string
    before: string
    after: string
    reason: string
    detectedAt: string
    evidence: Record<string, string>
  }
}

export interface Sink {
  readonly url: string
  readonly heard: Heard[]
  /** The first event of that type about that object that was not asked for before. */
  next(noun: string, subject: string, withinMs?: number): Promise<Heard>
  /** All that was heard until now counts as asked for. */
  asked(): void
  start(): Promise<void>
  stop(): Promise<void>
}

export const typeOf = (noun: string): string => `io.c5c3.ovs.${noun}.v1`

export async function startSink(t: Test): Promise<Sink> {
  const heard: Heard[] = []
  const asked = new Set<Heard>()
  let server: Server | undefined
  let port = 0
  const start = async () => {
    server = createServer(async (request, response) => {
      const body = Buffer.concat(await Array.fromAsync(request)).toString()
      const read = (name: string) => decodeURIComponent(String(request.headers[`ce-${name}`]))
      heard.push({
        type: read('type'),
        subject: read('subject'),
        id: read('id'),
        source: read('source'),
        partitionkey: read('partitionkey'),
        data: JSON.parse(body)
      })
      response.writeHead(202).end()
    }).listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  const stop = async () => {
    server?.closeAllConnections()
    server?.close()
    if (server) await once(server, 'close')
    server = undefined
  }
  const next = async (noun: string, subject: string, withinMs = 60_000) => {
    const found = await eventually(
      `${noun} of ${subject}; heard ${heard.map(event => `${event.type} ${event.subject}`).join(', ')}`,
      async () => heard.find(event => event.type === typeOf(noun) && event.subject === subject && !asked.has(event)),
      withinMs
    )
    asked.add(found)
    return found
  }
  await start()
  t.teardown(stop)
  return { url: `http://127.0.0.1:${port}`, heard, next, asked: () => heard.forEach(event => asked.add(event)), start, stop }
}

export interface Setup {
  readonly dir: string
  readonly node: string
  readonly kubeconfig: string
  readonly namespace: string
  readonly sink: string
  readonly env?: Record<string, string>
  readonly timings?: Partial<Timings>
  readonly logs?: { write(line: string): void }
}

async function envOf({ dir, node, kubeconfig, namespace, sink, env = {} }: Setup): Promise<Record<string, string>> {
  const run = join(dir, node)
  await mkdir(join(dir, `spool-${node}`), { recursive: true })
  return {
    NODE_NAME: node,
    NAMESPACE: namespace,
    KUBECONFIG: kubeconfig,
    K_SINK: sink,
    OVS_RUN_DIR: run,
    OVN_RUN_DIR: run,
    BONDING_DIR: join(dir, 'no-kernel-bonds'),
    SPOOL_DIR: join(dir, `spool-${node}`),
    HEARTBEAT: '2s',
    METRICS_BIND_ADDRESS: '127.0.0.1:0',
    LOG_LEVEL: process.env['AGENT_LOG'] ?? 'silent',
    ...env
  }
}

/** One in a process of its own, to be killed in the middle of its work. */
export async function startDoomedAgent(t: Test, setup: Setup) {
  const main = join(import.meta.dirname, '../../../agents/ovs/main.ts')
  const child = spawn(process.execPath, ['--conditions=drover', main], {
    env: await envOf(setup),
    stdio: ['ignore', 'pipe', 'ignore']
  })
  createInterface(child.stdout).on('line', line => setup.logs?.write(line))
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  t.teardown(kill)
  return { kill }
}

export async function startOvsAgent(t: Test, setup: Setup) {
  const { timings, logs } = setup
  const running = await startAgent(makeOvsAgent(timings), { ...(logs && { logs }), env: await envOf(setup) })
  running.ended.catch(() => {}) // told by close
  let closed = false
  const close = async () => {
    if (!closed) await running.close()
    closed = true
  }
  t.teardown(close)
  return { url: running.url, ended: running.ended, close }
}

export async function startAdmin(t: Test, kubeconfig: string): Promise<Kube> {
  const kube = await connect({ manager: 'test', kubeconfig })
  t.teardown(() => kube.close())
  return kube
}

type Status = NonNullable<OVSNode['status']>

/** The status of the node as soon as it fulfils the condition. */
export async function statusWhen(
  kube: Kube,
  namespace: string,
  node: string,
  what: string,
  holds: (status: Status) => unknown
): Promise<Status> {
  let last: Status | undefined
  try {
    return await eventually(
      what,
      async () => {
        last = (await kube.find(OVSNode, node, namespace))?.status
        return last && holds(last) ? last : undefined
      },
      60_000
    )
  } catch (error) {
    throw new Error(`${(error as Error).message}; last seen ${JSON.stringify(last)}`, { cause: error })
  }
}

export const condition = (status: Status, type: string): string => {
  const found = status.conditions?.find(known => known.type === type)
  return `${found?.status}/${found?.reason}`
}
