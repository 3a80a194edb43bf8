// What a workload of knative/ finds in its environment when it runs here.
import type { Env } from '../runtime/config.ts'
import type { Broker, Manifest } from './broker/index.ts'

interface Workload {
  kind: string
  metadata: { name: string; namespace: string }
  spec: { template: { spec: { containers: Array<{ env?: Array<{ name: string; value?: string }> }> } } }
}

/** The variables of its manifest, the broker's address by its SinkBinding, and the cluster to work on. Fields of a pod have no meaning here. */
export function environmentOf(
  manifests: readonly Manifest[],
  broker: Broker,
  kind: string,
  name: string,
  kubeconfig: string
): Env {
  const workload = manifests.map(({ doc }) => doc as Workload).find(doc => doc.kind === kind && doc.metadata.name === name)
  if (!workload) throw new Error(`knative/ has no ${kind} ${name}`)
  const stated = workload.spec.template.spec.containers[0]?.env ?? []
  const given = stated.flatMap(variable => (variable.value === undefined ? [] : [[variable.name, variable.value]]))
  const { K_SINK } = broker.sinkFor({ kind, ...workload.metadata }) ?? {}
  return { ...Object.fromEntries(given), ...(K_SINK && { K_SINK }), KUBECONFIG: kubeconfig }
}
