import { Type } from 'typebox'
import { tick } from '../../shared/events/knative.ts'
import {
  hypervisorChanged,
  hypervisorDeleted,
  nodeChanged,
  nodeDeleted,
  podChanged,
  ovsNodeChanged,
  ovsNodeDeleted,
  podDeleted
} from '../../shared/events/objects.ts'
import { Pod } from '../../shared/kube/kinds.ts'
import { Duration } from '../../shared/runtime/config.ts'
import { defineFunction, on, type Received } from '../../shared/runtime/function.ts'
import { settleAll } from '../../shared/runtime/settle-all.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { OVSNode } from '../../shared/schema/ovs-node.ts'
import { dueNow, lament, look, lookAtAll, settle, tellKeptLifecycle, type Deps } from './act.ts'
import { manager } from './decide.ts'

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  agentNamespaces: Type.Array(Type.String(), { default: ['monsoon3'], description: 'where the agents of hypervisors run' }),
  ovsNamespace: Type.String({ default: 'ovn-system', description: 'where the OVSNodes are' }),
  shardKeys: Type.Array(Type.String(), { default: [], description: 'further node labels to copy (the shard selector)' }),
  preferredFamily: Type.Enum(['ipv4', 'ipv6'], { default: 'ipv4', description: 'family of internalIp when the node has both' }),
  terminationSource: Type.Enum(['node', 'external'], {
    default: 'node',
    description: 'who sets maintenance: termination (HV-24)'
  }),
  healthGates: Type.Boolean({
    default: true,
    description: 'whether Ready looks at agent, libvirt, node and Nova (§3.3, rung 6)'
  }),
  observe: Type.Boolean({
    default: false,
    description: "say what would be done, and write nothing but Drover's own status (HV-8)"
  }),
  heartbeatStale: Duration({ default: '90s', description: 'age at which a heartbeat counts as lost' })
})

const hostOf = ({ partitionkey, data }: Received<{ name: string }>): string => partitionkey ?? data.name

/** ApiServerSource does not say on which node a pod runs; of a deleted pod only the tick can tell. */
async function nodeOf(
  { partitionkey, data }: Received<{ name: string; namespace?: string }>,
  { kube }: Deps
): Promise<string | undefined> {
  return partitionkey ?? (await kube.find(Pod, data.name, data.namespace))?.spec?.nodeName
}

export default defineFunction({
  name: 'hypervisor',
  config,

  async open(
    { kubeconfig, agentNamespaces, ovsNamespace, heartbeatStale, ...options },
    { clock, emit, log, metrics, onClose, signal }
  ): Promise<Deps> {
    const { connect } = await import('../../shared/kube/index.ts') // after the port is open: half of a cold start is loading this
    const [{ isExtended }, { keepList }, { hostOutline, switchOutline }] = await Promise.all([
      import('../../shared/kube/extended.ts'),
      import('../../shared/kube/kept-list.ts'),
      import('../../shared/kube/outline.ts')
    ])
    const kube = await connect({ manager, log, metrics, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    const extended = await isExtended(kube, log, metrics)
    return {
      kube,
      kept: {
        hosts: keepList(kube, Hypervisor, { signal, log, trim: hostOutline }),
        ovsNodes: keepList(kube, OVSNode, { namespace: ovsNamespace, signal, log, trim: switchOutline })
      },
      clock,
      emit,
      log,
      agentNamespaces,
      ovsNamespace,
      options: { ...options, heartbeatStaleMs: heartbeatStale, extended }
    }
  },

  reactions: [
    on(nodeChanged, { key: hostOf }, async (event, deps: Deps) => {
      const seen = await look(hostOf(event), deps)
      if (event.changed?.includes('labels') && !event.changed.includes('created')) await tellKeptLifecycle(seen, deps)
      await settle(seen, deps)
    }),
    on(nodeDeleted, { key: hostOf }, async (event, deps: Deps) => settle(await look(hostOf(event), deps), deps)),
    on(hypervisorChanged, { key: hostOf, changed: ['labels', 'spec', 'conditions', 'status'] }, async (event, deps: Deps) =>
      settle(await look(hostOf(event), deps), deps)
    ),
    on(hypervisorDeleted, { key: hostOf }, async (event, deps: Deps) => {
      const seen = await look(hostOf(event), deps)
      const { uid = '', last } = event.data
      if (seen.node || !last?.numInstances) return settle(seen, deps)
      const instances = last.instances.map(id => ({ id, name: '', active: true }))
      return lament({ metadata: { name: seen.name, uid }, status: { numInstances: last.numInstances, instances } }, deps)
    }),
    ...[ovsNodeChanged, ovsNodeDeleted].map(kind =>
      on(kind, { key: hostOf, changed: ['conditions'] }, async (event, deps: Deps) =>
        settle(await look(hostOf(event), deps), deps)
      )
    ),
    ...[podChanged, podDeleted].map(kind =>
      on(kind, { key: hostOf }, async (event, deps: Deps) => {
        const host = await nodeOf(event, deps)
        if (host !== undefined) await settle(await look(host, deps), deps)
      })
    ),
    on(tick, { key: () => 'tick' }, async ({ data }, deps: Deps) => {
      if (data.tick === 'slow') return settleAll(await lookAtAll(deps), seen => settle(seen, deps))
      return settleAll(await dueNow(deps), async host => settle(await look(host, deps), deps))
    })
  ]
})
