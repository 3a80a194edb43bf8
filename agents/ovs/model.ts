// The tables of Open vSwitch as one value: bridges with their ports, ports with their interfaces. Pure.
import type { BridgeRow, InterfaceRow, PortRow, SwitchTables } from './tables.ts'

export type Port = Omit<PortRow, 'interfaces'> & { readonly bridge: string; readonly interfaces: readonly InterfaceRow[] }
export type Bridge = Omit<BridgeRow, 'ports'> & { readonly ports: readonly Port[] }

export interface Model {
  readonly ovsVersion: string | undefined
  readonly schemaVersion: string | undefined
  readonly dpdk: { readonly enabled: boolean; readonly version: string; readonly wanted: boolean }
  readonly configLag: boolean
  readonly bridges: readonly Bridge[]
  readonly ovn: OvnSettings
}

/** What ovn-controller was told, in Open_vSwitch.external_ids. */
export interface OvnSettings {
  readonly chassisId: string | undefined
  /** Undefined: OVN is not used here. */
  readonly remote: string | undefined
  readonly encapType: string | undefined
  readonly encapIp: string | undefined
  readonly integrationBridge: string
  readonly mappings: ReadonlyArray<{ readonly physicalNetwork: string; readonly bridge: string }>
}

export const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : Number(a.name > b.name))

const rowsOf = <R>(table: ReadonlyMap<string, R>, uuids: Iterable<string>): R[] =>
  Array.from(uuids).flatMap(uuid => table.get(uuid) ?? [])

function portOf(row: PortRow, bridge: string, { Interface }: SwitchTables): Port {
  return { ...row, bridge, interfaces: rowsOf(Interface, row.interfaces).sort(byName) }
}

function bridgeOf(row: BridgeRow, tables: SwitchTables): Bridge {
  return {
    ...row,
    ports: rowsOf(tables.Port, row.ports)
      .map(port => portOf(port, row.name, tables))
      .sort(byName)
  }
}

const models = new WeakMap<SwitchTables, Model>()

/** Made once for each state of the database: several ask for it, again and again. */
export function modelOf(tables: SwitchTables): Model {
  const known = models.get(tables) ?? makeModel(tables)
  models.set(tables, known)
  return known
}

function makeModel(tables: SwitchTables): Model {
  const [root] = tables.Open_vSwitch.values()
  const ids = root?.external_ids ?? new Map<string, string>()
  const bridges = Array.from(tables.Bridge.values(), row => bridgeOf(row, tables))
  return {
    ovsVersion: root?.ovs_version,
    schemaVersion: root?.db_version,
    dpdk: {
      enabled: root?.dpdk_initialized ?? false,
      version: (root?.dpdk_initialized && root.dpdk_version) || '',
      wanted: ['true', 'try'].includes(root?.other_config.get('dpdk-init') ?? '')
    },
    configLag: root !== undefined && root.next_cfg !== root.cur_cfg,
    bridges: bridges.sort(byName),
    ovn: ovnSettings(ids)
  }
}

function ovnSettings(ids: ReadonlyMap<string, string>): OvnSettings {
  const mappings = (ids.get('ovn-bridge-mappings') ?? '').split(',').flatMap(pair => {
    const [physicalNetwork, bridge] = pair.trim().split(':')
    return physicalNetwork && bridge ? [{ physicalNetwork, bridge }] : []
  })
  return {
    chassisId: ids.get('system-id'),
    remote: ids.get('ovn-remote') || undefined,
    encapType: ids.get('ovn-encap-type'),
    encapIp: ids.get('ovn-encap-ip'),
    integrationBridge: ids.get('ovn-bridge') || 'br-int',
    mappings: mappings.sort((a, b) => (a.physicalNetwork < b.physicalNetwork ? -1 : 1))
  }
}

export const portsOf = ({ bridges }: Model): Port[] => bridges.flatMap(({ ports }) => ports)
