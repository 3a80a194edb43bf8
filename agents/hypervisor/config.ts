import { Type, type Static } from 'typebox'
import { Duration } from '../../shared/runtime/config.ts'
import { watched } from './libvirt/subscribe.ts'

export const config = Type.Object({
  nodeName: Type.String({ minLength: 1, description: 'name of this node and of its Hypervisor' }),
  kSink: Type.String({ pattern: '^https?://', description: 'address of the broker' }),
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  libvirtUri: Type.String({ default: 'qemu:///system', description: 'qemu, ch or test; +unix, +tls or +tcp' }),
  allowPlainTcp: Type.Boolean({
    default: false,
    description: 'allow +tcp without authentication; a standing warning in status.agent.degraded'
  }),
  keepalive: Duration({
    default: '5s',
    description: 'between two pings to libvirt; after three without an answer it is taken for lost'
  }),
  systemBus: Type.String({
    default: 'unix:path=/run/dbus/system_bus_socket',
    description: 'D-Bus address; `none` leaves out systemd and logind'
  }),
  libvirtUnit: Type.String({
    default: 'libvirtd.service',
    description: 'no connection is tried while systemd says that it is down'
  }),
  units: Type.Array(Type.String(), {
    default: ['libvirtd.service', 'openvswitch-switch.service'],
    description: 'units told as conditions'
  }),
  stateFolder: Type.String({ default: '/var/lib/drover', description: 'spool and state; should outlive the pod' }),
  spoolBytes: Type.Integer({ minimum: 65_536, default: 64 * 1024 * 1024, description: 'bound of the spool on disk' }),
  hostRoot: Type.String({ default: '/', description: 'where the host’s /etc and /proc are seen' }),
  eventKindsFile: Type.Optional(
    Type.String({
      description: `a mounted ConfigMap: which events are told, of ${watched.join(', ')}; read again when it changes`
    })
  ),
  countInactive: Type.Boolean({ default: true, description: 'domains that are off count in the allocation' }),
  heartbeat: Duration({ default: '2s', description: 'between two heartbeat events' }),
  report: Duration({ default: '5m', description: 'between two full reports of instances and uptime' }),
  fullCheck: Duration({ default: '10m', description: 'between two full comparisons with libvirt and the host' }),
  statusGap: Duration({ default: '2s', description: 'at most one write of the status in this time' }),
  statusBeat: Duration({ default: '30s', description: 'a write after this time, if nothing changed' }),
  emitTimeout: Duration({
    default: '2m',
    description: 'for one try of one event; longer than the longest retry schedule of a Trigger'
  }),
  expectedDrain: Duration({ default: '0s', description: 'a shutdown budget below this is reported as degraded' }),
  inhibitCommand: Type.String({
    default: 'systemd-inhibit',
    description: 'program that holds the shutdown lock: a Node socket cannot receive its file descriptor'
  }),
  certificateMode: Type.Enum(['secret', 'csr'], {
    default: 'secret',
    description:
      'whether libvirt’s certificate comes with its key in a secret, or the key is made on the node and a CertificateSigningRequest asks for the certificate'
  }),
  csrSigner: Type.String({
    default: 'issuers.cert-manager.io/monsoon3.nova-hypervisor-agents-ca-issuer',
    description: 'signerName of that request'
  }),
  csrCaFile: Type.String({ default: '/csr/ca.crt', description: 'certificate of that signer, which its answer does not bring' }),
  secretNamespace: Type.String({ default: 'monsoon3', description: 'where the TLS secret tls-libvirt-NODE_NAME is' }),
  pkiFolder: Type.String({ default: '/etc/pki', description: 'where certificates are installed' }),
  tlsAddress: Type.Optional(
    Type.String({ pattern: ':\\d+$', description: 'host:port; looked at whether it serves the installed certificate' })
  ),
  certificateCheck: Duration({ default: '1m', description: 'between two looks at the TLS secret' })
})
export type Config = Readonly<Static<typeof config>>
