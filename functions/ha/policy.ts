// Every threshold of the reactions, with its default and why it is that. One file of one ConfigMap; what it leaves out has its default. Pure.
import { Type, type Static, type TObject, type TSchema } from 'typebox'

const strict = { additionalProperties: false }
const group = <P extends Record<string, TSchema>>(description: string, properties: P) =>
  Type.Object(properties, { ...strict, description })
const seconds = (byDefault: number, description: string) => Type.Integer({ minimum: 0, default: byDefault, description })
const count = (byDefault: number, description: string) => Type.Integer({ minimum: 1, default: byDefault, description })
const share = (byDefault: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 100, default: byDefault, description })
const flag = (byDefault: boolean, description: string) => Type.Boolean({ default: byDefault, description })
const key = (byDefault: string, description: string) => Type.String({ minLength: 1, default: byDefault, description })
const names = (description: string) => Type.Array(Type.String({ minLength: 1 }), { default: [], description })
const modes = ['off', 'observe', 'external', 'drover'] as const
const mode = (byDefault: (typeof modes)[number], description: string) =>
  Type.Enum([...modes], { default: byDefault, description })
const answers = ['record', 'report', 'restart'] as const
const answer = (byDefault: (typeof answers)[number], description: string) =>
  Type.Enum([...answers], { default: byDefault, description })

export const Policy = group('How Drover reacts to faults', {
  mode: mode(
    'observe',
    'Who recovers servers: `off` nobody, `observe` Drover decides and records and does nothing, `external` another service, `drover` Drover. Observed until an operator has read what would be done.'
  ),
  signals: mode(
    'drover',
    'Who answers to host signals by disabling scheduling. On, since a disabled service harms no running server and is undone by itself. `mode` off or external holds for these too.'
  ),
  vm: group('One server, its host alive', {
    check: group('Whether it is a fault at all (HA-9…12)', {
      waitSeconds: seconds(
        3,
        'Before the first look: the agent writes what it sees every 2 s, and Nova has its task set by then (HA-9).'
      ),
      requestSeconds: seconds(
        120,
        'A request that began so long before the stop explains it: a clean shutdown may take 60 s and more (HA-10).'
      ),
      skewSeconds: seconds(5, 'By so much the clocks of a host and of Nova may differ (HA-12).'),
      limitSeconds: seconds(
        120,
        'For so long a look is repeated while the agent or Nova do not show the end of it yet; then it is closed as not confirmed.'
      ),
      missedSeconds: seconds(
        600,
        'A domain that went down within this time and that no event told of is looked at by the tick. Longer ago, Nova has settled it by itself.'
      )
    }),
    answer: group('What is done about a proven fault: `record`, `report` (history, Event, alert), `restart` (the ladder)', {
      crashed: answer('restart', 'Crashed, failed or panicked: nobody wanted that.'),
      crashloaded: answer('restart', 'The guest loaded its crash kernel and did not come back.'),
      stoppedByGuest: answer('record', 'The guest shut itself down: its own wish, as far as anybody can know.'),
      stoppedByHost: answer(
        'report',
        'QEMU was asked to end by the host outside of a shutdown: somebody did it, so somebody is to look.'
      ),
      destroyed: answer('report', 'Destroyed without a request in Nova: an operator at the host (OutOfBand).'),
      stoppedUnknown: answer('report', 'It is down and nobody knows since when or why: a person is to look.'),
      apiError: answer('report', 'Paused by a failed libvirt operation: to restart it would hide which.'),
      rebooted: answer('restart', 'It went down for a reboot and did not come back.'),
      watchdog: answer('restart', 'The guest asked for this itself, by its watchdog.'),
      disk: answer('report', 'A disk failed: a restart seldom helps and may lose what the guest holds in memory.'),
      controlLost: answer('report', 'It runs, only nobody can manage it: a restart would take away a working server.'),
      memory: answer('restart', 'A page that the guest needed is gone; QEMU gave up.')
    }),
    dumpSeconds: seconds(600, 'A guest that writes its dump is left alone for so long (HA table, Crashloaded).'),
    watchdogPauseSeconds: seconds(60, 'A guest that its watchdog paused is kept so long for a dump.'),
    rebootSeconds: seconds(120, 'A rebooting guest must run again within this time.'),
    burstSeconds: seconds(10, 'Reboots or watchdogs within this time are one: one reset can emit several (T-29).'),
    diskRecheckSeconds: seconds(
      30,
      'A server that its disk paused is looked at again after so long: short outages of storage heal.'
    ),
    resumeAfterDisk: flag(
      true,
      'Whether a server that its disk paused is then resumed, once: QEMU repeats what failed, so a broken disk only pauses it again.'
    ),
    restarts: count(3, 'Restarts within the window; who crashes more often needs a person (HA-13).'),
    windowSeconds: seconds(1800, 'The window in which restarts are counted (HA-13).'),
    waitsSeconds: Type.Array(Type.Integer({ minimum: 0 }), {
      default: [0, 60, 300],
      minItems: 1,
      description: 'Before each restart: the first at once, later ones give a passing cause the time to pass (HA-13).'
    }),
    restartSeconds: seconds(120, 'How long one hard reboot may take until the server runs.'),
    provenSeconds: seconds(60, 'It must run so long to count as recovered (HA-13).'),
    moveOnRepeat: flag(
      false,
      'Whether a server that restarts do not help is moved once (cold). Off: a guest that crashes by itself crashes everywhere.'
    ),
    metadataKey: key('HA_Enabled', 'Metadata of a server: `false` never restart it (HA-14).'),
    aggregateKey: key('ha_enabled', 'Metadata of a host aggregate, for servers that do not say.'),
    flavorKey: key('ha:enabled', 'Extra spec of a flavor, for servers that do not say.')
  }),
  correlation: group('Many servers at once (HA-15, HA-16)', {
    vms: count(3, 'So many servers of a host with the same fault are no coincidence.'),
    percent: share(10, '… and so many of the servers of the host.'),
    windowSeconds: seconds(60, '… within this time.'),
    hosts: count(3, 'On more hosts than this it is the fleet and no host.'),
    settleSeconds: seconds(
      5,
      'A suspected host is disabled only after so long: of a fault of the fleet the other hosts must have had the time to tell.'
    ),
    calmSeconds: seconds(600, 'A suspected host is suspected until so long after the last fault.'),
    drain: flag(false, 'Whether a suspected host is drained. Off: the cause may be in the guests.'),
    drainStorage: flag(true, 'Whether a host that alone has I/O errors is drained: its servers have their disks elsewhere.')
  }),
  memory: group('Failing memory of the host', {
    failures: count(3, 'Corrected so often within the window, a module is failing.'),
    windowSeconds: seconds(3600, 'The window in which they are counted.'),
    drain: flag(true, 'Whether the host is drained: it is alive, and will not be for long.')
  }),
  host: group('The host itself', {
    libvirtSeconds: seconds(60, 'libvirt away for so long: a restart of the daemon takes seconds (T-26).'),
    agentSeconds: seconds(90, 'A heartbeat older than this is missed: it is written every 30 s (NA-13).'),
    pressure: flag(true, 'Whether a node under disk or memory pressure takes no new servers.'),
    enableSeconds: seconds(10, 'A host must be well for so long before it is enabled again: links flap.')
  }),
  network: group('Network of the host (ovs.md)', {
    bondSeconds: seconds(0, 'A bond without any member carries nothing: at once.'),
    bondDrain: flag(true, 'Whether a host without its tenant bond is drained, if the migration network works.'),
    managementBonds: names('Bonds of the management network: their loss is for host-failure detection, not for this.'),
    migrationBonds: names(
      'Bonds that live migration goes over. None named: it is not known whether migration works, and nothing is drained.'
    ),
    bridgeSeconds: seconds(30, 'Bridge, switch daemon or its database gone for so long: a restart of the daemon takes less.'),
    bridgeDrain: flag(false, 'Whether such a host is drained. Off: flows of a dead switch daemon mostly go on.'),
    ovnSeconds: seconds(60, 'OVN controller cut off for so long; flows stay, so it is never drained.'),
    fleetPercent: share(20, 'On more of the hosts than this it is the control plane: alert only.'),
    fleetHosts: count(2, '… and on so many at least: one of three hosts is no fleet.')
  })
})

export type Policy = Static<typeof Policy>
export type Mode = Policy['mode']
export type Answer = (typeof answers)[number]

/** Every group and value that is left out has its default. */
export function withDefaults(schema: TObject, given: unknown): unknown {
  const own = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
  const filled = Object.entries<TSchema>(schema.properties).map(([name, type]) => {
    const value = own[name]
    if (isGroup(type)) return [name, value === undefined || isRecord(value) ? withDefaults(type, value) : value]
    return [name, value ?? (type as { default?: unknown }).default]
  })
  return { ...own, ...Object.fromEntries(filled) }
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
const isGroup = (type: TSchema): type is TObject => (type as { type?: string }).type === 'object'

export const defaultPolicy = withDefaults(Policy, {}) as Policy
