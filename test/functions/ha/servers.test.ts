// One server: every row of ha.md §2, the fault check (HA-9…12), the ladder (HA-13), the policy (HA-14), as tables over pure functions.
import t from 'tap'
import type { InstanceAction, Server } from 'openstack-sdk-lite'
import { ruleNames } from '../../../functions/ha/check.ts'
import { rows } from '../../../functions/ha/reactions.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import type { EventKind } from '../../../shared/events/kind.ts'
import * as libvirt from '../../../shared/events/libvirt.ts'
import { action, calls, defaultPolicy, drover, iso, serverId, startMs, world, type World } from './fixtures.ts'

const s = 1000
const life = (detail: string, cause?: string) => {
  const [event, rest] = detail.split('/')
  return { event, detail: rest, ...(cause && { cause }) }
}
const { domainStopped, domainCrashed, domainChanged, domainRebooted, postcopyFailed, watchdogFired } = libvirt
const { diskFailed, domainControlLost, memoryFailed, guestAgentDisconnected } = libvirt

interface Row {
  name: string
  kind: EventKind
  data: Record<string, unknown>
  /** how the domain is after it; undefined: it runs on */
  after?: string
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
    waits: 31,
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
  { name: 'control lost', kind: domainControlLost, data: {}, waits: 5, ends: 'Reported', calls: [] },
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

for (const { name, kind, data, after, waits, ends, calls: expected } of table) {
  t.test(`ha.md §2: ${name}`, async t => {
    const it = world()
    if (after !== undefined) it.domain(after === 'gone' ? undefined : after)
    it.tell(kind, data).pass(waits)
    t.same(calls(it), expected)
    t.equal(it.ha.history?.at(-1)?.state, ends)
  })
}

t.test('every row of the table is reached by some event, and each type has its rows', async t => {
  const types = new Set(rows.map(({ kind }) => kind.type))
  for (const { kind } of table) t.ok(types.has(kind.type), kind.type)
})

// HA-9…12, T-20: the domain is down 3 s after the event.
type Explained = [name: string, server: Partial<Server> | 'gone', actions: InstanceAction[], rule: string]
const at = startMs
const asked = [
  'stop',
  'reboot',
  'delete',
  'suspend',
  'shelve',
  'shelveOffload',
  'resize',
  'migrate',
  'live-migration',
  'evacuate',
  'rebuild',
  'rescue',
  'resetState',
  'pause'
]
const tasks = [
  'powering-off',
  'rebooting',
  'rebooting_hard',
  'reboot_started_hard',
  'deleting',
  'soft-deleting',
  'suspending',
  'shelving',
  'shelving_offloading',
  'resize_prep',
  'resize_migrating',
  'migrating',
  'rebuilding',
  'rebuild_spawning',
  'rescuing'
]
const explained: Explained[] = [
  ['nobody asked', {}, [], 'fault'],
  ['a user stopped it a moment before', {}, [action('stop', at - 2 * s)], 'RequestExplains'],
  ['a clean shutdown took 100 s', {}, [action('stop', at - 100 * s)], 'RequestExplains'],
  ['the clocks differ by 5 s', {}, [action('stop', at + 5 * s)], 'RequestExplains'],
  ['it was stopped long before', {}, [action('stop', at - 3600 * s)], 'WasStopped'],
  ['stopped and started long before', {}, [action('stop', at - 3600 * s), action('start', at - 3000 * s)], 'fault'],
  [
    "HA-11: Nova's own stop 15 s later proves nothing",
    { status: 'SHUTOFF', vmState: 'stopped', powerState: 4 },
    [action('stop', at + 15 * s, { userId: null })],
    'fault'
  ],
  [
    "HA-14: Nova's own stop before: it was off",
    { status: 'SHUTOFF', vmState: 'stopped' },
    [action('stop', at - 60 * s, { userId: null })],
    'WasStopped'
  ],
  ['a user acts after it: left to them', {}, [action('reboot', at + 2 * s)], 'RequestExplains'],
  ['deleted', 'gone', [], 'NotInNova'],
  ['moved', { host: 'host-2' }, [], 'NotOnThisHost'],
  ['suspended', { status: 'SUSPENDED', vmState: 'suspended' }, [], 'NovaState'],
  ['paused by a user', { status: 'PAUSED', vmState: 'paused' }, [], 'NovaState'],
  ['in error', { status: 'ERROR', vmState: 'error' }, [], 'fault'],
  ...asked.map((name): Explained => [`HA-10 ${name}`, {}, [action(name, at - 30 * s)], 'RequestExplains']),
  ...tasks.map((task): Explained => [`HA-10 ${task}`, { taskState: task }, [], 'TaskExplains'])
]
for (const [name, server, actions, rule] of explained) {
  t.test(`HA-9…12, T-20: ${name}`, async t => {
    const it = world().domain('off')
    it.nova(server, ...actions)
    it.tell(domainCrashed, life('stopped/failed')).pass(5)
    const fault = rule === 'fault'
    t.same(calls(it), fault ? ['restart 01'] : [])
    t.equal(it.ha.history?.at(-1)?.rule, fault ? undefined : rule)
    t.equal(it.ha.incidents?.[0]?.state, fault ? 'Restarting' : 'Closed')
  })
}

t.test('HA-10: a request that began long ago and is unfinished explains it', async t => {
  const resize = action('resize', at - 1800 * s)
  const step = { event: 'compute', result: null, host: 'host-1', details: null, started: resize.started }
  for (const [steps, expected] of [
    [[{ ...step, finished: null }], []],
    [[{ ...step, finished: resize.started }], ['restart 01']]
  ] as const) {
    const it = world().domain('off').nova({}, resize)
    it.evidence.set(serverId(), { ...it.evidence.get(serverId())!, steps: new Map([[resize.requestId, steps]]) })
    t.same(calls(it.tell(domainCrashed, life('stopped/failed')).pass(5)), expected)
  }
})

t.test('HA-9: busy with something else is waited for, and looked at again', async t => {
  const it = world().domain('off').nova({ taskState: 'image_snapshot' })
  it.tell(domainCrashed, life('stopped/failed')).pass(30)
  t.equal(it.ha.incidents?.[0]?.rule, 'TaskBusy')
  it.nova({}).pass(3)
  t.same(calls(it), ['restart 01'])
})

t.test('T-1, T-26: what the agent cannot see now is not judged; what runs is left alone', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed'))
  const conditions = it.hypervisor.status!.conditions!
  const lost = conditions.map(one =>
    one.type === 'LibVirtConnection' ? { ...one, status: 'False' as const, lastTransitionTime: iso(startMs) } : one
  )
  it.hypervisor.status!.conditions = lost
  it.pass(20)
  t.equal(it.ha.incidents?.[0]?.rule, 'DomainNotKnown')
  it.hypervisor.status!.conditions = conditions
  it.domain('running', it.nowMs).pass(3)
  t.same(calls(it), [])
  t.equal(it.ha.history?.at(-1)?.rule, 'Runs')
})

t.test('HA-12: replayed events are judged by present state, and a report that is not confirmed ends by itself', async t => {
  const replayed = world().tell(domainCrashed, life('stopped/failed'), startMs - 600 * s)
  replayed.domain('running', startMs - 590 * s).pass(5)
  t.equal(replayed.ha.history?.at(-1)?.rule, 'Runs')
  const never = world().tell(domainCrashed, life('stopped/failed')).pass(60)
  t.equal(never.ha.incidents?.[0]?.rule, 'NotSeenYet', 'the agent has not written it yet, or never will')
  never.pass(70)
  t.equal(never.ha.history?.at(-1)?.rule, 'NotConfirmed')
  t.same(calls(never), [])
})

t.test('HA-12, T-29: pairs in any order, bursts and both events of one watchdog are one incident', async t => {
  const pairs: Array<Array<[EventKind, Record<string, unknown>]>> = [
    [
      [domainStopped, life('shutdown/by-guest')],
      [domainStopped, life('stopped/shutdown')]
    ],
    [
      [domainStopped, life('stopped/shutdown')],
      [domainStopped, life('shutdown/by-guest')]
    ]
  ]
  for (const pair of pairs) {
    const it = world().domain('off')
    for (const [kind, data] of pair) it.tell(kind, data)
    it.pass(5)
    t.equal(it.ha.incidents?.length, 1)
    t.equal(it.ha.history?.at(-1)?.kind, 'stoppedByGuest')
  }
  const burst = world()
  for (const ms of [0, 100, 900, 4000]) burst.tell(domainRebooted, {}, startMs + ms)
  burst.pass(40)
  t.equal(burst.ha.incidents?.[0]?.count, 4)
  t.equal(burst.ha.history?.length, 1)
  const fired = world().domain('off')
  fired
    .tell(watchdogFired, { action: 'poweroff' })
    .tell(domainCrashed, life('stopped/failed'), startMs + 200)
    .pass(20)
  t.same(calls(fired), ['restart 01'], 'one restart')
})

const restarted = (it: World): World => {
  it.domain('running', it.nowMs)
  it.nova({}, action('reboot', it.nowMs))
  return it
}

t.test('HA-13: it runs again, and after a minute it counts as recovered', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(3)
  t.equal(it.ha.incidents?.[0]?.state, 'Restarting')
  t.equal(it.ha.incidents?.[0]?.plan?.restarts, 3)
  restarted(it).pass(3)
  t.equal(it.ha.incidents?.[0]?.state, 'Proving')
  it.pass(61)
  t.same(
    it.ha.history?.map(({ state }) => state),
    ['Recovered']
  )
  t.same(calls(it), ['restart 01'])
  t.same(
    it.steps.flatMap(({ news }) => news.flatMap(({ event }) => event ?? [])),
    [{ kind: 'recovered', server: serverId() }]
  )
})

t.test('HA-13: three restarts with their waits, then a person', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed'))
  const times: number[] = []
  for (let n = 0; n < 900 && it.ha.incidents?.[0]?.state !== 'Blocked'; n++) {
    const { calls } = it.look()
    if (calls.length > 0) {
      times.push((it.nowMs - startMs) / s)
      it.nova({ status: 'ERROR', vmState: 'error' }, ...times.map(at => action('reboot', startMs + at * s)))
    }
    it.nowMs += s
  }
  t.equal(times.length, 3)
  t.equal(times[0], 3)
  t.ok(times[1]! - times[0]! >= 60 && times[2]! - times[1]! >= 300, String(times))
  const blocked = it.ha.history?.at(-1)
  t.match(blocked, { state: 'Blocked', rule: 'GivenUp' })
  t.same(
    it.steps.flatMap(({ news }) => news.flatMap(({ event }) => event?.kind ?? [])),
    ['blocked']
  )
  it.tell(domainCrashed, life('stopped/failed'), startMs).pass(600)
  t.equal(calls(it).length, 3, 'a late repetition changes nothing')
})

t.test('HA-13: moved once when that is allowed', async t => {
  const policy = parsePolicy('mode: drover\nvm: { restarts: 1, moveOnRepeat: true }')
  const it = world({}, policy).domain('off').tell(domainCrashed, life('stopped/failed')).pass(4)
  it.nova({ status: 'SHUTOFF', vmState: 'stopped' }, action('reboot', it.nowMs - s)).pass(130)
  t.same(calls(it), ['restart 01', 'move 01'])
  it.nova({ status: 'VERIFY_RESIZE', vmState: 'resized', host: 'host-2' }, action('migrate', it.nowMs)).pass(3)
  it.nova({ status: 'SHUTOFF', vmState: 'stopped', host: 'host-2' }).pass(3)
  it.nova({ host: 'host-2' }).pass(3)
  t.same(calls(it), ['restart 01', 'move 01', 'confirm 01', 'start 01'])
  t.equal(it.ha.history?.at(-1)?.state, 'Recovered')
})

t.test('T-20: a user who stops it between two restarts has the last word', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(4)
  it.nova({ status: 'SHUTOFF', vmState: 'stopped' }, action('reboot', it.nowMs - s), action('stop', it.nowMs + 20 * s))
  it.nowMs += 30 * s
  it.pass(400)
  t.same(calls(it), ['restart 01'])
  t.equal(it.ha.history?.at(-1)?.rule, 'RequestExplains')
})

t.test('killed between the note and the call: asked for once more, and only if Nova never heard of it', async t => {
  const lost = world().domain('off').tell(domainCrashed, life('stopped/failed'))
  lost.calling = false
  lost.pass(4).pass(12)
  t.same(calls(lost), ['restart 01', 'restart 01'])
  t.equal(lost.ha.incidents?.[0]?.attempts?.length, 1, 'it is the same try')
  const heard = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(4)
  heard.nova({ taskState: 'reboot_started_hard' }, action('reboot', heard.nowMs)).pass(15)
  t.same(calls(heard), ['restart 01'])
})

t.test('HA-14: metadata, then aggregate or flavor, then the policy of the kind', async t => {
  const flavor = { name: 'pet', vcpus: 1, ramMiB: 1, diskGiB: 1, extraSpecs: { 'ha:enabled': 'false' } }
  const policies: Array<[string, Partial<Server>, string | undefined, string[]]> = [
    ['its own no', { metadata: { HA_Enabled: 'False' } }, undefined, []],
    ['its own yes before the flavor', { metadata: { HA_Enabled: 'true' }, flavor }, undefined, ['restart 01']],
    ['the flavor', { flavor }, undefined, []],
    ['the aggregate', {}, 'false', []],
    ['its own yes before the aggregate', { metadata: { HA_Enabled: 'true' } }, 'false', ['restart 01']],
    ['nothing said', {}, undefined, ['restart 01']]
  ]
  for (const [name, server, aggregate, expected] of policies) {
    const aggregates = aggregate === undefined ? [] : [{ name: 'a', uuid: 'u', metadata: { ha_enabled: aggregate } }]
    const it = world({ aggregates }).domain('off').nova(server)
    t.same(calls(it.tell(domainCrashed, life('stopped/failed')).pass(4)), expected, name)
  }
})

t.test('HA-4, HA-5: who acts', async t => {
  const modes = { off: 'NotOurs', observe: 'WouldRestart', external: 'NotOurs' }
  for (const [mode, state] of Object.entries(modes)) {
    const it = world({}, parsePolicy(`mode: ${mode}`))
      .domain('off')
      .tell(domainCrashed, life('stopped/failed'))
      .pass(5)
    t.same(calls(it), [], mode)
    t.equal(it.ha.history?.at(-1)?.state, state, 'it is recorded all the same')
  }
  const unwanted = world().domain('off')
  unwanted.hypervisor = { ...unwanted.hypervisor, spec: { ...unwanted.hypervisor.spec, highAvailability: false } }
  t.same(calls(unwanted.tell(domainCrashed, life('stopped/failed')).pass(5)), [], 'the host says no')
  const observed = world().domain('off').tell(domainCrashed, life('stopped/failed'))
  observed.observed = true
  t.same(calls(observed.pass(5)), [], 'HV-8')
  t.equal(defaultPolicy.mode, 'observe', 'until an operator turns it on')
})

t.test('T-16: one crash never touches the host; a host that is tested is left alone', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(5)
  t.same(it.ha.signals, undefined)
  t.notOk(calls(it).some(call => call === 'disable' || call === 'drain'))
  const tested = world().domain('off').tell(domainCrashed, life('stopped/failed'))
  tested.hypervisor.status!.conditions = [{ ...tested.hypervisor.status!.conditions![0]!, status: 'True', reason: 'Testing' }]
  t.same(calls(tested.pass(5)), [])
  t.equal(tested.ha.incidents?.[0]?.rule, 'NotOnboarded')
})

t.test('T-5: the tick finds what no event told of, once', async t => {
  const it = world()
    .domain('off', startMs - 25 * s)
    .pass(120)
  t.match(it.ha.history, [{ kind: 'stoppedUnknown', state: 'Reported' }])
  it.domain('crashed', it.nowMs)
  it.nowMs += 30 * s
  it.pass(5)
  t.same(calls(it), ['restart 01'])
  const old = world()
    .domain('off', startMs - 3600 * s)
    .pass(60)
  t.same(old.ha.incidents, undefined, 'what has been off for long is nobody’s fault')
})

t.test('T-27: nothing that comes after a broken post-copy starts either side', async t => {
  const it = world().domain('paused').tell(postcopyFailed, life('suspended/post-copy-failed')).pass(4)
  it.domain('off').tell(domainCrashed, life('stopped/failed'), startMs + 60 * s)
  it.nowMs += 60 * s
  it.pass(120)
  t.same(calls(it), [])
  t.equal(it.ha.incidents?.[0]?.kind, 'postcopy')
})

t.test('a stop by the host during its shutdown belongs to that', async t => {
  const it = world().domain('off')
  it.tell(libvirt.shutdownRequested, { budgetSeconds: 60 }).tell(domainStopped, life('stopped/shutdown', 'by-host')).pass(5)
  t.equal(it.ha.history?.at(-1)?.rule, 'HostShutsDown')
  t.match(it.ha.signals, [{ kind: 'ShutdownRequested' }])
  it.tell(libvirt.shutdownCancelled).pass(1)
  t.same(it.ha.signals, undefined)
})

t.test('HA-8: every decision tells its inputs, the rule and the ones before it, and is the same again', async t => {
  const once = (): World =>
    world()
      .domain('off')
      .nova({}, action('stop', at - s))
      .tell(domainStopped, life('stopped/destroyed'))
      .pass(5)
  const [first, second] = [once(), once()]
  t.same(first.ha, second.ha)
  const decision = first.ha.history?.at(-1)
  t.equal(decision?.rule, 'RequestExplains')
  t.same(
    decision?.passedOver?.map(words => words.split(':')[0]),
    ruleNames.slice(0, ruleNames.indexOf('RequestExplains'))
  )
  t.match(decision?.inputs, {
    event: 'stopped/destroyed',
    domain: `off since ${iso(startMs)}`,
    server: /ACTIVE/,
    actions: /stop/
  })
})

t.test('a change of the policy never alters what was decided', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(4)
  it.policy = parsePolicy('mode: drover\nvm: { restarts: 1, waitsSeconds: [0], provenSeconds: 1 }')
  it.nova({ status: 'ERROR', vmState: 'error' }, action('reboot', it.nowMs - s)).pass(190)
  t.equal(calls(it).length, 2, 'three were allowed when it began')
})

t.test('Nova is away: it is waited for, with words', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed'))
  it.evidence.clear()
  it.outage = 'no answer'
  it.pass(10)
  t.match(it.ha.incidents, [{ state: 'Checking', waitingFor: 'OpenStack: no answer' }])
  it.outage = undefined
  it.nova({}).pass(20)
  t.same(calls(it), ['restart 01'])
})

t.test('the policy', async t => {
  t.throws(() => parsePolicy('vm: { restart: 3 }'), /not valid/, 'a word that is not known')
  t.throws(() => parsePolicy('mode: yes please'), /mode/)
  t.throws(() => parsePolicy('vm: { check: { waitSeconds: -1 } }'), /waitSeconds/)
  t.throws(() => parsePolicy('vm: 3'), /vm/)
  t.throws(() => parsePolicy('{'), /YAML/)
  t.same(parsePolicy(''), defaultPolicy)
  t.equal(drover.vm.restarts, defaultPolicy.vm.restarts)
})
