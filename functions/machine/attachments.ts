// NetworkAttachmentDefinitions: shared between Machines, made by whoever comes first, never taken from others (N3, F4). Pure.
import { isDeepStrictEqual } from 'node:util'
import type { Merged } from '../../shared/rules/merge.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import type { Problem } from './errors.ts'
import type { NetworkAttachment, VirtualMachine } from './kubevirt.ts'
import { attachmentName, managed, managedLabel } from './names.ts'
import { cniConfig } from './render-network.ts'
import type { Seen } from './seen.ts'

export const isManaged = ({ metadata }: NetworkAttachment): boolean => metadata.labels?.[managedLabel] === managed[managedLabel]

function parsed({ spec }: NetworkAttachment): unknown {
  try {
    return JSON.parse(spec?.config ?? '')
  } catch {
    return undefined
  }
}

/** As parsed JSON: the order of keys and white space say nothing. */
export const sameConfig = (a: NetworkAttachment, b: NetworkAttachment): boolean => isDeepStrictEqual(parsed(a), parsed(b))

const byName = (attachments: readonly NetworkAttachment[]) => new Map(attachments.map(item => [item.metadata.name, item]))

export function attachmentsToWrite({ attachments }: Pick<Seen, 'attachments'>, wanted: readonly NetworkAttachment[]) {
  const live = byName(attachments)
  return wanted.flatMap(attachment => {
    const found = live.get(attachment.metadata.name)
    return found && sameConfig(found, attachment) ? [] : [{ do: 'attach' as const, attachment, live: found }]
  })
}

/** The NetworkConfiguration that says how the attachment of a bridge and VLAN looks: the first by name, so that two cannot fight. */
export function authorOf(name: string, networks: readonly NetworkConfiguration[]): NetworkConfiguration | undefined {
  const authors = networks.filter(({ spec }) => spec.bridge !== undefined && attachmentName(spec) === name)
  return authors.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0]
}

const sameSegment = (a: NetworkConfiguration, b: NetworkConfiguration): boolean =>
  isDeepStrictEqual(cniConfig(a.spec, ''), cniConfig(b.spec, ''))

export function attachmentConflicts(seen: Seen, { networks: nics }: Merged, wanted: readonly NetworkAttachment[]): Problem[] {
  const live = byName(seen.attachments)
  const foreign = wanted.flatMap((attachment): Problem[] => {
    const { name } = attachment.metadata
    const found = live.get(name)
    if (!found || isManaged(found) || sameConfig(found, attachment)) return []
    const message = `the NetworkAttachmentDefinition ${name} exists with another configuration and is not ours: rename it, or refer to it by nadRef`
    return [{ type: 'NameConflict', about: 'network', message }]
  })
  const used = new Set(nics.map(({ networkName }) => networkName))
  const disputed = seen.networks.filter(({ metadata, spec }) => used.has(metadata.name) && spec.bridge !== undefined)
  return [
    ...foreign,
    ...disputed.flatMap((network): Problem[] => {
      const name = attachmentName(network.spec)
      const author = authorOf(name, seen.networks)
      if (!author || sameSegment(author, network)) return []
      const message = `the NetworkConfigurations ${author.metadata.name} and ${network.metadata.name} both describe ${name}, with another mtu: make them equal`
      return [{ type: 'NameConflict', about: 'network', message }]
    })
  ]
}

/** F4: ours, used by no VM, and of no NetworkConfiguration that still has Machines (which protects one that is being made). */
export function unusedAttachments(
  attachments: readonly NetworkAttachment[],
  vms: readonly VirtualMachine[],
  networks: readonly NetworkConfiguration[],
  machines: readonly Machine[]
): NetworkAttachment[] {
  const used = new Set(
    vms.flatMap(({ spec }) => spec.template.spec.networks?.map(({ multus }) => multus?.networkName.split('/').at(-1)) ?? [])
  )
  const referred = new Set(machines.flatMap(({ spec }) => spec.networks?.map(({ networkName }) => networkName) ?? []))
  const needed = new Set(networks.filter(({ metadata }) => referred.has(metadata.name)).map(({ spec }) => attachmentName(spec)))
  return attachments.filter(item => isManaged(item) && !used.has(item.metadata.name) && !needed.has(item.metadata.name))
}
