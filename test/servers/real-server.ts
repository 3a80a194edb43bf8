// kube-apiserver of the release that Drover is for, with etcd and the controller manager.
import { startControlPlane } from './control-plane.ts'
import { buildKubernetes } from './kubernetes-build.ts'
import { kubernetesServer } from './kubernetes-server.ts'
import type { Prepared } from './say.ts'

export async function built(): Promise<Prepared> {
  try {
    await buildKubernetes()
    return { ok: true }
  } catch (err) {
    return { ok: false, reason: `Kubernetes cannot be built: ${(err as Error).message}` }
  }
}

export const realServer = kubernetesServer('DROVER_REAL_KUBERNETES', async () => startControlPlane(await buildKubernetes()))
