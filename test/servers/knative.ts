// A real Kubernetes node with real Knative Eventing, Serving and the RabbitMQ broker class, and Drover on it as README tells a user.
// knative/cluster.sh does the work below Kubernetes; this is its handle.
import type { Test } from 'tap'
import { startCluster, type Cluster } from './knative/cluster.ts'
import { installDrover, loadImage } from './knative/drover.ts'
import { installKnative } from './knative/install.ts'

export { prepare } from './knative/prepare.ts'
export type { Cluster } from './knative/cluster.ts'
export const compiles = true
export const tier = 'cluster'
export const last = true

const shared = 'DROVER_KNATIVE' // one that somebody else started and will end

/** For one test file, which holds all that needs it: three minutes to start are too many for two of them. */
export async function knative(t: Pick<Test, 'teardown'>): Promise<Cluster> {
  const given = process.env[shared]
  if (given !== undefined) return startCluster(JSON.parse(given) as { folder: string })
  const cluster = await startCluster()
  t.teardown(() => cluster.stop())
  await Promise.all([installKnative(cluster), loadImage(cluster)])
  await installDrover(cluster)
  return cluster
}
