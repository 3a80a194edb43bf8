// The columns that are followed (OV-15). Statistics are not among them: they change every five seconds and are read at each heartbeat.
import { type Monitor, type Rows, column } from 'ovsdb-client'

const { string, boolean, integer, safeInteger, uuid, optional, set, map } = column
const words = map(string, string)

export const switchTables = {
  Open_vSwitch: {
    ovs_version: optional(string),
    db_version: optional(string),
    dpdk_initialized: boolean,
    dpdk_version: optional(string),
    external_ids: words,
    other_config: words,
    next_cfg: integer,
    cur_cfg: integer
  },
  Bridge: {
    name: string,
    ports: set(uuid),
    datapath_type: string,
    fail_mode: optional(string),
    datapath_id: optional(string),
    external_ids: words,
    sflow: optional(uuid),
    mirrors: set(uuid)
  },
  Port: {
    name: string,
    interfaces: set(uuid),
    bond_mode: optional(string),
    bond_active_slave: optional(string),
    lacp: optional(string),
    other_config: words,
    external_ids: words
  },
  Interface: {
    name: string,
    type: string,
    admin_state: optional(string),
    link_state: optional(string),
    link_speed: optional(integer),
    link_resets: optional(integer),
    lacp_current: optional(boolean),
    mac_in_use: optional(string),
    mtu: optional(safeInteger),
    ofport: optional(safeInteger),
    ifindex: optional(safeInteger),
    error: optional(string),
    options: words,
    status: words,
    external_ids: words
  },
  sFlow: { external_ids: words },
  Mirror: { external_ids: words }
} as const
export type SwitchTables = { readonly [T in keyof typeof switchTables]: Rows<(typeof switchTables)[T]> }
type RowOf<T extends keyof typeof switchTables> = SwitchTables[T] extends ReadonlyMap<string, infer R> ? R : never
export type BridgeRow = RowOf<'Bridge'>
export type PortRow = RowOf<'Port'>
export type InterfaceRow = RowOf<'Interface'>

/** Read with `select`, not followed. */
export const statisticsColumns = { name: string, statistics: map(string, integer) } as const

/** All tables at this moment; undefined while they are not known. The maps are live: look, don't keep. */
export function tablesOf(monitor: Monitor<typeof switchTables>): SwitchTables | undefined {
  if (monitor.state !== 'current') return undefined
  const names = Object.keys(switchTables) as Array<keyof typeof switchTables>
  return Object.fromEntries(names.map(name => [name, monitor.rows(name)])) as unknown as SwitchTables
}

export const southboundTables = {
  SB_Global: { nb_cfg: integer },
  Chassis: { name: string },
  Port_Binding: {
    logical_port: string,
    chassis: optional(uuid),
    additional_chassis: set(uuid),
    requested_additional_chassis: set(uuid)
  }
} as const
