// Of objects that are kept to see whether they are due: without what is large and what no tick looks at.
import type { Hypervisor } from '../schema/hypervisor.ts'
import type { OVSNode } from '../schema/ovs-node.ts'
import type { Node } from './kinds.ts'

export function hostOutline({ metadata, status, ...rest }: Hypervisor): Hypervisor {
  const { managedFields: _managed, ...own } = metadata
  const { instances: _instances, cells: _cells, domainCapabilities: _offers, history: _history, ...known } = status ?? {}
  return { ...rest, metadata: own, ...(status && { status: { ...known, numInstances: status.numInstances } }) }
}

export const nodeOutline = ({ metadata, spec }: Node): Node => ({
  metadata: { name: metadata?.name ?? '', ...(metadata?.labels && { labels: metadata.labels }) },
  ...(spec?.taints && { spec: { taints: spec.taints } })
})

export function switchOutline({ metadata, spec, status }: OVSNode): OVSNode {
  const { name, namespace } = metadata
  const { observedAt, heartbeatSeconds, conditions } = status ?? {}
  return {
    metadata: { name, ...(namespace && { namespace }) },
    spec,
    status: {
      ...(observedAt && { observedAt }),
      ...(heartbeatSeconds && { heartbeatSeconds }),
      ...(conditions && { conditions })
    }
  }
}
