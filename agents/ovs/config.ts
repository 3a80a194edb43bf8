import { Type, type Static } from 'typebox'
import { bindAddressPattern } from '../../shared/runtime/bind-address.ts'
import { Duration } from '../../shared/runtime/config.ts'

export const config = Type.Object({
  nodeName: Type.String({ minLength: 1, description: 'the Node this agent runs on, and the name of its OVSNode' }),
  namespace: Type.String({ default: 'ovn-system', description: 'where the OVSNode is' }),
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  kSink: Type.String({ pattern: '^https?://', description: 'address of the broker' }),
  spoolDir: Type.String({ default: '/var/lib/drover/ovs-agent', description: 'where events wait that the broker has not taken' }),
  ovsRunDir: Type.String({ default: '/var/run/openvswitch', description: 'sockets and pid files of Open vSwitch' }),
  ovnRunDir: Type.String({ default: '/var/run/ovn', description: 'socket and pid file of ovn-controller' }),
  ovsdbRemote: Type.Optional(Type.String({ description: 'the database of the switch; left out, db.sock in OVS_RUN_DIR' })),
  bondingDir: Type.String({ default: '/proc/net/bonding', description: "the kernel's bonds" }),
  expectedBridges: Type.Array(Type.String({ minLength: 1 }), {
    default: ['br-int', 'br-ex', 'br-provider?'],
    description:
      'bridges that must be there; a question mark behind a name means it may be missing. spec.expected.bridges comes before this'
  }),
  physicalInterfaces: Type.Optional(Type.String({ description: 'pattern of the names of network cards, in place of guessing' })),
  heartbeat: Duration({ default: '30s', description: 'how often the status is written when nothing changes' }),
  orphanGrace: Duration({ default: '5m', description: 'how long a port must be without an owner before it is told' }),
  inventoryStale: Duration({
    default: '3m',
    description: "how old the hypervisor agent's heartbeat may be before its list of domains is not trusted"
  }),
  migrationNamespace: Type.String({ default: 'monsoon3', description: 'where Migration objects are' }),
  sbAccess: Type.Enum(['off', 'read'], { default: 'off', description: 'whether to read the southbound database too' }),
  sbCaFile: Type.Optional(Type.String({ description: 'CA certificate of the southbound database, for ssl: remotes' })),
  sbCertFile: Type.Optional(Type.String({ description: 'certificate of this node for it' })),
  sbKeyFile: Type.Optional(Type.String({ description: 'key of that certificate' })),
  portMetrics: Type.Enum(['physical', 'all'], {
    default: 'physical',
    description: 'of which interfaces counters are shown in /metrics'
  }),
  metricsBindAddress: Type.Optional(
    Type.String({ pattern: bindAddressPattern, description: 'where health and metrics are; left out, HOST and PORT' })
  ),
  diagBindAddress: Type.String({
    default: ':9645',
    pattern: bindAddressPattern,
    description: 'where the troubleshooting endpoints listen'
  }),
  diagCertFile: Type.String({
    default: '/etc/ovs-agent/tls/tls.crt',
    description: 'their certificate; while there is no such file they are off'
  }),
  diagKeyFile: Type.String({ default: '/etc/ovs-agent/tls/tls.key', description: 'key of that certificate' }),
  mirrorPorts: Type.Array(Type.String(), { default: [], description: 'ports to which a mirror capture may copy frames' })
})
export type Config = Readonly<Static<typeof config>>
