import { briefConditions } from './conditions.ts'
import { counter, dateTime, flag, int32, int64, listMap, object, text, word } from './vocabulary.ts'

export const datapathType = word('Userspace (netdev) or kernel (system) datapath', ['netdev', 'system'])
export const failMode = word('What the bridge does without a controller', ['secure', 'standalone'])
const count = (description: string) => int32(description, { minimum: 0 })

const bridge = object(
  'One bridge',
  {
    name: text('Name', { minLength: 1 }),
    ports: count('Ports'),
    flows: count('OpenFlow flows; absent when unknown'),
    datapathType,
    status: word('Health', ['Active', 'Degraded', 'Missing', 'Unknown']),
    failMode,
    datapathId: text('Datapath id, in hexadecimal digits'),
    reason: text('Why it is not Active')
  },
  { required: ['name'] }
)

const physical = object(
  'One network card',
  {
    name: text('Name', { minLength: 1 }),
    status: word('Link state', ['Up', 'Down', 'AdminDown', 'Missing', 'Error', 'Unknown']),
    speed: text('Speed, such as 25Gbps; absent when unknown', { pattern: '^([0-9]+(\\.[0-9])?Gbps|[0-9]+Mbps)$' }),
    bond: text('The bond it is in'),
    mtu: count('MTU'),
    linkResets: int64('How often the link changed', { minimum: 0 }),
    lacpCurrent: flag('Whether the LACP partner is heard'),
    error: text('What Open vSwitch says is wrong')
  },
  { required: ['name'] }
)

const bond = object(
  'One bond',
  {
    name: text('Name', { minLength: 1 }),
    mode: word('Bond mode, of Open vSwitch or of the kernel', [
      'balance-tcp',
      'balance-slb',
      'active-backup',
      'balance-rr',
      'balance-xor',
      'broadcast',
      '802.3ad',
      'balance-tlb',
      'balance-alb'
    ]),
    status: word('Health', ['Active', 'Degraded', 'Down', 'Unknown']),
    members: count('Configured members'),
    activeMembers: count('Usable members'),
    kind: word('Who runs the bond', ['ovs', 'kernel']),
    lacp: word('LACP', ['active', 'passive', 'off']),
    activeMember: text('The interface in use'),
    bridge: text('The bridge it is in')
  },
  { required: ['name'] }
)

const ovnController = object('The OVN controller of the node', {
  connected: flag('Whether it reaches the southbound database; absent when it cannot be asked'),
  sbConnection: text('Southbound database, as configured'),
  chassisId: text('Chassis id (system-id)'),
  encap: object('Tunnels', { type: text('geneve, vxlan, stt, or several with commas'), ip: text('Address') }),
  bridgeMappings: listMap(
    'Physical networks',
    object(
      'One mapping',
      { physicalNetwork: text('Network'), bridge: text('Bridge') },
      { required: ['physicalNetwork', 'bridge'] }
    ),
    ['physicalNetwork']
  ),
  integrationBridge: text('The integration bridge'),
  nbCfg: int64('Northbound configuration that was carried out'),
  nbCfgAt: dateTime('When it was')
})

// Kubernetes wants a key of a list-map to be required or to have a default. The seed's examples leave `bridge` and `id` out, so
// both have the empty default.
const tableFlows = object(
  'Flows of one table',
  {
    bridge: text('Bridge', { default: '' }),
    table: int32('Number of the table', { minimum: 0, maximum: 253 }),
    flows: int32('Flows', { minimum: 1 })
  },
  { required: ['table', 'flows'] }
)

const issue = object(
  'Something found wrong',
  {
    id: text('Type and object; stays the same while it lasts', { default: '' }),
    severity: word('How bad it is', ['Info', 'Warning', 'Critical']),
    type: text('Kind of issue'),
    object: text('What it is about'),
    message: text('What is wrong and what to do'),
    detectedAt: dateTime('When it was first seen')
  },
  { required: ['severity', 'message'] }
)

export const ovsNodeStatus = object('What the agent sees', {
  ovsVersion: text('Version of ovs-vswitchd'),
  ovsdVersion: text('Version of ovsdb-server'),
  ovsdbSchemaVersion: text('Version of the database schema'),
  dpdkEnabled: flag('Whether DPDK is in use'),
  dpdkVersion: text('DPDK version; empty when it is not in use'),
  bridges: listMap('Bridges', bridge, ['name']),
  interfaces: object('Interfaces of the node itself', {
    physical: listMap('Network cards', physical, ['name']),
    bonds: listMap('Bonds', bond, ['name'])
  }),
  ovnController,
  flowStats: object('OpenFlow flows', {
    totalFlows: count('Flows of all bridges'),
    flowsPerTable: listMap('Flows by table', tableFlows, ['bridge', 'table'], { maxItems: 512 })
  }),
  metrics: object('Traffic of the network cards', {
    packetsReceived: counter('Packets received'),
    packetsSent: counter('Packets sent'),
    bytesReceived: counter('Bytes received'),
    bytesSent: counter('Bytes sent'),
    drops: counter('Packets dropped, both ways'),
    errors: counter('Errors, both ways')
  }),
  issues: listMap('What is wrong, at most 50 entries', issue, ['id'], { maxItems: 50 }),
  issueCount: count('All issues, also those not listed'),
  ports: object('Ports', { orphans: count('Ports without an owner') }),
  observedAt: dateTime('When this was seen'),
  heartbeatSeconds: int32('How often the agent reports', { minimum: 1 }),
  agentVersion: text('Version of the agent'),
  conditions: briefConditions()
})
