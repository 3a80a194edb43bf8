// What the status of a NetworkConfiguration says (spec/machine.md §3). Pure.
import { conditionSet, type Verdict } from '../../shared/kube/conditions.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { NetworkConfiguration, NetworkConfigurationCondition } from '../../shared/schema/network-configuration.ts'
import { authorOf, isManaged, sameConfig } from './attachments.ts'
import type { NetworkAttachment } from './kubevirt.ts'
import { macAddress } from './names.ts'
import { attachmentOf, renderAttachment } from './render-network.ts'

export interface NetworkSeen {
  network: NetworkConfiguration
  /** Of the namespace; those that are gone for good already left out. */
  machines: readonly Machine[]
  networks: readonly NetworkConfiguration[]
  attachments: readonly NetworkAttachment[]
  /** Whether the attachment that a nadRef names is there; it may be in another namespace. */
  referenced: boolean
  options: { macSeed: string; cniVersion: string }
}

const maxListed = 512
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** NC2: always the whole list. */
export function reflectNetwork(seen: NetworkSeen, now: Date): NonNullable<NetworkConfiguration['status']> {
  const { network, machines, options } = seen
  const { name, generation } = network.metadata
  const users = machines.filter(({ spec }) => spec.networks?.some(({ networkName }) => networkName === name))
  const cards = users.flatMap(({ metadata, spec }) =>
    (spec.networks ?? [])
      .filter(({ networkName }) => networkName === name)
      .map(nic => ({
        name: metadata.name,
        nic: nic.name,
        macAddress: nic.macAddress?.toLowerCase() ?? macAddress(metadata, nic.name, options.macSeed)
      }))
  )
  const listed = cards.sort((a, b) => compare(a.name, b.name) || compare(a.nic, b.nic)).slice(0, maxListed)
  return {
    conditions: conditionSet(network.status?.conditions, [readiness(seen)], now, generation),
    ...(!network.spec.podNetwork && { nadName: attachmentOf(network.spec) }),
    ...(listed.length > 0 && { machines: listed }),
    machineCount: users.length,
    ...(generation !== undefined && { observedGeneration: generation })
  }
}

function readiness({
  network,
  networks,
  attachments,
  referenced,
  options
}: NetworkSeen): Verdict & NetworkConfigurationCondition {
  const { spec, metadata } = network
  const type = 'Ready'
  if (spec.podNetwork) return { type, status: 'True', reason: 'Configured', message: 'the pod network of the cluster' }
  const name = attachmentOf(spec)
  if (spec.nadRef) {
    if (referenced) return { type, status: 'True', reason: 'Configured', message: `uses ${name} as it is` }
    return {
      type,
      status: 'False',
      reason: 'AttachmentMissing',
      message: `the NetworkAttachmentDefinition ${name} does not exist: create it or correct nadRef`
    }
  }
  const author = authorOf(name, networks)
  const wanted = renderAttachment(metadata.namespace ?? '', spec, options.cniVersion)
  if (
    author &&
    author.metadata.name !== metadata.name &&
    !sameConfig(renderAttachment('', author.spec, options.cniVersion), wanted)
  ) {
    return {
      type,
      status: 'False',
      reason: 'NameConflict',
      message: `${author.metadata.name} describes ${name} too, with another mtu`
    }
  }
  const live = attachments.find(attachment => attachment.metadata.name === name)
  if (live && !isManaged(live) && !sameConfig(live, wanted)) {
    return {
      type,
      status: 'False',
      reason: 'NameConflict',
      message: `the NetworkAttachmentDefinition ${name} is not ours and has another configuration`
    }
  }
  return {
    type,
    status: 'True',
    reason: 'Configured',
    message: live ? `${name} is there` : `${name} is made with the first Machine`
  }
}
