// The contract of the embedded Kubernetes API, held against this API server too.
import type { Test } from 'tap'
import { contract } from '../local/kube-api/contract.ts'
import { freshNamespace, hookPlace, type World } from './world.ts'

export async function apiContract(t: Test, world: World): Promise<void> {
  const { cluster } = world
  await contract(t, { ...cluster, namespace: await freshNamespace(world, 'api-contract'), hook: await hookPlace(cluster) })
}
