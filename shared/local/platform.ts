// Every function in one process, wired by knative/ as it is, on an embedded Kubernetes API or on a real one.
import { createServer } from 'node:http'
import type { DestinationStream } from 'pino'
import { startAgent, type Agent } from '../runtime/agent.ts'
import { ConfigError, readConfig, type Env } from '../runtime/config.ts'
import type { DroverFunction } from '../runtime/function.ts'
import { createLog, type Logger } from '../runtime/log.ts'
import { routeEdge, type RouteEdge } from '../runtime/route-edge.ts'
import { RuntimeConfig } from '../runtime/runtime-config.ts'
import { startService, type Service } from '../runtime/service.ts'
import { simulatorFileOf } from '../runtime/simulator.ts'
import { startBroker, type Broker, type Manifest, type Ref, type Sink } from './broker/index.ts'
import { openCloud } from './cloud.ts'
import { embeddedCluster, realCluster, type LocalCluster } from './cluster.ts'
import { keepComputeHosts } from './compute-hosts.ts'
import { mountConfigMaps } from './config-maps.ts'
import type { AgentKind } from './fleet/agents.ts'
import type { SimulatedFleet } from './fleet/index.ts'
import type { FleetWishes } from './fleet/plan.ts'
import { loadClusterAgent, loadDocuments, loadForeignCrds, loadFunctions, loadNodeAgents, type Loaded } from './load.ts'
import type { FakeOpenStack } from './openstack/index.ts'
import { sweepRunFolders } from './run-folder.ts'
import { putUpSignpost } from './signpost.ts'
import { openState } from './state.ts'
import { functionBehind, objectsOf, workloadOf, type Workload } from './workload.ts'

export interface PlatformOptions {
  /** A real cluster in place of the embedded API. */
  kubeconfig?: string
  /** A real OpenStack in place of the embedded one: a name of clouds.yaml, or `env` for the OS_* variables. */
  osCloud?: string
  /** A file that keeps objects and events over restarts. */
  state?: string
  /** Of the embedded API. */
  port?: number
  /** Of the fleet page; left out, a usual one, or a free one where that is taken. */
  pagePort?: number
  functions?: string[]
  /** Where the wiring is, in place of knative/. */
  knative?: string
  /** A simulated fleet on the embedded API and OpenStack. */
  fleet?: FleetWishes
  logs: DestinationStream
  logLevel?: RuntimeConfig['logLevel']
}

export interface LocalPlatform {
  /** Undefined when the cluster is a real one. */
  apiUrl?: string
  kubeconfig: string
  cloud: string
  broker: Broker
  functions: string[]
  /** Where functions answer requests that are no events. */
  doors: ReadonlyMap<string, { url: string; paths: string[] }>
  /** The simulated fleet, which comes up after everything else; absent where none was asked for. */
  fleet?: Promise<SimulatedFleet>
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

export async function startPlatform(options: PlatformOptions): Promise<LocalPlatform> {
  const closers = new Closers()
  try {
    return await start(options, closers)
  } catch (err) {
    await closers.close()
    throw err
  }
}

interface Startable {
  fn: DroverFunction
  workload: Workload
}

/** Those that have all they need; of the others one line each says what is missing. */
function startable({ functions, broken }: Loaded, manifests: readonly Manifest[], env: Env, log: Logger): Startable[] {
  const leaveOut = (name: string, why: string): void => log.error(`the function ${name} is left out: ${why}`)
  for (const { name, err } of broken) leaveOut(name, (err as Error).message)
  return functions.flatMap(fn => {
    const workload = workloadOf(manifests, 'Service', fn.name)
    if (!workload) return leaveOut(fn.name, 'no Service in knative/ has its name') ?? []
    try {
      readConfig(fn.config, { env: { ...workload.env, ...env } })
      return [{ fn, workload }]
    } catch (err) {
      if (!(err instanceof ConfigError)) throw err
      return leaveOut(fn.name, err.message) ?? []
    }
  })
}

async function start(options: PlatformOptions, closers: Closers): Promise<LocalPlatform> {
  const { logs, logLevel = 'info' } = options
  const log = createLog({ name: 'platform', level: logLevel, to: logs })
  const state = options.state === undefined ? undefined : openState(options.state)
  if (state) closers.add(() => state.close())
  const [loaded, manifests, clusterAgent] = await Promise.all([
    // A Trigger whose dead-letter sink is not there is not ready.
    loadFunctions(options.functions && [...new Set([...options.functions, 'dead-letters'])]),
    loadDocuments(options.knative ?? 'knative'),
    loadClusterAgent()
  ])
  const cloud = await openCloud(options.osCloud)
  closers.add(() => cloud.close())
  const functions = startable(loaded, manifests, cloud.env, log)
  const running = new Set(functions.map(({ fn }) => fn.name))
  const doors: Map<string, { url: string; paths: string[] }> = new Map()
  const cluster = options.kubeconfig === undefined ? await embedded() : await realCluster(options.kubeconfig)
  closers.add(() => cluster.close())

  const services = new Map<string, Service>()
  const broker = await startBroker({
    manifests,
    namespace: 'drover',
    resolve: ref => sinkOf(ref, running, services),
    log: createLog({ name: 'broker', level: logLevel, to: logs }),
    ...(state && { state })
  })
  closers.add(() => broker.close())
  const sim = options.fleet && simulatorFileOf(cluster.kubeconfig)
  for (const { fn, workload } of functions) {
    const mounted = await mountConfigMaps(workload, cluster.kubeconfig, err => log.error({ err }, `the files of ${fn.name}`))
    closers.add(() => mounted.close())
    const stated = await environment({ ...workload, env: mounted.env }, broker, cluster)
    const env = { ...stated, ...cloud.env, ...(sim && { SIM_FILE: sim }) }
    const service = startService(fn, { ...readConfig(RuntimeConfig, { env }), logLevel }, { env, logs })
    services.set(fn.name, service)
    closers.add(() => service.close())
    const paths = Object.keys(fn.routes ?? {})
    if (paths.length === 0) continue
    const edge = await (fn.name === 'console' ? pageEdge(service, options.pagePort) : edgeOf(service, 0))
    closers.add(() => edge.drain())
    doors.set(fn.name, { url: `http://127.0.0.1:${edge.port}`, paths })
  }
  const agentWorkload = workloadOf(manifests, 'Deployment', 'cluster-agent')
  if (!agentWorkload) throw new Error(`${options.knative ?? 'knative'}/ has no Deployment cluster-agent`)
  const local = { PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: logLevel }
  const agent = await startAgent(clusterAgent, {
    env: { ...(await environment(agentWorkload, broker, cluster)), ...local },
    logs
  })
  closers.add(() => agent.close())
  if (cloud.fake) {
    const hosts = keepComputeHosts(cluster.kubeconfig, cloud.fake, err => log.error({ err }, 'compute hosts'))
    closers.add(() => hosts.close())
  }
  const { url, kubeconfig } = cluster
  const signs = { broker: broker.ingress('drover', 'default'), functions: [...running].join(', ') }
  if (url !== undefined) await putUpSignpost(kubeconfig, signs)
  const staysThere = (err: unknown): void => log.warn({ err }, 'what an earlier run left behind stays')
  void sweepRunFolders(staysThere).then(
    count => log.debug({ count }, 'removed folders of earlier runs that were killed'),
    staysThere
  )
  const fleet = options.fleet && cloud.fake && simulate(options.fleet, cloud.fake)
  return {
    ...(fleet && { fleet }),
    ...(url !== undefined && { apiUrl: url }),
    kubeconfig,
    cloud: cloud.name,
    broker,
    functions: [...running],
    doors,
    close: () => closers.close()
  }

  function simulate(wishes: FleetWishes, fake: FakeOpenStack): Promise<SimulatedFleet> {
    const starting = (async () => {
      const [{ startSimulatedFleet }, { ovsTimings, slownessOf }] = await Promise.all([
        import('./fleet/index.ts'),
        import('./fleet/agents.ts')
      ])
      const agents = await loadNodeAgents(ovsTimings(slownessOf(wishes.hosts)))
      const kindOf = (agent: Agent): AgentKind | undefined => {
        const workload = workloadOf(manifests, 'DaemonSet', agent.name)
        return workload && { agent, env: node => environment(workload, broker, cluster, node) }
      }
      const [hypervisor, ovs] = [kindOf(agents.hypervisor), kindOf(agents.ovs)]
      return startSimulatedFleet({
        wishes,
        cloud: fake,
        kubeconfig: cluster.kubeconfig,
        kinds: { ...(hypervisor && { hypervisor }), ...(ovs && { ovs }) },
        logs,
        logLevel: logLevel === 'info' ? 'warn' : logLevel, // two agents for each host, and all of them quiet
        onFault: err => log.error({ err }, 'the simulated fleet')
      })
    })()
    starting.catch(err => log.error({ err }, 'there is no simulated fleet'))
    closers.add(() =>
      starting.then(
        started => started.close(),
        () => {} // told already
      )
    )
    return starting
  }

  async function embedded(): Promise<LocalCluster> {
    const [own, foreign] = await Promise.all([loadDocuments('crds'), loadForeignCrds()])
    const objects = [...own.map(({ doc }) => doc as object), ...foreign, ...objectsOf(manifests, running)]
    const { port } = options
    return embeddedCluster(options.state, {
      objects,
      resolveService: service => doors.get(functionBehind(manifests, service) ?? '')?.url,
      onFault: err => log.error({ err }, 'the embedded API failed'),
      ...(port !== undefined && { port }),
      ...(state && { state })
    })
  }
}

const edgeOf = (service: Service, port: number): Promise<RouteEdge> =>
  routeEdge(createServer({ requestTimeout: 30_000 }), service, port, '127.0.0.1')

/** The same address each time, so that a page that is open finds the next `npm start`. */
const usualPagePort = 4177
const pageEdge = (service: Service, port: number | undefined): Promise<RouteEdge> =>
  port === undefined
    ? edgeOf(service, usualPagePort).catch((err: NodeJS.ErrnoException) => {
        if (err.code !== 'EADDRINUSE' && err.code !== 'EACCES') throw err
        return edgeOf(service, 0)
      })
    : edgeOf(service, port)

/** What the manifest states, the broker's address by its SinkBinding, and the cluster to work on. */
async function environment(workload: Workload, broker: Broker, cluster: LocalCluster, node?: string): Promise<Env> {
  const { K_SINK } = broker.sinkFor(workload) ?? {}
  return { ...workload.env, ...(K_SINK && { K_SINK }), KUBECONFIG: await cluster.kubeconfigOf(workload, node) }
}

function sinkOf(ref: Ref, running: ReadonlySet<string>, services: ReadonlyMap<string, Service>): Sink | undefined {
  if ('uri' in ref) return { url: ref.uri }
  if (!running.has(ref.name)) return undefined
  return {
    deliver: async ({ headers, body }) =>
      services.get(ref.name)?.receive({ headers, body }) ?? { status: 503, body: 'not started yet' }
  }
}
