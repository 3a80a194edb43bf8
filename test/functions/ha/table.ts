// Long: one table, as the specification has one. Every row of ha.md §2 that is about one server: what the agent tells, how the domain is then, and what must come of it.
import type { EventKind } from '../../../shared/events/kind.ts'
import * as libvirt from '../../../shared/events/libvirt.ts'
import { life } from './fixtures.ts'

const { domainStopped, domainCrashed, domainChanged, domainRebooted, postcopyFailed, watchdogFired } = libvirt
const { diskFailed, domainControlLost, memoryFailed, guestAgentConnected, guestAgentDisconnected } = libvirt

/** What libvirt tells beside it, so many milliseconds later. */
export type Beside = readonly [kind: EventKind, data: Record<string, unknown>, afterMs: number]

export interface Row {
  name: string
  kind: EventKind
  data: Record<string, unknown>
  and?: readonly Beside[]
  /** what Nova is at with the server */
  task?: string
  /** how the domain is after it; undefined: it runs on */
  after?: string
  /** what libvirt says of its way into the domain; undefined: it was not asked */
  control?: string
  waits: number
  /** it is not over by then */
  early?: true
  /** what was decided, as the history tells it; undefined: nothing */
  ends?: string
  calls: string[]
}

// As the policy has it by default, but for the mode.
export const table: readonly Row[] = [
  { name: 'started', kind: domainChanged, data: life('started/booted'), waits: 10, calls: [] },
  {
    name: 'guest shutdown',
    kind: domainStopped,
    data: life('stopped/shutdown', 'by-guest'),
    and: [[domainStopped, life('shutdown/by-guest'), -40]],
    after: 'off',
    waits: 5,
    ends: 'Recorded',
    calls: []
  },
  {
    name: 'stopped by the host',
    kind: domainStopped,
    data: life('stopped/shutdown', 'by-host'),
    and: [[domainStopped, life('shutdown/by-host'), -40]],
    after: 'off',
    waits: 5,
    ends: 'Reported',
    calls: []
  },
  {
    name: 'destroyed: out of band',
    kind: domainStopped,
    data: life('stopped/destroyed'),
    after: 'off',
    waits: 5,
    ends: 'OutOfBand',
    calls: []
  },
  {
    name: 'guest shutdown of which only the beginning is told',
    kind: domainStopped,
    data: life('shutdown/by-guest'),
    after: 'off',
    waits: 5,
    ends: 'Recorded',
    calls: []
  },
  {
    name: 'stopped by the host, of which only the beginning is told',
    kind: domainStopped,
    data: life('shutdown/by-host'),
    after: 'off',
    waits: 5,
    ends: 'Reported',
    calls: []
  },
  {
    name: 'stopped after a shutdown, nobody knows by whom',
    kind: domainStopped,
    data: life('stopped/shutdown'),
    and: [[domainStopped, life('shutdown/finished'), -40]],
    after: 'off',
    waits: 5,
    ends: 'Reported',
    calls: []
  },
  {
    name: 'stopped, nobody knows why',
    kind: domainStopped,
    data: life('stopped/unknown'),
    after: 'off',
    waits: 5,
    ends: 'Reported',
    calls: []
  },
  { name: 'gone', kind: domainStopped, data: life('stopped/unknown'), after: 'gone', waits: 5, ends: 'Reported', calls: [] },
  { name: 'crashed', kind: domainCrashed, data: life('stopped/crashed'), after: 'off', waits: 4, calls: ['restart 01'] },
  { name: 'failed', kind: domainCrashed, data: life('stopped/failed'), after: 'off', waits: 4, calls: ['restart 01'] },
  {
    name: 'panicked and kept',
    kind: domainCrashed,
    data: life('crashed/panicked'),
    and: [[domainCrashed, life('stopped/crashed'), 30]],
    after: 'crashed',
    waits: 4,
    calls: ['restart 01']
  },
  {
    name: 'panicked and paused',
    kind: domainCrashed,
    data: life('crashed/panicked'),
    after: 'paused',
    waits: 4,
    calls: ['restart 01']
  },
  { name: 'found crashed', kind: domainCrashed, data: life('crashed/found'), after: 'crashed', waits: 4, calls: ['restart 01'] },
  {
    name: 'crash kernel: its dump has 10 minutes',
    kind: domainCrashed,
    data: life('crashed/crashloaded'),
    after: 'off',
    waits: 599,
    early: true,
    calls: []
  },
  {
    name: 'crash kernel: then the ladder',
    kind: domainCrashed,
    data: life('crashed/crashloaded'),
    after: 'off',
    waits: 601,
    calls: ['restart 01']
  },
  {
    name: 'crash kernel: came back',
    kind: domainCrashed,
    data: life('crashed/crashloaded'),
    waits: 601,
    ends: 'Runs',
    calls: []
  },
  {
    name: 'API error',
    kind: domainCrashed,
    data: life('suspended/api-error'),
    after: 'paused',
    waits: 5,
    ends: 'Reported',
    calls: []
  },
  {
    name: 'T-27 post-copy broke where it went to',
    kind: postcopyFailed,
    data: life('resumed/post-copy-failed'),
    after: 'paused',
    waits: 5,
    ends: 'Blocked',
    calls: []
  },
  {
    name: 'API error, and it runs on',
    kind: domainCrashed,
    data: life('suspended/api-error'),
    and: [[domainChanged, life('resumed/unpaused'), 20]],
    after: 'running',
    waits: 5,
    ends: 'Runs',
    calls: []
  },
  {
    name: 'API error, and the agent is slow to write it',
    kind: domainCrashed,
    data: life('suspended/api-error'),
    waits: 60,
    early: true,
    calls: []
  },
  {
    name: 'T-27 post-copy broke',
    kind: postcopyFailed,
    data: life('suspended/post-copy-failed'),
    and: [[domainCrashed, life('stopped/failed'), 900]],
    task: 'migrating',
    after: 'paused',
    waits: 5,
    ends: 'Blocked',
    calls: []
  },
  {
    name: 'rebooted and back',
    kind: domainRebooted,
    data: {},
    and: [
      [domainRebooted, {}, 80],
      [domainRebooted, {}, 900]
    ],
    waits: 30,
    ends: 'Runs',
    calls: []
  },
  { name: 'rebooted, 2 minutes are its own', kind: domainRebooted, data: {}, after: 'off', waits: 119, early: true, calls: [] },
  { name: 'rebooted and never back', kind: domainRebooted, data: {}, after: 'off', waits: 125, calls: ['restart 01'] },
  { name: 'watchdog, nothing done', kind: watchdogFired, data: { action: 'none' }, waits: 30, calls: [] },
  { name: 'watchdog, debug', kind: watchdogFired, data: { action: 'debug' }, waits: 30, calls: [] },
  { name: 'watchdog, NMI', kind: watchdogFired, data: { action: 'inject-nmi' }, waits: 30, calls: [] },
  {
    name: 'watchdog reset and back',
    kind: watchdogFired,
    data: { action: 'reset' },
    and: [[domainRebooted, {}, 60]],
    waits: 30,
    ends: 'Runs',
    calls: []
  },
  {
    name: 'watchdog reset and never back',
    kind: watchdogFired,
    data: { action: 'reset' },
    after: 'off',
    waits: 125,
    calls: ['restart 01']
  },
  {
    name: 'watchdog pause: a minute for the dump',
    kind: watchdogFired,
    data: { action: 'pause' },
    after: 'paused',
    waits: 59,
    early: true,
    calls: []
  },
  {
    name: 'watchdog pause: then the ladder',
    kind: watchdogFired,
    data: { action: 'pause' },
    after: 'paused',
    waits: 61,
    calls: ['restart 01']
  },
  {
    name: 'watchdog dump: it runs on',
    kind: watchdogFired,
    data: { action: 'dump' },
    after: 'running',
    waits: 61,
    ends: 'Runs',
    calls: []
  },
  {
    name: 'watchdog shutdown',
    kind: watchdogFired,
    data: { action: 'shutdown' },
    and: [[domainStopped, life('stopped/shutdown', 'by-guest'), 700]],
    after: 'off',
    waits: 4,
    calls: ['restart 01']
  },
  {
    name: 'watchdog power-off',
    kind: watchdogFired,
    data: { action: 'poweroff' },
    and: [[domainCrashed, life('stopped/failed'), 30]],
    after: 'off',
    waits: 4,
    calls: ['restart 01']
  },
  {
    name: 'disk paused it',
    kind: diskFailed,
    data: { device: 'vda', path: '/dev/sda', action: 'pause', reason: 'enospc' },
    after: 'paused',
    waits: 31 + 21,
    ends: 'Reported',
    calls: []
  },
  {
    name: 'disk paused it and healed',
    kind: diskFailed,
    data: { device: 'vda', path: '', action: 'pause', reason: '' },
    waits: 31,
    ends: 'Runs',
    calls: []
  },
  {
    name: 'disk error told to the guest',
    kind: diskFailed,
    data: { device: 'vda', path: '', action: 'report', reason: '' },
    waits: 60,
    calls: []
  },
  { name: 'control lost', kind: domainControlLost, data: {}, control: 'error', waits: 5, ends: 'Reported', calls: [] },
  { name: 'control lost and back', kind: domainControlLost, data: {}, control: 'ok', waits: 5, ends: 'Managed', calls: [] },
  { name: 'control lost, busy', kind: domainControlLost, data: {}, control: 'occupied', waits: 60, early: true, calls: [] },
  { name: 'control lost, nobody confirms', kind: domainControlLost, data: {}, waits: 130, ends: 'NotConfirmed', calls: [] },
  {
    name: 'guest shutdown, in which libvirt first loses its way into the domain',
    kind: domainControlLost,
    data: {},
    and: [
      [domainStopped, life('shutdown/by-guest'), 20],
      [domainStopped, life('stopped/shutdown', 'by-guest'), 40]
    ],
    after: 'off',
    waits: 5,
    ends: 'Recorded',
    calls: []
  },
  {
    name: 'control lost, and the domain is down',
    kind: domainControlLost,
    data: {},
    after: 'off',
    waits: 5,
    ends: 'Reported',
    calls: []
  },
  { name: 'guest agent there', kind: guestAgentConnected, data: { reason: 'channel' }, waits: 60, calls: [] },
  { name: 'guest agent gone', kind: guestAgentDisconnected, data: { reason: 'channel' }, waits: 60, calls: [] },
  {
    name: 'memory of the guest, injected',
    kind: memoryFailed,
    data: { recipient: 'guest', action: 'inject' },
    waits: 5,
    ends: 'Runs',
    calls: []
  },
  {
    name: 'memory of the guest, reset',
    kind: memoryFailed,
    data: { recipient: 'guest', action: 'reset' },
    and: [[domainRebooted, {}, 50]],
    waits: 30,
    ends: 'Runs',
    calls: []
  },
  {
    name: 'memory of the hypervisor: nothing for the server',
    kind: memoryFailed,
    data: { recipient: 'hypervisor', action: 'ignore' },
    waits: 5,
    calls: []
  },
  {
    name: 'memory of the guest, fatal',
    kind: memoryFailed,
    data: { recipient: 'guest', action: 'fatal' },
    and: [[domainCrashed, life('stopped/failed'), 20]],
    after: 'off',
    waits: 5,
    calls: ['restart 01']
  },
  {
    name: 'memory of the guest, ignored',
    kind: memoryFailed,
    data: { recipient: 'guest', action: 'ignore' },
    waits: 5,
    calls: []
  }
]

/** All that libvirt tells of it. */
export const toldOf = ({ kind, data, and = [] }: Row): Beside[] => [[kind, data, 0], ...and]
