// The contract of the embedded Kubernetes API, held against this API server too.
import { readFile } from 'node:fs/promises'
import type { Test } from 'tap'
import { contract } from '../local/kube-api/contract.ts'
import { freshNamespace, type World } from './world.ts'

export async function apiContract(t: Test, world: World): Promise<void> {
  const namespace = await freshNamespace(world, 'api-contract')
  const { cluster } = world
  const read = (file: string) => readFile(file, 'utf8')
  const hook = {
    host: cluster.host,
    certificate: await read(cluster.webhookCert),
    key: await read(cluster.webhookKey),
    ca: await read(cluster.ca)
  }
  await contract(t, { ...cluster, namespace, hook })
}
