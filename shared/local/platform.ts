// Every function in one process, wired by knative/ as it is, on an embedded Kubernetes API or on a real one.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DestinationStream } from 'pino'
import { connect } from '../kube/index.ts'
import { startAgent } from '../runtime/agent.ts'
import { createLog } from '../runtime/log.ts'
import { RuntimeConfig } from '../runtime/runtime-config.ts'
import { readConfig } from '../runtime/config.ts'
import { startService, type Service } from '../runtime/service.ts'
import { startBroker, type Broker, type Ref, type Sink } from './broker/index.ts'
import { startKubeApi } from './kube-api/index.ts'
import { loadClusterAgent, loadDocuments, loadFunctions } from './load.ts'
import { openState, type StateStore } from './state.ts'
import { environmentOf } from './workload.ts'

export interface PlatformOptions {
  /** A real cluster in place of the embedded API. */
  kubeconfig?: string
  /** A file that keeps objects and events over restarts. */
  state?: string
  /** Of the embedded API. */
  port?: number
  functions?: string[]
  logs: DestinationStream
  logLevel?: string
}

export interface LocalPlatform {
  /** Undefined when the cluster is a real one. */
  apiUrl?: string
  kubeconfig: string
  broker: Broker
  functions: string[]
  close(): Promise<void>
}

/** Closes in the opposite order of opening, whatever happens on the way. */
class Closers {
  readonly #closers: Array<() => unknown> = []
  add(close: () => unknown): void {
    this.#closers.push(close)
  }
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) await close()
  }
}

async function embeddedApi(options: PlatformOptions, state: StateStore | undefined, closers: Closers) {
  const crds = (await loadDocuments('crds')).map(({ doc }) => doc as object)
  const { port } = options
  const api = await startKubeApi({ crds, ...(port !== undefined && { port }), ...(state && { state }) })
  closers.add(() => api.close())
  const folder = options.state === undefined ? await mkdtemp(join(tmpdir(), 'drover-')) : undefined
  if (folder !== undefined) closers.add(() => rm(folder, { recursive: true }))
  const kubeconfig = folder === undefined ? `${options.state}.kubeconfig` : join(folder, 'kubeconfig')
  await api.writeKubeconfig(kubeconfig)
  return { kubeconfig, apiUrl: api.url }
}

/** Asked once before anything starts, so that a wrong file or an absent server is one clear line. */
async function realApi(kubeconfig: string) {
  const kube = await connect({ manager: 'drover-local', kubeconfig })
  try {
    await kube.health()
  } finally {
    kube.close()
  }
  return { kubeconfig }
}

export async function startPlatform(options: PlatformOptions): Promise<LocalPlatform> {
  const closers = new Closers()
  try {
    return await start(options, closers)
  } catch (err) {
    await closers.close()
    throw err
  }
}

async function start(options: PlatformOptions, closers: Closers): Promise<LocalPlatform> {
  const { logs, logLevel = 'info' } = options
  const state = options.state === undefined ? undefined : openState(options.state)
  if (state) closers.add(() => state.close())
  const [functions, manifests, clusterAgent] = await Promise.all([
    loadFunctions(options.functions),
    loadDocuments('knative'),
    loadClusterAgent()
  ])
  const { kubeconfig, ...embedded } =
    options.kubeconfig === undefined ? await embeddedApi(options, state, closers) : await realApi(options.kubeconfig)

  const services = new Map<string, Service>()
  const log = createLog({ name: 'broker', level: logLevel, to: logs })
  const wired = new Set(functions.map(({ name }) => name))
  const broker = await startBroker({
    manifests,
    namespace: 'drover',
    resolve: ref => sinkOf(ref, wired, services),
    log,
    ...(state && { state })
  })
  closers.add(() => broker.close())
  for (const fn of functions) {
    const env = environmentOf(manifests, broker, 'Service', fn.name, kubeconfig)
    const runtime = { ...readConfig(RuntimeConfig, { env }), logLevel: logLevel as RuntimeConfig['logLevel'] }
    const service = startService(fn, runtime, { env, logs })
    services.set(fn.name, service)
    closers.add(() => service.close())
  }
  const env = {
    ...environmentOf(manifests, broker, 'Deployment', 'cluster-agent', kubeconfig),
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: logLevel
  }
  const agent = await startAgent(clusterAgent, { env, logs })
  closers.add(() => agent.close())
  return { ...embedded, kubeconfig, broker, functions: functions.map(({ name }) => name), close: () => closers.close() }
}

function sinkOf(ref: Ref, wired: ReadonlySet<string>, services: ReadonlyMap<string, Service>): Sink | undefined {
  if ('uri' in ref) return { url: ref.uri }
  if (!wired.has(ref.name)) return undefined
  return {
    deliver: async ({ headers, body }) =>
      services.get(ref.name)?.receive({ headers, body }) ?? { status: 503, body: 'not started yet' }
  }
}
