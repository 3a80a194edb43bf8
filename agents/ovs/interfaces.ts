// The network cards of the node, and how they are. Pure.
import type { InterfaceRow } from './tables.ts'
import type { KernelBond } from './wire/bonding.ts'
import { type Model, byName, portsOf } from './model.ts'

export interface Physical {
  readonly name: string
  readonly status: 'Up' | 'Down' | 'AdminDown' | 'Missing' | 'Error' | 'Unknown'
  readonly bond: string | undefined
  readonly speed: string | undefined
  /** Undefined for a member of a kernel bond: the switch knows only the bond. */
  readonly row: InterfaceRow | undefined
}

const ownTypes = new Set(['', 'system', 'dpdk', 'afxdp'])
const virtualDrivers = /^(tun|veth|bridge|openvswitch)$/
const guestIds = ['iface-id', 'vm-id', 'attached-mac']

type KernelBonds = Iterable<readonly [name: string, bond: KernelBond | undefined]>

/** OV-8. A member of a bond always counts, whatever it is made of. */
export function physicalInterfaces(model: Model, kernelBonds: KernelBonds, pattern?: RegExp): Physical[] {
  const found = new Map<string, Physical>()
  for (const [bond, { members } = { members: [] }] of kernelBonds) {
    for (const { name, up, mbps } of members) {
      const speed = speedText(mbps === undefined ? undefined : BigInt(mbps) * 1_000_000n)
      found.set(name, { name, status: up ? 'Up' : 'Down', bond, speed, row: undefined })
    }
  }
  for (const port of portsOf(model)) {
    const bonded = port.interfaces.length > 1
    for (const row of port.interfaces) {
      if (bonded || (pattern ? pattern.test(row.name) : looksPhysical(row))) {
        const bond = bonded ? port.name : undefined
        found.set(row.name, { name: row.name, status: linkStatus(row), bond, speed: speedText(row.link_speed), row })
      }
    }
  }
  return [...found.values()].sort(byName)
}

function looksPhysical({ name, type, external_ids, status }: InterfaceRow): boolean {
  if (!ownTypes.has(type) || guestIds.some(id => external_ids.has(id))) return false
  const driver = status.get('driver_name')
  return name !== '' && (driver === undefined ? type !== '' && type !== 'system' : !virtualDrivers.test(driver))
}

/** OV-35: a netdev that vanished leaves error and ofport as they were; one that never was has ofport -1 and an error. */
export function linkStatus({ admin_state, link_state, ofport, error }: InterfaceRow): Physical['status'] {
  if (ofport === -1 || (error !== undefined && error !== '')) return link_state === undefined ? 'Missing' : 'Error'
  if (link_state === undefined) return ofport === undefined ? 'Unknown' : 'Missing'
  if (link_state === 'up' && admin_state !== 'down') return 'Up'
  return admin_state === 'down' ? 'AdminDown' : 'Down'
}

/** 25Gbps, 2.5Gbps, 100Mbps; undefined when it is not known. */
export function speedText(bitsPerSecond: bigint | undefined): string | undefined {
  if (bitsPerSecond === undefined || bitsPerSecond <= 0n) return undefined
  const mbps = Number(bitsPerSecond / 1_000_000n)
  if (mbps < 1) return undefined
  return mbps < 1000 ? `${mbps}Mbps` : `${Math.round(mbps / 100) / 10}Gbps`
}
