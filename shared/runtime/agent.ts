import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import closeWithGrace from 'close-with-grace'
import type { DestinationStream } from 'pino'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { Type, type Static, type TObject } from 'typebox'
import { parseBindAddress } from './bind-address.ts'
import { Duration, readConfig, type Env } from './config.ts'
import { helpText } from './help.ts'
import { createLog, type Logger } from './log.ts'

/** What every agent can be told. An agent has no fastify: its port only answers for its health. */
const AgentConfig = Type.Object({
  port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
  host: Type.String({ default: '::' }),
  grace: Duration({ default: '10s' }),
  logLevel: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' })
})

export interface AgentPlatform {
  log: Logger
  metrics: Registry
  clock: () => Date
  signal: AbortSignal
  /** Why the agent is not ready; undefined when it is. */
  ready: (problem?: string) => void
}

export interface Agent<C extends TObject = TObject> {
  readonly name: string
  readonly config: C
  /** Where its health and metrics are, if a setting of its own says so; HOST and PORT otherwise. */
  bindAddress?(config: Readonly<Static<C>>): string | undefined
  /** Ends when the signal aborts; an error ends the process. */
  run(config: Readonly<Static<C>>, platform: AgentPlatform): Promise<void>
}

export interface Running {
  url: string
  graceMs: number
  log: Logger
  /** Settles when the agent has ended by itself. */
  ended: Promise<void>
  close(): Promise<void>
}

export interface AgentOptions {
  env?: Env
  /** Where the log goes; standard output when left out. */
  logs?: DestinationStream
  clock?: () => Date
  /** Metrics of the process as such. Off where hundreds of agents share one: each would watch its event loop and its garbage collector anew. */
  processMetrics?: boolean
}

function healthServer(problem: () => string | undefined, metrics: Registry, log: Logger): Server {
  const tell = async (response: ServerResponse): Promise<void> => {
    try {
      const text = await metrics.metrics()
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text)
    } catch (err) {
      log.error({ err }, 'a metric could not be read') // one that fails must not end the agent
      response.writeHead(500).end()
    }
  }
  return createServer((request, response) => {
    const path = request.url ?? ''
    if (path === '/healthz') response.writeHead(200).end()
    else if (path === '/readyz') response.writeHead(problem() === undefined ? 200 : 503).end(problem())
    else if (path === '/metrics') void tell(response)
    else response.writeHead(404).end()
  })
}

export async function startAgent<C extends TObject>(
  agent: Agent<C>,
  { env, logs, clock = () => new Date(), processMetrics = true }: AgentOptions = {}
): Promise<Running> {
  const base = readConfig(AgentConfig, { env })
  const config = readConfig(agent.config, { env })
  const log = createLog({ name: agent.name, level: base.logLevel, ...(logs && { to: logs }) })
  const metrics = new Registry()
  // the lag of the event loop is looked at ten times a second: a hundred times were a fifth of what an idle agent costs
  if (processMetrics) collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: 100 })
  let problem: string | undefined = 'starting'
  const server = healthServer(() => problem, metrics, log)
  const own = agent.bindAddress?.(config)
  const { host, port: wanted } = own === undefined ? base : parseBindAddress(own)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(wanted, host, resolve))
  const stop = new AbortController()
  const ready = (reason?: string) => {
    problem = reason
  }
  const ended = agent.run(config, { log, metrics, clock, signal: stop.signal, ready })
  const { port } = server.address() as AddressInfo
  log.info({ port }, 'started')
  return {
    url: `http://127.0.0.1:${port}`,
    graceMs: base.grace,
    log,
    ended,
    async close() {
      ready('stopping')
      stop.abort()
      try {
        await ended
      } finally {
        server.closeAllConnections()
        await new Promise(resolve => server.close(resolve))
      }
    }
  }
}

/** The process of an agent: exits 0 when it was asked to stop, 1 when it could not go on. */
export async function agentMain<C extends TObject>(agent: Agent<C>): Promise<void> {
  // Beside every hypervisor's own work memory is dearer than speed: a tenth of the resident size. Node takes it by no variable.
  setFlagsFromString('--optimize-for-size')
  if (process.argv.includes('--help')) return void process.stdout.write(helpText(agent.name, agent.config, AgentConfig))
  try {
    const running = await startAgent(agent)
    const grace = closeWithGrace({ delay: running.graceMs, logger: running.log }, async ({ err }) => {
      if (err) running.log.fatal({ err }, 'stopping')
      await running.close()
    })
    try {
      await running.ended
    } finally {
      grace.uninstall()
      await running.close() // an agent that cannot go on leaves no open port behind, which would keep the process
    }
  } catch (err) {
    process.stderr.write(`${agent.name}: ${(err as Error).message}\n`)
    process.exitCode = 1
  }
}
