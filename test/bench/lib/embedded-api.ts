import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { connect, type Kube } from '../../../shared/kube/index.ts'
import { startKubeApi } from '../../../shared/local/kube-api/index.ts'
import { readCrds } from '../../functions/evict/crds.ts'

/** The embedded Kubernetes API with Drover's kinds, in the process of the bench. */
export async function embeddedApi(t: Pick<Test, 'teardown'>): Promise<{ kubeconfig: string; admin: Kube }> {
  const folder = await mkdtemp(join(tmpdir(), 'drover-bench-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const api = await startKubeApi({ objects: await readCrds() })
  t.teardown(() => api.close())
  const kubeconfig = join(folder, 'kubeconfig')
  await api.writeKubeconfig(kubeconfig)
  const admin = await connect({ manager: 'bench', kubeconfig })
  t.teardown(() => admin.close())
  return { kubeconfig, admin }
}
