// Network cards, networks and their attachments (spec/machine.md §5.4). Pure.
import type { Merged } from '../../shared/rules/merge.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import type { Interface, Network, NetworkAttachment } from './kubevirt.ts'
import { attachmentName, macAddress, managed } from './names.ts'
import type { RenderOptions } from './render.ts'

export interface Nics {
  interfaces: Interface[]
  networks: Network[]
}

export type NetworkOf = (name: string) => NetworkConfiguration | undefined

/** N1–N6. The caller has made sure that every network is there. */
export function renderNics(
  machine: Machine,
  { networks: given }: Merged,
  networkOf: NetworkOf,
  { macSeed }: RenderOptions
): Nics {
  const cards = given.length > 0 ? given : [{ name: 'default', networkName: undefined }]
  const interfaces: Interface[] = []
  const networks: Network[] = []
  for (const nic of cards) {
    const spec = nic.networkName === undefined ? { podNetwork: true } : networkOf(nic.networkName)?.spec
    const onPod = spec?.podNetwork === true
    const model = ('model' in nic && nic.model) || 'virtio'
    const mac = ('macAddress' in nic && nic.macAddress?.toLowerCase()) || macAddress(machine.metadata, nic.name, macSeed)
    interfaces.push({ name: nic.name, model, macAddress: mac, ...(onPod ? { masquerade: {} } : { bridge: {} }) })
    networks.push({ name: nic.name, ...(onPod ? { pod: {} } : { multus: { networkName: spec ? attachmentOf(spec) : '' } }) })
  }
  return { interfaces, networks }
}

/** The `[namespace/]name` that Multus is asked for; only for what is no pod network. */
export function attachmentOf(spec: NetworkConfiguration['spec']): string {
  if (!spec.nadRef) return attachmentName(spec)
  return spec.nadRef.namespace === undefined ? spec.nadRef.name : `${spec.nadRef.namespace}/${spec.nadRef.name}`
}

export interface CniConfig {
  cniVersion: string
  name: string
  type: 'bridge'
  bridge: string
  vlan?: number
  mtu?: number
  ipam: object
}

export function cniConfig({ bridge = '', vlan = 0, mtu }: NetworkConfiguration['spec'], cniVersion: string): CniConfig {
  const name = attachmentName({ bridge, vlan })
  return {
    cniVersion,
    name,
    type: 'bridge',
    bridge,
    ...(vlan > 0 && { vlan }),
    ...(mtu !== undefined && { mtu }),
    ipam: {}
  }
}

/** Shared between Machines, hence labelled and not owned. */
export function renderAttachment(namespace: string, spec: NetworkConfiguration['spec'], cniVersion: string): NetworkAttachment {
  const config = cniConfig(spec, cniVersion)
  return { metadata: { name: config.name, namespace, labels: { ...managed } }, spec: { config: JSON.stringify(config) } }
}
