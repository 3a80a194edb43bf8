// Health of bonds (spec/ovs.md §5.1). Pure.
import type { KernelBond, KernelMember } from './wire/bonding.ts'
import type { InterfaceRow } from './tables.ts'
import { linkStatus } from './interfaces.ts'
import { type Model, type Port, byName, portsOf } from './model.ts'
import type { Expected } from './observed.ts'

export interface Member {
  readonly name: string
  readonly usable: boolean
  /** Why not. */
  readonly reason?: 'LinkDown' | 'AdminDown' | 'Missing' | 'LacpNotCurrent' | 'NotInAggregator'
}

export interface Bond {
  readonly name: string
  readonly bridge: string | undefined
  /** Undefined for one that is expected and nowhere. */
  readonly kind: 'ovs' | 'kernel' | undefined
  readonly mode: string | undefined
  readonly lacp: 'active' | 'passive' | 'off' | undefined
  readonly lacpTime: string | undefined
  readonly status: 'Active' | 'Degraded' | 'Down' | 'Unknown'
  readonly members: readonly Member[]
  readonly expectedMembers: number
  readonly activeMembers: number
  readonly activeMember: string | undefined
}

const noMac = '00:00:00:00:00:00'

/** `kernelBonds` is undefined until the kernel was asked. */
export function bondsOf(
  model: Model,
  kernelBonds: ReadonlyMap<string, KernelBond | undefined> | undefined,
  { bonds: expected = [] }: Expected
): Bond[] {
  const wish = (name: string) => expected.find(bond => bond.name === name)
  const wanted: Wanted = (name, configured) => wish(name)?.members ?? configured
  const ports = portsOf(model)
  const ovs = ports.filter(port => isOvsBond(port, wish(port.name) !== undefined)).map(port => ovsBond(port, wanted))
  const inSwitch = new Map(ports.flatMap(({ bridge, interfaces }) => interfaces.map(({ name }) => [name, bridge] as const)))
  const kernel = [...(kernelBonds ?? [])]
    .filter(([name]) => inSwitch.has(name) || wish(name))
    .map(([name, bond]) => kernelBond(name, bond, inSwitch.get(name), wanted))
  const found = new Set([...ovs, ...kernel].map(({ name }) => name))
  const absent = kernelBonds ? expected.filter(({ name }) => !found.has(name) && !inSwitch.has(name)) : []
  return [...ovs, ...kernel, ...absent.map(absentBond)].sort(byName)
}

/** One that lost all members but one is still a bond to whoever expects it; a bond of the kernel has one interface and its own driver. */
const isOvsBond = ({ interfaces }: Port, expected: boolean): boolean =>
  interfaces.length > 1 || (expected && interfaces.some(({ status }) => status.get('driver_name') !== 'bonding'))

const absentBond = ({ name, members = 0 }: NonNullable<Expected['bonds']>[number]): Bond => ({
  name,
  bridge: undefined,
  kind: undefined,
  mode: undefined,
  lacp: undefined,
  lacpTime: undefined,
  status: 'Down',
  members: [],
  expectedMembers: members,
  activeMembers: 0,
  activeMember: undefined
})

type Wanted = (name: string, configured: number) => number

function ovsBond(port: Port, wanted: Wanted): Bond {
  const { name, bridge, interfaces, bond_active_slave: activeMac, lacp, other_config } = port
  const withLacp = lacp === 'active' || lacp === 'passive'
  const members = interfaces.map(row => ovsMember(row, withLacp))
  const usable = members.filter(member => member.usable).length
  const expectedMembers = wanted(name, members.length)
  // OV-34: the partner is silent, the bond fell back to one link
  const fallback = withLacp && other_config.get('lacp-fallback-ab') === 'true' && usable === 0 && hasActive(activeMac)
  const activeMembers = fallback ? 1 : activeMac === noMac ? 0 : usable
  return {
    name,
    bridge,
    kind: 'ovs',
    mode: port.bond_mode ?? 'active-backup',
    lacp: withLacp ? lacp : 'off',
    lacpTime: withLacp ? (other_config.get('lacp-time') ?? 'slow') : undefined,
    status: fallback ? 'Degraded' : statusFrom(activeMembers, expectedMembers),
    members,
    expectedMembers,
    activeMembers,
    activeMember: hasActive(activeMac) ? interfaces.find(({ mac_in_use }) => mac_in_use === activeMac)?.name : undefined
  }
}

const hasActive = (mac: string | undefined): boolean => mac !== undefined && mac !== noMac

function ovsMember(row: InterfaceRow, withLacp: boolean): Member {
  const { name } = row
  const link = linkStatus(row)
  if (link === 'Missing' || link === 'Error') return { name, usable: false, reason: 'Missing' }
  if (link === 'AdminDown') return { name, usable: false, reason: 'AdminDown' }
  if (link !== 'Up') return { name, usable: false, reason: 'LinkDown' }
  if (withLacp && row.lacp_current !== true) return { name, usable: false, reason: 'LacpNotCurrent' }
  return { name, usable: true }
}

/** OV-37 */
function kernelBond(name: string, bond: KernelBond | undefined, bridge: string | undefined, wanted: Wanted): Bond {
  const members = bond?.members.map(member => kernelMember(member, bond)) ?? []
  const expectedMembers = wanted(name, members.length)
  const activeMembers = members.filter(({ usable }) => usable).length
  return {
    name,
    bridge,
    kind: 'kernel',
    mode: bond?.mode,
    lacp: bond && (bond.mode === '802.3ad' ? 'active' : 'off'),
    lacpTime: undefined,
    status: bond ? statusFrom(activeMembers, expectedMembers) : 'Unknown',
    members,
    expectedMembers,
    activeMembers,
    activeMember: bond?.activeMember
  }
}

function kernelMember({ name, up, aggregator, partnerMac }: KernelMember, bond: KernelBond): Member {
  if (!up) return { name, usable: false, reason: 'LinkDown' }
  if (bond.mode !== '802.3ad') return { name, usable: true }
  if (partnerMac === undefined || partnerMac === noMac) return { name, usable: false, reason: 'LacpNotCurrent' }
  if (aggregator !== bond.activeAggregator) return { name, usable: false, reason: 'NotInAggregator' }
  return { name, usable: true }
}

function statusFrom(active: number, wanted: number): Bond['status'] {
  if (active === 0) return 'Down'
  return active >= wanted ? 'Active' : 'Degraded'
}
