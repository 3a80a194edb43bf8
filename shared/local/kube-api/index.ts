// An in-memory Kubernetes API server on 127.0.0.1. README.md says what it serves and how far to trust it.
import { randomBytes } from 'node:crypto'
import { chmod, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { stringify } from 'yaml'
import type { InProcessServer } from '../../kube/in-process.ts'
import type { Certificate } from '../../runtime/self-signed.ts'
import type { StateStore } from '../state.ts'
import { failure } from './answer.ts'
import type { Audit } from './audit.ts'
import { readFact, sqliteBacking, writeFact } from './backing.ts'
import { bootstrap } from './bootstrap.ts'
import { builtins } from './builtins.ts'
import { makeCertificate } from './certificate.ts'
import type { Cluster, User } from './cluster.ts'
import { serveCrds } from './crds.ts'
import { Faults } from './faults.ts'
import { startCollector } from './gc.ts'
import { handle, NoPage } from './handle.ts'
import { httpReply } from './http-reply.ts'
import { inProcess } from './in-process.ts'
import { install } from './install.ts'
import { notFound } from './status.ts'
import { startNamespaces } from './namespaces.ts'
import { Registry } from './resource.ts'
import { Store } from './store.ts'
import { admin, tokens } from './tokens.ts'
import { webhooks } from './webhooks.ts'
import type { ResolveService } from './webhook-call.ts'

export interface KubeApiOptions {
  /** 0, the default, takes a free one. */
  port?: number
  /** What is there from the start: CustomResourceDefinitions, and whatever else. */
  objects?: readonly object[]
  /** Who answers for a Service that a webhook names. */
  resolveService?: ResolveService
  state?: StateStore
  clock?: () => Date
  /** Told of what is our fault: an answer of 500 that no rule foresees, a controller that failed. */
  onFault?: (err: unknown) => void
  /** Changes of one resource that watches can go back to. */
  historySize?: number
  /** Made at each start unless one is given. */
  certificate?: Certificate
  /** Users beside the administrator, by their tokens. */
  users?: Readonly<Record<string, User>>
  /** Called once for each request of somebody we know, when its answer begins. */
  audit?: Audit
}

export interface Account {
  namespace: string
  name: string
  /** The node that the token is bound to, as that of a pod on it is. */
  node?: string | undefined
}

export interface KubeApi {
  url: string
  token: string
  /** The certificate that clients have to trust, PEM. */
  ca: string
  /** For those who ask in this very process. */
  inProcess: InProcessServer
  /** What is to go wrong. */
  faults: Faults
  /** The administrator's, or a service account's. Readable by the owner only. */
  writeKubeconfig(path: string, account?: Account): Promise<void>
  close(): Promise<void>
}

export async function startKubeApi(options: KubeApiOptions = {}): Promise<KubeApi> {
  const { port = 0, objects = [], state, clock = () => new Date(), historySize = 5000 } = options
  const onFault = options.onFault ?? ((err: unknown) => console.error(err))
  const { certificate, key } = options.certificate ?? makeCertificate(clock())
  const store = new Store(historySize, state && sqliteBacking(state))
  const registry = new Registry()
  for (const resource of builtins) registry.add(resource)
  const { close: closeWebhooks, ...admission } = webhooks({ store, registry, clock }, options.resolveService ?? (() => undefined))
  const cluster: Cluster = { store, registry, clock, ...admission }
  bootstrap(cluster)
  serveCrds(cluster)
  startCollector(cluster, onFault)
  startNamespaces(cluster)
  await install(cluster, objects)
  store.forgetHistory()

  const token = secret(state, 'admin-token')
  const users = new Map([[token, admin], ...Object.entries(options.users ?? {})])
  const identities = tokens(store, users, secret(state, 'signing-key'), clock)
  const faults = new Faults()
  const serving = { cluster, tokens: identities, audit: options.audit, faults }
  const server = createServer({ key, cert: certificate }, (request, response) => {
    const reply = httpReply(response)
    handle(serving, request, reply).catch(err => {
      if (response.headersSent) response.destroy()
      else reply.send(err instanceof NoPage ? { code: 404, body: '404 page not found\n' } : failure(err, onFault))
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const tokenOf = ({ namespace, name, node }: Account): string => {
    const account = store.get('/serviceaccounts', namespace, name)
    if (!account) throw notFound({ group: '', plural: 'serviceaccounts', kind: 'ServiceAccount' }, name)
    // By name alone: the node may come later.
    return identities.issue(account, { expirationSeconds: 365 * 86_400 }, node === undefined ? {} : { node: { name: node } })
      .token
  }
  return {
    url,
    token,
    ca: certificate,
    inProcess: inProcess(serving, onFault),
    faults,
    async writeKubeconfig(path, account) {
      const config = kubeconfig(url, certificate, account ? tokenOf(account) : token, account)
      await writeFile(path, stringify(config), { mode: 0o600 })
      await chmod(path, 0o600) // a file that was there keeps its mode otherwise
    },
    async close() {
      closeWebhooks()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

/** Kept with the state, so that a kubeconfig and tokens from before a restart stay good. */
function secret(state: StateStore | undefined, name: string): string {
  const known = state && readFact(state, name)
  if (known) return known
  const made = randomBytes(32).toString('base64url')
  if (state) writeFact(state, name, made)
  return made
}

const kubeconfig = (server: string, ca: string, token: string, { namespace = 'default', name = 'admin' } = {}): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'drover', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
  users: [{ name, user: { token } }],
  contexts: [{ name: 'drover', context: { cluster: 'drover', user: name, namespace } }],
  'current-context': 'drover'
})
