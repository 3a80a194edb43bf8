// Health of bridges (spec/ovs.md §5.2). Pure.
import type { Bridge, Model } from './model.ts'
import { portsOf } from './model.ts'
import type { Expected } from './observed.ts'

export interface BridgeHealth {
  readonly name: string
  readonly status: 'Active' | 'Degraded' | 'Missing'
  readonly optional: boolean
  /** Why it is not Active. */
  readonly reason?: string
  readonly missingPeers: readonly string[]
  readonly row: Bridge | undefined
}

type Wish = NonNullable<Expected['bridges']>[number]

/** OV-38. A name in EXPECTED_BRIDGES that ends with a question mark may be missing; one that OVN maps a network to may not. */
export function expectedBridges(model: Model, { bridges }: Expected, byDefault: readonly string[]): Wish[] {
  const wishes = bridges ?? byDefault.map(text => ({ name: text.replace(/\?$/, ''), optional: text.endsWith('?') }))
  const mapped = new Set(model.ovn.mappings.map(({ bridge }) => bridge))
  const others = [...mapped].filter(name => !find(wishes, name)).map(name => ({ name, optional: false }))
  return [...wishes.map(wish => (mapped.has(wish.name) ? Object.assign({ ...wish }, { optional: false }) : wish)), ...others]
}

const find = (wishes: readonly Wish[], name: string): Wish | undefined => wishes.find(wish => wish.name === name)

export function bridgeHealth(model: Model, wishes: readonly Wish[]): BridgeHealth[] {
  const present = new Map(model.bridges.map(bridge => [bridge.name, bridge]))
  const names = [...new Set([...present.keys(), ...wishes.map(({ name }) => name)])].sort()
  const patchPorts = new Set(portsOf(model).flatMap(({ interfaces }) => interfaces.map(({ name }) => name)))
  return names.flatMap((name): BridgeHealth[] => {
    const row = present.get(name)
    const wish = find(wishes, name)
    if (row) return [{ ...judge(row, wish, model, patchPorts), name, row, optional: wish?.optional ?? true }]
    if (wish?.optional) return []
    return [{ name, status: 'Missing', reason: 'the bridge does not exist', optional: false, missingPeers: [], row }]
  })
}

function judge(
  bridge: Bridge,
  wish: Wish | undefined,
  { ovn: { integrationBridge } }: Model,
  interfaces: ReadonlySet<string>
): Pick<BridgeHealth, 'status' | 'reason' | 'missingPeers'> {
  const reasons: string[] = []
  const datapath = bridge.datapath_type || 'system'
  if (wish?.datapathType && datapath !== wish.datapathType)
    reasons.push(`datapath type is ${datapath}, expected ${wish.datapathType}`)
  const failMode = wish?.failMode ?? (bridge.name === integrationBridge ? 'secure' : undefined)
  if (failMode && (bridge.fail_mode ?? 'standalone') !== failMode)
    reasons.push(`fail mode is ${bridge.fail_mode ?? 'not set'}, expected ${failMode}`)
  const local = bridge.ports.flatMap(port => port.interfaces).find(({ name }) => name === bridge.name)
  // OV-40: without the tun device the local port fails with an empty error; its number is decisive
  if (!local || local.ofport === undefined || local.ofport < 0) reasons.push('its local port is not there')
  else if (local.error) reasons.push(`its local port failed: ${local.error}`)
  const missingPeers = bridge.ports
    .flatMap(port => port.interfaces)
    .filter(({ type, options }) => type === 'patch' && !interfaces.has(options.get('peer') ?? ''))
    .map(({ name }) => name)
  if (missingPeers.length > 0) reasons.push(`patch ports without a peer: ${missingPeers.join(', ')}`)
  return reasons.length === 0
    ? { status: 'Active', missingPeers }
    : { status: 'Degraded', reason: reasons.join('; '), missingPeers }
}
