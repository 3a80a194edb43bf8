// The cluster to work on: an embedded API, or a real one by its kubeconfig.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { inProcessServers } from '../kube/in-process.ts'
import { connect } from '../kube/index.ts'
import { startKubeApi, type KubeApiOptions } from './kube-api/index.ts'
import { makeRunFolder } from './run-folder.ts'
import type { Workload } from './workload.ts'

export interface LocalCluster {
  /** Undefined when the cluster is a real one. */
  url?: string
  /** The user's own. */
  kubeconfig: string
  /** What a workload connects with: here, as there, it may do no more than the roles of its ServiceAccount say, and on a node as that node. */
  kubeconfigOf(workload: Workload, node?: string): Promise<string>
  close(): Promise<void>
}

export async function embeddedCluster(file: string | undefined, options: KubeApiOptions): Promise<LocalCluster> {
  const api = await startKubeApi(options)
  const folder = await makeRunFolder()
  const kubeconfig = file === undefined ? join(folder, 'kubeconfig') : `${file}.kubeconfig`
  await api.writeKubeconfig(kubeconfig)
  inProcessServers.set(api.url, api.inProcess)
  return {
    url: api.url,
    kubeconfig,
    async kubeconfigOf({ namespace, name, serviceAccount }, node) {
      if (serviceAccount === undefined) return kubeconfig
      const path = join(folder, `${node === undefined ? name : `${name}-${node}`}.kubeconfig`)
      await api.writeKubeconfig(path, { namespace, name: serviceAccount, node })
      return path
    },
    async close() {
      inProcessServers.delete(api.url)
      await api.close()
      await rm(folder, { recursive: true })
    }
  }
}

/** Asked once before anything starts, so that a wrong file or an absent server is one clear line. */
export async function realCluster(kubeconfig: string): Promise<LocalCluster> {
  const kube = await connect({ manager: 'drover-local', kubeconfig })
  try {
    await kube.health()
  } finally {
    kube.close()
  }
  return { kubeconfig, kubeconfigOf: async () => kubeconfig, close: async () => {} }
}
