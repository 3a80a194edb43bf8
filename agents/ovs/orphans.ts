// Ports of the integration bridge that belong to nobody (spec/ovs.md §5.3). Pure.
import type { InterfaceRow } from './tables.ts'
import type { Model, Port } from './model.ts'
import type { Binding, Observed } from './observed.ts'

export interface Orphan {
  readonly port: string
  readonly reason: 'DeviceUnavailable' | 'LogicalPortDeleted' | 'NoLogicalPort' | 'DomainGone'
  readonly evidence: Readonly<Record<string, string>>
}

const madeByOvn = [
  'ovn-chassis-id',
  'ovn-localnet-port',
  'ovn-l2gateway-port',
  'ovn-l3gateway-port',
  'ovn-logical-patch-port',
  'ovn-owned'
]

export function candidates(model: Model): Array<{ port: Port; row: InterfaceRow }> {
  const bridge = model.bridges.find(({ name }) => name === model.ovn.integrationBridge)
  return (bridge?.ports ?? []).flatMap(port => {
    const [row] = port.interfaces
    if (!row || port.interfaces.length > 1 || row.type === 'internal' || row.type === 'patch') return []
    const ids = [port.external_ids, row.external_ids]
    return madeByOvn.some(id => ids.some(map => map.has(id))) ? [] : [{ port, row }]
  })
}

/** Those for which there is sufficient evidence now; how long it must hold is not decided here. */
export function orphansOf(model: Model, { southbound, inventory }: Observed): Orphan[] {
  return candidates(model).flatMap(({ port, row }) => {
    const ifaceId = row.external_ids.get('iface-id')
    const vmId = row.external_ids.get('vm-id')
    const binding = ifaceId === undefined ? undefined : southbound?.bindings.get(ifaceId)
    // OV-42, OV-43: on the move, or claimed twice, is something else
    if (binding?.moving || isFlapping(binding) || (vmId !== undefined && inventory?.moving.has(vmId))) return []
    const unknownDomain = vmId !== undefined && inventory !== undefined && inventory.fresh && !inventory.domains.has(vmId)
    const reason = judge(row, { ifaceId, binding, southbound: southbound !== undefined, unknownDomain })
    if (reason === undefined) return []
    return [{ port: port.name, reason, evidence: evidenceOf(row, binding, unknownDomain, southbound !== undefined) }]
  })
}

export const isFlapping = (binding: Binding | undefined): boolean => (binding?.claims ?? 0) >= 4

interface Known {
  ifaceId: string | undefined
  binding: Binding | undefined
  southbound: boolean
  unknownDomain: boolean
}

function judge(row: InterfaceRow, { ifaceId, binding, southbound, unknownDomain }: Known): Orphan['reason'] | undefined {
  const { ofport, error, link_state, external_ids } = row
  if (ofport === -1 && error && link_state === undefined) return 'DeviceUnavailable'
  const installed = external_ids.has('ovn-installed')
  const working = ofport !== undefined && ofport > 0 && !error
  if (!installed && external_ids.has('ovn-installed-ts') && !(southbound && binding)) return 'LogicalPortDeleted'
  if (ifaceId !== undefined && !installed && working && !binding && (southbound || unknownDomain)) return 'NoLogicalPort'
  if (link_state === 'down' && working && unknownDomain) return 'DomainGone'
  return undefined
}

function evidenceOf(
  row: InterfaceRow,
  binding: Binding | undefined,
  unknownDomain: boolean,
  southbound: boolean
): Record<string, string> {
  const ids = ['iface-id', 'vm-id', 'attached-mac', 'ovn-installed', 'ovn-installed-ts']
  return {
    ofport: String(row.ofport ?? 'none'),
    linkState: row.link_state ?? 'none',
    ...(row.error && { error: row.error }),
    ...Object.fromEntries(ids.flatMap(id => (row.external_ids.has(id) ? [[id, row.external_ids.get(id) ?? '']] : []))),
    ...(southbound && { portBinding: binding ? `on ${binding.chassis} chassis` : 'none' }),
    ...(unknownDomain && { domain: 'unknown to libvirt on this node' })
  }
}
