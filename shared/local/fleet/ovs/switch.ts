// The switch of one host: the integration bridge with a port for each server, the outer bridge with a bond of two cards.
import { uuid } from 'ovsdb-client/server'
import { tapOf } from '../domains/domain.ts'
import { Database, type Cells } from './database.ts'
import { serverTables, switchTables } from './schema.ts'

export interface Link {
  readonly name: string
  readonly bond: string
  up: boolean
}

export const bondName = 'bond0'
export const bridgeNames = ['br-int', 'br-ex'] as const
const cards = ['eth0', 'eth1'] as const
const localPort = 65_534 // OFPP_LOCAL
const speed = 25_000_000_000
const flowsOfBridge = { 'br-int': 120, 'br-ex': 12 } as const
const flowsOfPort = 38

export class Switch {
  readonly database: Database
  readonly server: Database
  readonly links: Link[] = cards.map(name => ({ name, bond: bondName, up: true }))
  readonly #bridges = new Map<string, { id: string; ports: Set<string> }>()
  readonly #taps = new Map<string, { port: string; interface: string }>()
  readonly #cards = new Map<string, string>()
  #nextPort = 10

  constructor(host: { name: string; address: string }, newId: () => string) {
    this.database = new Database('Open_vSwitch', switchTables, newId)
    this.server = new Database('_Server', serverTables, newId)
    const database = { name: 'Open_vSwitch', model: 'standalone', connected: true, leader: true }
    this.server.insert('Database', database)
    this.database.transact(() => this.#build(host, newId))
  }

  setLink(link: Link, up: boolean): void {
    link.up = up
    this.database.update('Interface', this.#cards.get(link.name) ?? '', linkCells(up))
  }

  /** The port of a server on this host. Repeating it changes nothing. */
  plug(server: string, running: boolean): void {
    const known = this.#taps.get(server)
    if (known) return this.database.update('Interface', known.interface, { link_state: running ? 'up' : 'down' })
    this.database.transact(() => {
      const name = tapOf(server)
      const mac = macOf(server)
      const ids = { 'iface-id': server, 'vm-id': server, 'attached-mac': mac, 'ovn-installed': 'true' }
      const made = this.#addPort('br-int', {
        name,
        cells: {
          type: '',
          admin_state: 'up',
          link_state: running ? 'up' : 'down',
          mac_in_use: `fe${mac.slice(2)}`,
          mtu: 1442,
          ofport: this.#nextPort++,
          external_ids: ids,
          status: { driver_name: 'tun' }
        }
      })
      this.#taps.set(server, made)
    })
  }

  unplug(server: string): void {
    const known = this.#taps.get(server)
    if (!known) return
    this.#taps.delete(server)
    this.database.transact(() => {
      const bridge = this.#bridges.get('br-int')
      bridge?.ports.delete(known.port)
      this.#linkPorts('br-int')
      this.database.remove('Port', known.port)
      this.database.remove('Interface', known.interface)
    })
  }

  unplugAll(): void {
    this.database.transact(() => [...this.#taps.keys()].forEach(server => this.unplug(server)))
  }

  flowsOf(bridge: string): number {
    const own = flowsOfBridge[bridge as keyof typeof flowsOfBridge] ?? 0
    return bridge === 'br-int' ? own + flowsOfPort * this.#taps.size : own
  }

  #build({ name, address }: { name: string; address: string }, newId: () => string): void {
    this.database.insert('Open_vSwitch', {
      ovs_version: '3.1.0',
      db_version: '8.3.1',
      dpdk_initialized: false,
      external_ids: {
        'system-id': name,
        'ovn-remote': 'tcp:southbound.example:6642',
        'ovn-encap-type': 'geneve',
        'ovn-encap-ip': address,
        'ovn-bridge-mappings': 'provider:br-ex'
      },
      other_config: {},
      next_cfg: 7,
      cur_cfg: 7
    })
    for (const bridge of bridgeNames) {
      const id = this.database.insert('Bridge', {
        name: bridge,
        ports: [],
        datapath_type: 'system',
        datapath_id: newId().replaceAll('-', '').slice(0, 16),
        external_ids: {},
        ...(bridge === 'br-int' && { fail_mode: 'secure' })
      })
      this.#bridges.set(bridge, { id, ports: new Set() })
      this.#addPort(bridge, {
        name: bridge,
        cells: {
          type: 'internal',
          admin_state: 'up',
          link_state: 'up',
          ofport: localPort,
          status: { driver_name: 'openvswitch' }
        }
      })
    }
    const members = cards.map((card, at) => {
      const id = this.database.insert('Interface', {
        name: card,
        type: '',
        admin_state: 'up',
        ...linkCells(true),
        link_speed: speed,
        mac_in_use: macOf(`${name}/${card}`),
        mtu: 9000,
        ofport: at + 1,
        ifindex: at + 2,
        status: { driver_name: 'mlx5_core' }
      })
      this.#cards.set(card, id)
      return id
    })
    const bond = { name: bondName, bond_mode: 'balance-tcp', lacp: 'active', other_config: { 'lacp-time': 'fast' } }
    this.#link('br-ex', this.database.insert('Port', { ...bond, interfaces: members.map(uuid) }))
  }

  #addPort(bridge: string, { name, cells }: { name: string; cells: Cells }): { port: string; interface: string } {
    const made = this.database.insert('Interface', { name, ...cells })
    const port = this.database.insert('Port', { name, interfaces: [uuid(made)], external_ids: {} })
    this.#link(bridge, port)
    return { port, interface: made }
  }

  #link(bridge: string, port: string): void {
    this.#bridges.get(bridge)?.ports.add(port)
    this.#linkPorts(bridge)
  }

  #linkPorts(bridge: string): void {
    const known = this.#bridges.get(bridge)
    if (known) this.database.update('Bridge', known.id, { ports: Array.from(known.ports, uuid) })
  }
}

/** Without a link there is no LACP partner either. */
const linkCells = (up: boolean): Cells => ({ link_state: up ? 'up' : 'down', lacp_current: up })

/** Locally administered, always the same for the same text. */
function macOf(text: string): string {
  let hash = 2_166_136_261 // FNV-1a
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16_777_619) >>> 0
  const hex = (hash >>> 0).toString(16).padStart(8, '0')
  return `02:00:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4, 6)}:${hex.slice(6, 8)}`
}
