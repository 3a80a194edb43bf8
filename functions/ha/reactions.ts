// Every row of spec/ha.md §2: which event it is, what is done for the server, what for the host. Pure: an event in, what was heard out.
import type { EventKind } from '../../shared/events/kind.ts'
import * as libvirt from '../../shared/events/libvirt.ts'
import { check, counted, diskWords, life, resetByWatchdog, row, type About, type Heard, type Row } from './heard.ts'
import type { Policy } from './policy.ts'
import { storageOf } from './storage.ts'

const none = 'none'
const recorded = 'record only'
const { domainStopped, domainCrashed, domainChanged, domainRebooted, postcopyFailed, watchdogFired } = libvirt
const { diskFailed, domainControlLost, guestAgentConnected, guestAgentDisconnected, memoryFailed } = libvirt

export const rows: readonly Row[] = [
  row({
    kind: domainChanged,
    when: 'defined, started, resumed, paused, moved, saved',
    vm: `${recorded}; an incident of this server is looked at again`,
    host: none,
    hear: () => []
  }),
  life(domainStopped, ['shutdown/by-guest'], {
    is: 'stoppedByGuest',
    vm: 'the guest stops itself: record only; `vm.answer.stoppedByGuest` may restart it',
    host: none
  }),
  life(domainStopped, ['stopped/shutdown'], {
    is: 'stoppedByGuest',
    cause: ['by-guest'],
    vm: 'the guest stopped itself: record only; `vm.answer.stoppedByGuest` may restart it',
    host: none
  }),
  life(domainStopped, ['shutdown/by-host'], {
    is: 'stoppedByHost',
    vm: 'part of a shutdown of the host, if one runs; else fault check',
    host: none
  }),
  life(domainStopped, ['stopped/shutdown'], {
    is: 'stoppedByHost',
    cause: ['by-host'],
    vm: 'part of a shutdown of the host, if one runs; else fault check',
    host: none
  }),
  life(domainStopped, ['stopped/destroyed'], {
    is: 'destroyed',
    vm: 'fault check; without a request it was done out of band: report only by default',
    host: none
  }),
  life(domainStopped, ['stopped/shutdown', 'shutdown/finished', 'stopped/unknown'], {
    is: 'stoppedUnknown',
    cause: [undefined, 'finished'],
    vm: 'nobody knows who began it: fault check, report only by default',
    host: none
  }),
  life(domainCrashed, ['stopped/crashed', 'stopped/failed', 'crashed/panicked', 'crashed/unknown', 'crashed/found'], {
    is: 'crashed',
    vm: 'fault check, then recovery ladder (HA-13)',
    host: 'counts for HA-15'
  }),
  life(domainCrashed, ['crashed/crashloaded'], {
    is: 'crashloaded',
    wait: ({ vm }) => vm.dumpSeconds,
    vm: 'the guest writes its dump: `vm.dumpSeconds` are waited, then fault check and ladder',
    host: none
  }),
  life(domainCrashed, ['suspended/api-error'], {
    is: 'apiError',
    vm: 'report; ladder by `vm.answer.apiError`',
    host: 'counts for HA-15'
  }),
  life(postcopyFailed, ['suspended/post-copy-failed', 'resumed/post-copy-failed'], {
    is: 'postcopy',
    vm: 'urgent alert; neither side is started, destroyed or moved',
    host: none
  }),
  row<About>({
    kind: domainRebooted,
    when: 'every one',
    vm: 'bursts are one; the domain must run again within `vm.rebootSeconds`, else ladder',
    host: none,
    hear: (data, trace, { vm }) => [check('rebooted', 'reboot', data, vm.burstSeconds, trace)]
  }),
  row<About & { action: string }>({
    kind: watchdogFired,
    when: 'reset',
    vm: 'as a reboot',
    host: 'counts for HA-15',
    hear: (data, trace, { vm }) =>
      data.action === 'reset' ? [check('watchdog', resetByWatchdog, data, vm.burstSeconds, trace)] : undefined
  }),
  row<About & { action: string }>({
    kind: watchdogFired,
    when: 'pause, dump',
    vm: 'kept `vm.watchdogPauseSeconds` for a dump, then fault check and ladder',
    host: 'counts for HA-15',
    hear: (data, trace, { vm }) =>
      ['pause', 'dump'].includes(data.action)
        ? [check('watchdog', `watchdog/${data.action}`, data, vm.watchdogPauseSeconds, trace)]
        : undefined
  }),
  row<About & { action: string }>({
    kind: watchdogFired,
    when: 'poweroff, shutdown',
    vm: 'fault check, then ladder; a stop that follows is the same fault',
    host: 'counts for HA-15',
    hear: (data, trace, { vm }) =>
      ['poweroff', 'shutdown'].includes(data.action)
        ? [check('watchdog', `watchdog/${data.action}`, data, vm.check.waitSeconds, trace)]
        : undefined
  }),
  row<About & { action: string }>({
    kind: watchdogFired,
    when: 'none, debug, inject-nmi and others',
    vm: recorded,
    host: 'counts for HA-15',
    hear: (data, trace) => [counted('watchdog', data, trace)]
  }),
  row<About & { action: string; path: string; device: string; reason: string }>({
    kind: diskFailed,
    when: 'the server was paused',
    vm: 'looked at again after `vm.diskRecheckSeconds`: running again is fine; else resumed once (`vm.resumeAfterDisk`), then report',
    host: 'HA-16',
    hear: (data, trace, { vm }) =>
      data.action === 'pause'
        ? [{ ...check('disk', diskWords(data), data, vm.diskRecheckSeconds, trace), storage: storageOf(data.path) }]
        : undefined
  }),
  row<About & { action: string; path: string; device: string; reason: string }>({
    kind: diskFailed,
    when: 'the guest was told, or nobody',
    vm: recorded,
    host: 'HA-16',
    hear: (data, trace) => [{ ...counted('disk', data, trace), event: diskWords(data), storage: storageOf(data.path) }]
  }),
  row<About>({
    kind: domainControlLost,
    when: 'every one',
    vm: 'confirmed by control info (the agent asks libvirt): it runs but cannot be managed: report; hard reboot only by `vm.answer.controlLost`',
    host: 'counts for HA-15',
    hear: (data, trace, { vm }) => [check('controlLost', 'control-error', data, vm.check.waitSeconds, trace)]
  }),
  row({ kind: guestAgentConnected, when: 'every one', vm: 'signal only', host: none, hear: () => [] }),
  row({ kind: guestAgentDisconnected, when: 'every one', vm: 'signal only', host: none, hear: () => [] }),
  row<About & { recipient: string; action: string }>({
    kind: memoryFailed,
    when: 'in a guest',
    vm: 'inject, reset: the server must run; fatal: fault check and ladder; ignored: record only',
    host: 'counted: it is a page of the host',
    hear: (data, trace, { vm }) => {
      if (data.recipient !== 'guest') return undefined
      const counted: Heard = { about: 'host', kind: 'MemoryFailing', fatal: false, atMs: Date.parse(data.at) }
      if (data.action === 'ignore') return [counted]
      return [check('memory', `memory/${data.action}`, data, vm.check.waitSeconds, trace), counted]
    }
  }),
  row<About & { recipient: string; action: string }>({
    kind: memoryFailed,
    when: 'in the hypervisor',
    vm: recorded,
    host: 'counted; fatal, or `memory.failures` within `memory.windowSeconds`: disable scheduling and drain',
    hear: data => [{ about: 'host', kind: 'MemoryFailing', fatal: data.action === 'fatal', atMs: Date.parse(data.at) }]
  }),
  row<{ bootId: string; at: string }>({
    kind: libvirt.shutdownRequested,
    when: 'every one',
    vm: 'stops by the host belong to it',
    host: 'planned drain within the shutdown budget (functions/maintenance); recorded here',
    hear: ({ bootId, at }) => [{ about: 'host', kind: 'ShutdownRequested', bootId, atMs: Date.parse(at) }]
  }),
  row<{ bootId: string; at: string }>({
    kind: libvirt.shutdownCancelled,
    when: 'every one',
    vm: none,
    host: 'the drain is called off (functions/maintenance); the signal ends',
    hear: ({ bootId, at }) => [{ about: 'host', kind: 'ShutdownCancelled', bootId, atMs: Date.parse(at) }]
  }),
  row<{ at: string }>({
    kind: libvirt.kernelCrashed,
    when: 'every one',
    vm: none,
    host: 'signal; a gate of fencing later (G11)',
    hear: ({ at }) => [{ about: 'host', kind: 'KernelCrashed', atMs: Date.parse(at) }]
  })
]

/** The first row that takes it. */
export function hear(kind: EventKind, data: object, trace: string | undefined, policy: Policy): readonly Heard[] {
  for (const one of rows) {
    if (one.kind.type !== kind.type) continue
    const heard = one.hear(data as never, trace, policy)
    if (heard) return heard
  }
  return []
}
