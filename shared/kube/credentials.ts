import { existsSync } from 'node:fs'
import { delimiter } from 'node:path'
import type { Agent, RequestOptions } from 'node:https'
import { isDeepStrictEqual } from 'node:util'
import { KubeConfig } from '@kubernetes/client-node/dist/config.js'
import { KubeError } from './errors.ts'

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/** Where the API server is and how to speak to it, as of now: tokens and certificates may change under a long-lived process. */
export interface Credentials {
  readonly server: URL
  /** Authorization, certificates and a keep-alive agent for one request. */
  options(): Promise<RequestOptions>
  /** Reads everything again after `refused` was not accepted; false when that gave nothing new. */
  renew(refused: RequestOptions): Promise<boolean>
  close(): void
}

export async function loadCredentials(path?: string): Promise<Credentials> {
  let config = load(path)
  const agents = new Set<Agent>()

  const optionsOf = async (from: KubeConfig): Promise<RequestOptions> => {
    const options: RequestOptions = {}
    await from.applyToHTTPSOptions(options)
    return options
  }

  return {
    get server() {
      return serverOf(config)
    },
    async options() {
      const options = await optionsOf(config)
      const agent = options.agent as Agent
      // client-node makes its agent without it, and every call would be a new TLS handshake
      if (!agents.has(agent)) agents.add(Object.assign(agent, { keepAlive: true }))
      return options
    },
    async renew(refused) {
      const fresh = load(path)
      const { agent: _fresh, ...now } = await optionsOf(fresh)
      const { agent: _refused, ...before } = refused
      if (isDeepStrictEqual(now, before)) return false
      config = fresh
      return true
    },
    close() {
      for (const agent of agents) agent.destroy()
    }
  }
}

function load(path?: string): KubeConfig {
  const config = new KubeConfig()
  try {
    if (path !== undefined) loadFiles(config, path)
    else if (existsSync(serviceAccountToken)) config.loadFromCluster()
    else config.loadFromDefault()
  } catch (cause) {
    throw new KubeError('Unconfigured', `no usable kubeconfig${path === undefined ? '' : ` in ${path}`}`, { cause })
  }
  if (path === undefined && config.getCurrentCluster()?.server === fallback)
    throw new KubeError('Unconfigured', 'there is no kubeconfig: KUBECONFIG is not set, and there is no ~/.kube/config')
  serverOf(config)
  return config
}

/** What client-node takes when it finds no configuration at all. */
const fallback = 'http://localhost:8080'

/** One file, or several as kubectl takes them from KUBECONFIG: the first that says something wins. */
function loadFiles(config: KubeConfig, path: string): void {
  const [first = path, ...more] = existsSync(path) ? [path] : path.split(delimiter).filter(file => existsSync(file))
  config.loadFromFile(first)
  for (const file of more) {
    const other = new KubeConfig()
    other.loadFromFile(file)
    config.mergeConfig(other, true)
  }
}

function serverOf(config: KubeConfig): URL {
  const cluster = config.getCurrentCluster()
  if (!cluster || !URL.canParse(cluster.server)) throw new KubeError('Unconfigured', 'the kubeconfig names no API server')
  const server = new URL(cluster.server)
  if (server.protocol === 'http:' && !cluster.skipTLSVerify) {
    throw new KubeError('Unconfigured', `${server.origin} is plain HTTP, which needs insecure-skip-tls-verify in the kubeconfig`)
  }
  return server
}
