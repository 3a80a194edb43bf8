// The embedded API as a test's own server.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { startKubeApi, type KubeApi, type KubeApiOptions } from '../../../shared/local/kube-api/index.ts'
import { connect, type Api, type Target } from './contract/target.ts'

export interface Embedded extends Target {
  kube: KubeApi
  folder: string
  kubeconfig: string
}

export async function embedded(t: Test, options: KubeApiOptions = {}): Promise<Embedded> {
  const folder = await mkdtemp(join(tmpdir(), 'kube-api-'))
  const faults: unknown[] = []
  const kube = await startKubeApi({ ...options, onFault: err => faults.push(err) })
  t.teardown(async () => {
    await kube.close()
    await rm(folder, { recursive: true })
    if (faults.length > 0) throw new AggregateError(faults, 'the server had faults of its own')
  })
  const [ca, kubeconfig] = [join(folder, 'ca.crt'), join(folder, 'kubeconfig')]
  await writeFile(ca, kube.ca)
  await kube.writeKubeconfig(kubeconfig)
  return { kube, folder, kubeconfig, server: kube.url, ca, adminToken: kube.token, namespace: 'default' }
}

export const connected = async (t: Test, options?: KubeApiOptions): Promise<Api> => connect(await embedded(t, options))
