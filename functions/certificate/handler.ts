import { Type } from 'typebox'
import { tick } from '../../shared/events/knative.ts'
import { hypervisorChanged, nodeChanged } from '../../shared/events/objects.ts'
import { KubeError } from '../../shared/kube/errors.ts'
import { Node } from '../../shared/kube/kinds.ts'
import { isObserved } from '../../shared/kube/observe.ts'
import type { Kube } from '../../shared/kube/index.ts'
import { settleAll } from '../../shared/runtime/settle-all.ts'
import { defineFunction, on, type Platform, type Received } from '../../shared/runtime/function.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { watchPresence, type Presence } from './presence.ts'
import { Certificate, certificate, type Options } from './render.ts'

const manager = 'drover-certificate'
const virtDriver = 'nova.openstack.cloud.sap/virt-driver'

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  certificateNamespace: Type.String({ default: 'monsoon3', description: 'where the agents find their secrets' }),
  issuer: Type.String({ default: 'nova-hypervisor-agents-ca-issuer', description: 'cert-manager Issuer in that namespace' }),
  certificatesFor: Type.Enum(['labelled', 'requested'], {
    default: 'labelled',
    description: 'every labelled node, or those whose Hypervisor says createCertManagerCertificate'
  }),
  observe: Type.Boolean({ default: false, description: 'say what would be done and write nothing (HV-8)' })
})

interface Deps extends Pick<Platform, 'log'> {
  kube: Kube
  options: Options
  certificatesFor: 'labelled' | 'requested'
  observe: boolean
  presence: Presence
}

const hostOf = ({ partitionkey, data }: Received<{ name: string }>): string => partitionkey ?? data.name
const isLabelled = (node: Node): boolean => virtDriver in (node.metadata?.labels ?? {})

const isWanted = (node: Node, hypervisor: Hypervisor | undefined, { certificatesFor }: Deps): boolean =>
  isLabelled(node) && (certificatesFor === 'labelled' || (hypervisor?.spec ?? {}).createCertManagerCertificate === true)

async function settle(node: Node, hypervisor: Hypervisor | undefined, deps: Deps): Promise<void> {
  const { kube, options, log } = deps
  const wanted = certificate(node, options)
  const { name, namespace } = wanted.metadata
  if (isObserved(hypervisor, deps)) {
    log.info({ certificate: name }, 'would be kept')
    return
  }
  try {
    const live = await kube.find(Certificate, name, namespace)
    await kube.apply(Certificate, wanted, { ...(live && { live }) })
    deps.presence.isThere()
  } catch (err) {
    // cert-manager, or the namespace, is not there yet: nothing that sending the event again would help; the tick comes back
    if (!(err instanceof KubeError) || err.code !== 'NotFound') throw err
    deps.presence.isMissing(name, err)
  }
}

async function settleOne(event: Received<{ name: string }>, deps: Deps): Promise<void> {
  const name = hostOf(event)
  const [node, hypervisor] = await Promise.all([deps.kube.find(Node, name), deps.kube.find(Hypervisor, name)])
  if (node && isWanted(node, hypervisor, deps)) await settle(node, hypervisor, deps)
}

export default defineFunction({
  name: 'certificate',
  config,

  async open({ kubeconfig, certificateNamespace, issuer, certificatesFor, observe }, { log, metrics, onClose }): Promise<Deps> {
    const { connect } = await import('../../shared/kube/index.ts')
    const kube = await connect({ manager, log, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    const options = { namespace: certificateNamespace, issuer }
    return { kube, log, certificatesFor, observe, presence: watchPresence({ log, metrics }), options }
  },

  reactions: [
    on(nodeChanged, { key: hostOf, changed: ['created', 'labels', 'status'] }, settleOne),
    on(hypervisorChanged, { key: hostOf, changed: ['created', 'spec'] }, settleOne),
    on(tick, { key: () => 'tick' }, async ({ data }, deps: Deps) => {
      if (data.tick === 'fast') return
      const [nodes, hypervisors] = await Promise.all([
        deps.kube.list(Node, { labelSelector: virtDriver }),
        deps.kube.list(Hypervisor)
      ])
      const byName = new Map(hypervisors.items.map(hypervisor => [hypervisor.metadata.name, hypervisor]))
      await settleAll(nodes.items, async node => {
        const hypervisor = byName.get(node.metadata?.name ?? '')
        if (isWanted(node, hypervisor, deps)) await settle(node, hypervisor, deps)
      })
    })
  ]
})
