// Drover's agents on a simulated host, as they are shipped: same code, same settings, same role; only the places differ.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { DestinationStream } from 'pino'
import { startAgent, type Agent, type Running } from '../../runtime/agent.ts'
import type { Env } from '../../runtime/config.ts'
import type { SimHost } from './host.ts'

export type AgentName = 'hypervisor' | 'ovs'
export const agentNames = ['hypervisor', 'ovs'] as const

/** One kind of agent, with what its manifest gives it: broker, kubeconfig, variables. */
export interface AgentKind {
  agent: Agent
  env: (node: string) => Promise<Env>
}

export interface AgentsOptions {
  kinds: Partial<Record<AgentName, AgentKind>>
  logs: DestinationStream
  logLevel: string
  clock: () => Date
  /** How much longer than usual agents wait between two turns: many of them share one processor. */
  slowness: number
  onFault: (err: unknown) => void
}

/** Functions call an agent silent whose last word in the status is 90 s old (HEARTBEAT_STALE, `agentSeconds` of functions/ha). */
const statusAtMost = 45
/** What the status tells is the last heartbeat, which may be as old as this when it is written. */
const heartbeatAtMost = 30

/** The settings of agents that do everything more seldom than they are shipped to. */
export function paceOf(slowness: number): Record<AgentName, Env> {
  if (slowness <= 1) return { hypervisor: {}, ovs: {} }
  const every = (seconds: number, atMost = Infinity): string => `${Math.round(Math.min(seconds * slowness, atMost) * 1000)}ms`
  return {
    hypervisor: {
      HEARTBEAT: every(2, heartbeatAtMost),
      STATUS_BEAT: every(30, statusAtMost),
      REPORT: every(300),
      FULL_CHECK: every(600),
      CERTIFICATE_CHECK: every(60)
    },
    ovs: { HEARTBEAT: every(30) } // how often it looks is in its status, and its silence is judged by that
  }
}

/** How often it asks the daemons, which it is not told by a setting; what the database of the switch says it hears at once all the same. */
export function ovsTimings(slowness: number): Record<string, number> {
  if (slowness <= 1) return {}
  const every = (ms: number): number => Math.min(ms * slowness, askAtMostMs)
  return { livenessMs: every(2000), flowPollMs: every(5000), bondingPollMs: every(1000) }
}
const askAtMostMs = 60_000

/** So many agents keep one processor at a fraction of its time with the settings they are shipped with. */
const quickHosts = 24
export const slownessOf = (hosts: number): number => Math.max(1, hosts / quickHosts)

export class Agents {
  readonly #host: SimHost
  readonly #options: AgentsOptions
  readonly #running = new Map<AgentName, Running>()

  constructor(host: SimHost, options: AgentsOptions) {
    this.#host = host
    this.#options = options
  }

  state(name: AgentName): 'running' | 'stopped' | 'none' {
    if (!this.#options.kinds[name]) return 'none'
    return this.#running.has(name) ? 'running' : 'stopped'
  }

  async start(name: AgentName): Promise<void> {
    const { kinds, logs, clock, onFault } = this.#options
    const kind = kinds[name]
    if (!kind || this.#running.has(name)) return
    await mkdir(join(this.#host.folder, name), { recursive: true })
    const env = { ...(await kind.env(this.#host.name)), ...this.#places(name) }
    const running = await startAgent(kind.agent, { env, logs, clock, processMetrics: false })
    running.ended.catch(onFault)
    this.#running.set(name, running)
  }

  async stop(name: AgentName): Promise<void> {
    const running = this.#running.get(name)
    this.#running.delete(name)
    await running?.close().catch(() => {}) // how it ended was told already
  }

  async startAll(): Promise<void> {
    await Promise.all(agentNames.map(name => this.start(name)))
  }

  async stopAll(): Promise<void> {
    await Promise.all(agentNames.map(name => this.stop(name)))
  }

  #places(name: AgentName): Env {
    const { folder } = this.#host
    const { logLevel, slowness } = this.#options
    const own = join(folder, name)
    const all = { NODE_NAME: this.#host.name, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: logLevel }
    if (name === 'hypervisor')
      return {
        ...all,
        LIBVIRT_URI: this.#host.libvirtUri,
        SYSTEM_BUS: 'none',
        HOST_ROOT: folder,
        STATE_FOLDER: own,
        PKI_FOLDER: join(own, 'pki'),
        EVENT_KINDS_FILE: '',
        ...paceOf(slowness).hypervisor
      }
    return {
      ...all,
      METRICS_BIND_ADDRESS: '127.0.0.1:0',
      OVS_RUN_DIR: folder,
      OVN_RUN_DIR: folder,
      BONDING_DIR: join(own, 'bonding'),
      SPOOL_DIR: own,
      DIAG_CERT_FILE: join(own, 'tls.crt'),
      DIAG_KEY_FILE: join(own, 'tls.key'),
      NAMESPACE: 'ovn-system',
      ...paceOf(slowness).ovs
    }
  }
}
