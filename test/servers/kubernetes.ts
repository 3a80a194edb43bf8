// A Kubernetes API for tests of what both servers do alike: the embedded API in `npm test`, kube-apiserver in `npm run test:cluster`. The runner says
// which by DROVER_KUBERNETES_KIND; the contract in test/local/kube-api holds the two to the same answers.
import type { Test } from 'tap'
import type { ControlPlane } from './access.ts'
import type { Cluster, KubernetesServer } from './kubernetes-server.ts'
import type { Prepared } from './say.ts'

export type { Cluster } from './kubernetes-server.ts'

const kind = process.env['DROVER_KUBERNETES_KIND'] ?? 'embedded'
if (kind !== 'embedded' && kind !== 'real') throw new Error(`DROVER_KUBERNETES_KIND is ${kind}: only embedded and real are known`)

export const compiles = kind === 'real'

// loaded when they are wanted: the one knows the Go compiler, the other one the whole embedded API
const real = () => import('./real-server.ts')
const server = async (): Promise<KubernetesServer> =>
  kind === 'real' ? (await real()).realServer : (await import('./embedded-server.ts')).embeddedServer

export const prepare = async (): Promise<Prepared> => (kind === 'real' ? (await real()).built() : { ok: true })

export const share: KubernetesServer['share'] = async () => (await server()).share()

export const startKubernetes = async (): Promise<ControlPlane> => (await server()).startKubernetes()

export const kubernetes = async (t: Test): Promise<Cluster> => (await server()).kubernetes(t)

export const ownKubernetes = async (t: Test): Promise<ControlPlane & Cluster> => (await server()).ownKubernetes(t)
