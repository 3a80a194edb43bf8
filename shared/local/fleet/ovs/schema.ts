// The part of vswitch.ovsschema that the simulated switch fills, and of ovsdb-server's own database (ovsdb-server(5)).

export type Base = 'string' | 'integer' | 'boolean' | 'uuid'
export type ColumnType = Base | { key: Base; value?: Base; min: 0 | 1; max: 1 | 'unlimited' }
export type Tables = Readonly<Record<string, Readonly<Record<string, ColumnType>>>>

const maybe = (key: Base): ColumnType => ({ key, min: 0, max: 1 })
const many = (key: Base): ColumnType => ({ key, min: 0, max: 'unlimited' })
const words: ColumnType = { key: 'string', value: 'string', min: 0, max: 'unlimited' }
const counters: ColumnType = { key: 'string', value: 'integer', min: 0, max: 'unlimited' }

export const switchTables: Tables = {
  Open_vSwitch: {
    bridges: many('uuid'),
    ovs_version: maybe('string'),
    db_version: maybe('string'),
    dpdk_initialized: 'boolean',
    dpdk_version: maybe('string'),
    external_ids: words,
    other_config: words,
    next_cfg: 'integer',
    cur_cfg: 'integer'
  },
  Bridge: {
    name: 'string',
    ports: many('uuid'),
    datapath_type: 'string',
    fail_mode: maybe('string'),
    datapath_id: maybe('string'),
    external_ids: words,
    sflow: maybe('uuid'),
    mirrors: many('uuid')
  },
  Port: {
    name: 'string',
    interfaces: many('uuid'),
    bond_mode: maybe('string'),
    bond_active_slave: maybe('string'),
    lacp: maybe('string'),
    other_config: words,
    external_ids: words
  },
  Interface: {
    name: 'string',
    type: 'string',
    admin_state: maybe('string'),
    link_state: maybe('string'),
    link_speed: maybe('integer'),
    link_resets: maybe('integer'),
    lacp_current: maybe('boolean'),
    mac_in_use: maybe('string'),
    mtu: maybe('integer'),
    ofport: maybe('integer'),
    ifindex: maybe('integer'),
    error: maybe('string'),
    options: words,
    status: words,
    external_ids: words,
    statistics: counters
  },
  sFlow: { external_ids: words },
  Mirror: { name: 'string', external_ids: words }
}

export const serverTables: Tables = {
  Database: {
    name: 'string',
    model: 'string',
    connected: 'boolean',
    leader: 'boolean',
    cid: maybe('uuid'),
    index: maybe('integer')
  }
}

/** RFC 7047 §3.2 */
export const schemaText = (name: string, version: string, tables: Tables): object => ({
  name,
  version,
  tables: Object.fromEntries(
    Object.entries(tables).map(([table, columns]) => [
      table,
      { columns: Object.fromEntries(Object.entries(columns).map(([column, type]) => [column, { type }])) }
    ])
  )
})
