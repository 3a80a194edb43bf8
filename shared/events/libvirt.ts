import { Type, type TProperties } from 'typebox'
import { event, type EventKind } from './kind.ts'

// Facts of the hypervisor agent (spec/ha.md §2, NA-13…14). `epoch` counts the agent's connections to libvirt, `bootId` the host's boots:
// together with `sequence` they tell old news from new.
const host = {
  host: Type.String({ minLength: 1 }),
  at: Type.String({ format: 'date-time' }),
  bootId: Type.String(),
  epoch: Type.Integer()
}
const domain = { ...host, server: Type.String({ minLength: 1 }), name: Type.String() }

function fact<P extends TProperties>(noun: string, properties: P, summary: string, reactedBy: readonly string[] = ['ha']) {
  return event({
    type: `sap.cloud.kvm.${noun}.v1`,
    data: Type.Object(properties),
    source: '/hypervisor-agent/<node>',
    emittedBy: 'agents/hypervisor',
    reactedBy,
    summary
  })
}

// `cause`: who began a stop (by-guest, by-host), as the shutdown before it said
const lifecycle = {
  ...domain,
  event: Type.String(),
  detail: Type.String(),
  state: Type.Optional(Type.String()),
  cause: Type.Optional(Type.String())
}

export const domainChanged = fact(
  'domain.changed',
  lifecycle,
  'a domain was defined, started, resumed, paused, moved: recorded only',
  ['ha', 'evict']
)
export const domainStopped = fact('domain.stopped', lifecycle, 'a domain stopped: by its guest, by the host or destroyed', [
  'ha',
  'evict'
])
export const domainCrashed = fact('domain.crashed', lifecycle, 'a domain crashed, failed or panicked')
export const domainRebooted = fact('domain.rebooted', domain, 'a guest rebooted')
export const postcopyFailed = fact('postcopy.failed', lifecycle, 'a post-copy migration broke: neither side may be touched', [
  'ha',
  'evict'
])
export const watchdogFired = fact('watchdog.fired', { ...domain, action: Type.String() }, 'a guest watchdog fired')
export const diskFailed = fact(
  'disk.failed',
  { ...domain, device: Type.String(), path: Type.String(), action: Type.String(), reason: Type.String() },
  'a disk of a domain gave an I/O error'
)
export const domainControlLost = fact('domain-control.lost', domain, 'a domain runs but cannot be managed')
export const guestAgentConnected = fact('guest-agent.connected', { ...domain, reason: Type.String() }, 'the guest agent answers')
export const guestAgentDisconnected = fact(
  'guest-agent.disconnected',
  { ...domain, reason: Type.String() },
  'the guest agent is gone'
)
export const memoryFailed = fact(
  'memory.failed',
  { ...domain, recipient: Type.String(), action: Type.String(), actionRequired: Type.Boolean(), recursive: Type.Boolean() },
  'a memory page failed, in a guest or in the hypervisor'
)

const job = {
  ...domain,
  origin: Type.Optional(Type.String()),
  destination: Type.Optional(Type.String()),
  stats: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()]))
}
export const migrationProgressed = fact('migration.progressed', job, 'a sample of a migration under way', ['migration'])
export const migrationEnded = fact('migration.ended', { ...job, result: Type.String() }, 'a migration ended, with its result', [
  'migration',
  'evict'
])

export const heartbeatSent = fact(
  'heartbeat.sent',
  { ...host, uptimeSeconds: Type.Number(), domains: Type.Integer() },
  'the agent lives (every 2 s)',
  []
)
export const heartbeatMissed = event({
  type: 'sap.cloud.kvm.heartbeat.missed.v1',
  data: Type.Object({ host: Type.String({ minLength: 1 }), lastSeen: Type.String({ format: 'date-time' }) }),
  source: '/hypervisor',
  emittedBy: 'functions/hypervisor',
  reactedBy: ['ha'],
  summary: 'an agent fell silent while its node seems fine'
})
export const uptimeReported = fact(
  'uptime.reported',
  { ...host, uptimeSeconds: Type.Number() },
  'how long the host has been up',
  []
)
export const instancesReported = fact(
  'instances.reported',
  {
    ...host,
    full: Type.Boolean(),
    // `sequence` of the report before; left out in the first one of a process. Who has not seen that one has missed something (NA-13)
    after: Type.Optional(Type.String()),
    instances: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), active: Type.Boolean(), state: Type.String() }))
  },
  'the domains of the host: all of them, or those that changed',
  []
)
export const libvirtLost = fact('libvirt.lost', { ...host, reason: Type.String() }, 'libvirt does not answer; VMs keep running')
export const libvirtRestored = fact('libvirt.restored', host, 'libvirt answers again')
export const shutdownRequested = fact(
  'shutdown.requested',
  { ...host, budgetSeconds: Type.Number() },
  'the host was asked to shut down and holds it back for a while',
  ['maintenance', 'ha']
)
export const shutdownCancelled = fact('shutdown.cancelled', host, 'the shutdown was called off', ['maintenance', 'ha'])
export const kernelCrashed = fact(
  'kernel.crashed',
  { ...host, dumps: Type.Optional(Type.Array(Type.String())) },
  'an authenticated notice of a kernel dump'
)

export const libvirtKinds: readonly EventKind[] = [
  domainChanged,
  domainStopped,
  domainCrashed,
  domainRebooted,
  postcopyFailed,
  watchdogFired,
  diskFailed,
  domainControlLost,
  guestAgentConnected,
  guestAgentDisconnected,
  memoryFailed,
  migrationProgressed,
  migrationEnded,
  heartbeatSent,
  heartbeatMissed,
  uptimeReported,
  instancesReported,
  libvirtLost,
  libvirtRestored,
  shutdownRequested,
  shutdownCancelled,
  kernelCrashed
]
