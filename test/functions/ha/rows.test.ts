// One server: every row of ha.md §2, as a table over the pure functions.
import t from 'tap'
import { rows } from '../../../functions/ha/reactions.ts'
import type { EventKind } from '../../../shared/events/kind.ts'
import * as libvirt from '../../../shared/events/libvirt.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import { calls, life, world } from './fixtures.ts'

const { domainStopped, domainCrashed, domainChanged, domainRebooted, postcopyFailed, watchdogFired } = libvirt
const { diskFailed, domainControlLost, memoryFailed, guestAgentDisconnected } = libvirt

interface Row {
  name: string
  kind: EventKind
  data: Record<string, unknown>
  /** how the domain is after it; undefined: it runs on */
  after?: string
  /** what libvirt says of its way into the domain; undefined: it was not asked */
  control?: string
  waits: number
  /** what was decided, as the history tells it; undefined: nothing */
  ends?: string
  calls: string[]
}

// As the policy has it by default, but for the mode.
const table: Row[] = [
  { name: 'started', kind: domainChanged, data: life('started/booted'), waits: 10, calls: [] },
  {
    name: 'guest shutdown',
    kind: domainStopped,
    data: life('stopped/shutdown', 'by-guest'),
    after: 'off',
    waits: 5,
    ends: 'Recorded',
    calls: []
  },
  {
    name: 'stopped by the host',
    kind: domainStopped,
    data: life('stopped/shutdown', 'by-host'),
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
  {
    name: 'crash kernel: its dump has 10 minutes',
    kind: domainCrashed,
    data: life('crashed/crashloaded'),
    after: 'off',
    waits: 599,
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
    name: 'T-27 post-copy broke',
    kind: postcopyFailed,
    data: life('suspended/post-copy-failed'),
    after: 'paused',
    waits: 5,
    ends: 'Blocked',
    calls: []
  },
  { name: 'rebooted and back', kind: domainRebooted, data: {}, waits: 30, ends: 'Runs', calls: [] },
  { name: 'rebooted, 2 minutes are its own', kind: domainRebooted, data: {}, after: 'off', waits: 119, calls: [] },
  { name: 'rebooted and never back', kind: domainRebooted, data: {}, after: 'off', waits: 125, calls: ['restart 01'] },
  { name: 'watchdog, nothing done', kind: watchdogFired, data: { action: 'none' }, waits: 30, calls: [] },
  { name: 'watchdog, NMI', kind: watchdogFired, data: { action: 'inject-nmi' }, waits: 30, calls: [] },
  { name: 'watchdog reset and back', kind: watchdogFired, data: { action: 'reset' }, waits: 30, ends: 'Runs', calls: [] },
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
    name: 'watchdog power-off',
    kind: watchdogFired,
    data: { action: 'poweroff' },
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
  { name: 'control lost, busy', kind: domainControlLost, data: {}, control: 'occupied', waits: 60, calls: [] },
  { name: 'control lost, nobody confirms', kind: domainControlLost, data: {}, waits: 130, ends: 'NotConfirmed', calls: [] },
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
    name: 'memory of the guest, fatal',
    kind: memoryFailed,
    data: { recipient: 'guest', action: 'fatal' },
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

for (const { name, kind, data, after, control, waits, ends, calls: expected } of table) {
  t.test(`ha.md §2: ${name}`, async t => {
    const it = world()
    if (after !== undefined) it.domain(after === 'gone' ? undefined : after)
    if (control !== undefined) it.control(control, control === 'error' ? 'monitor' : 'none')
    it.tell(kind, data).pass(waits)
    t.same(calls(it), expected)
    t.equal(it.ha.history?.at(-1)?.state, ends)
  })
}

t.test('ha.md §2: control info from before the event confirms nothing; by policy it is restarted', async t => {
  const it = world({}, parsePolicy('mode: drover\nvm: { answer: { controlLost: restart } }')).control('error', 'monitor')
  it.nowMs += 60_000
  it.tell(domainControlLost).pass(10)
  t.same(calls(it), [], 'asked a minute ago')
  t.match(it.ha.incidents, [{ state: 'Checking', rule: 'ControlNotConfirmed' }])
  it.control('error', 'monitor').pass(3)
  t.same(calls(it), ['restart 01'])
  t.match(it.ha.incidents, [
    { rule: 'Fault', reason: /running and cannot be managed \(monitor\)/, inputs: { control: 'error, monitor' } }
  ])
})

t.test('every row of the table is reached by some event, and each type has its rows', async t => {
  const types = new Set(rows.map(({ kind }) => kind.type))
  for (const { kind } of table) t.ok(types.has(kind.type), kind.type)
})

// HA-9…12, T-20: the domain is down 3 s after the event.
