// Rows of a switch, from a few words.
import type { BridgeRow, InterfaceRow, PortRow, SwitchTables } from '../../../agents/ovs/tables.ts'
import { type Observed, nothingYet } from '../../../agents/ovs/observed.ts'

type Words = Readonly<Record<string, string>>
const words = (given: Words = {}) => new Map(Object.entries(given))

export type GivenInterface = Partial<Omit<InterfaceRow, 'external_ids' | 'status' | 'options'>> & {
  name: string
  ids?: Words
  status?: Words
  options?: Words
}
export type GivenPort = Partial<Omit<PortRow, 'interfaces' | 'external_ids' | 'other_config'>> & {
  name: string
  interfaces?: GivenInterface[]
  ids?: Words
  config?: Words
}
export type GivenBridge = Partial<Omit<BridgeRow, 'ports' | 'external_ids'>> & { name: string; ports?: GivenPort[]; ids?: Words }

const interfaceRow = ({ ids, status, options, ...given }: GivenInterface): InterfaceRow => ({
  _uuid: `i-${given.name}`,
  type: '',
  admin_state: 'up',
  link_state: 'up',
  link_speed: 10_000_000_000n,
  link_resets: 1n,
  lacp_current: undefined,
  mac_in_use: undefined,
  mtu: 1500,
  ofport: 1,
  ifindex: 7,
  error: undefined,
  ...given,
  options: words(options),
  status: words(status),
  external_ids: words(ids)
})

/** Each bridge has its local port; a port without interfaces has one of its own name. */
export function tables(bridges: GivenBridge[], ids: Words = {}, config: Words = {}): SwitchTables {
  const made = {
    Bridge: new Map<string, BridgeRow>(),
    Port: new Map<string, PortRow>(),
    Interface: new Map<string, InterfaceRow>()
  }
  for (const { ports = [], ids: external, ...bridge } of bridges) {
    const all: GivenPort[] = ports.some(({ name }) => name === bridge.name)
      ? ports
      : [{ name: bridge.name, interfaces: [{ name: bridge.name, type: 'internal', ofport: 65_534 }] }, ...ports]
    for (const { interfaces = [{ name: '' }], ids: portIds, config: portConfig, ...port } of all) {
      const rows = interfaces.map(given => interfaceRow({ ...given, name: given.name || port.name }))
      for (const row of rows) made.Interface.set(row._uuid, row)
      made.Port.set(`p-${port.name}`, {
        _uuid: `p-${port.name}`,
        bond_mode: undefined,
        bond_active_slave: undefined,
        lacp: undefined,
        ...port,
        interfaces: new Set(rows.map(({ _uuid }) => _uuid)),
        external_ids: words(portIds),
        other_config: words(portConfig)
      })
    }
    made.Bridge.set(`b-${bridge.name}`, {
      _uuid: `b-${bridge.name}`,
      datapath_type: 'netdev',
      fail_mode: 'secure',
      datapath_id: '0000000000000001',
      sflow: undefined,
      mirrors: new Set(),
      ...bridge,
      ports: new Set(all.map(({ name }) => `p-${name}`)),
      external_ids: words(external)
    })
  }
  const root = {
    _uuid: 'root',
    ovs_version: '3.4.1',
    db_version: '8.3.1',
    dpdk_initialized: false,
    dpdk_version: undefined,
    external_ids: words(ids),
    other_config: words(config),
    next_cfg: 1n,
    cur_cfg: 1n
  }
  return { Open_vSwitch: new Map([['root', root]]), ...made, sFlow: new Map(), Mirror: new Map() }
}

export const observed = (given: Partial<Observed>): Observed => ({
  ...nothingYet,
  ovsdb: 'connected',
  vswitchd: 'responding',
  ...given
})

export const settings = { expectedBridges: ['br-int'] }
export const mac = '02:00:00:00:00:01'
export const about = { conditions: [], observedAt: undefined, heartbeatSeconds: 30, agentVersion: 'x' }
export const bond = (members: GivenInterface[], port: Partial<GivenPort> = {}): GivenBridge => ({
  name: 'br-ex',
  ports: [{ name: 'bond0', bond_mode: 'balance-tcp', lacp: 'active', bond_active_slave: mac, interfaces: members, ...port }]
})
export const current = { lacp_current: true }
