// The fault check (HA-9…12): whether a stop was a fault or somebody's wish, and which reports are one.
import t from 'tap'
import type { InstanceAction, Server } from 'openstack-sdk-lite'
import { ruleNames } from '../../../functions/ha/check.ts'
import type { EventKind } from '../../../shared/events/kind.ts'
import * as libvirt from '../../../shared/events/libvirt.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { action, calls, iso, life, serverId, startMs, world, type World } from './fixtures.ts'

const s = 1000
const { domainStopped, domainCrashed, domainRebooted, watchdogFired } = libvirt

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
  ['a user starts it after it', {}, [action('start', at + 2 * s)], 'RequestExplains'],
  ['a user had started it a minute before: that explains no crash', {}, [action('start', at - 60 * s)], 'fault'],
  ['its resize was confirmed a minute before', {}, [action('confirmResize', at - 60 * s)], 'fault'],
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
    t.strictSame(calls(it), fault ? ['restart 01'] : [])
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
    t.strictSame(calls(it.tell(domainCrashed, life('stopped/failed')).pass(5)), expected)
  }
})

t.test('HA-9: busy with something else is waited for, and looked at again', async t => {
  const it = world().domain('off').nova({ taskState: 'image_snapshot' })
  it.tell(domainCrashed, life('stopped/failed')).pass(30)
  t.equal(it.ha.incidents?.[0]?.rule, 'TaskBusy')
  it.nova({}).pass(3)
  t.strictSame(calls(it), ['restart 01'])
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
  t.strictSame(calls(it), [])
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
  t.strictSame(calls(never), [])
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
  t.strictSame(calls(fired), ['restart 01'], 'one restart')
})

t.test('a stop by the host during its shutdown belongs to that', async t => {
  const it = world().domain('off')
  it.tell(libvirt.shutdownRequested, { budgetSeconds: 60 }).tell(domainStopped, life('stopped/shutdown', 'by-host')).pass(5)
  t.equal(it.ha.history?.at(-1)?.rule, 'HostShutsDown')
  matchWhole(t, it.ha.signals, [{ kind: 'ShutdownRequested' }])
  it.tell(libvirt.shutdownCancelled).pass(1)
  t.strictSame(it.ha.signals, undefined)
})

t.test('HA-8: every decision tells its inputs, the rule and the ones before it, and is the same again', async t => {
  const once = (): World =>
    world()
      .domain('off')
      .nova({}, action('stop', at - s))
      .tell(domainStopped, life('stopped/destroyed'))
      .pass(5)
  const [first, second] = [once(), once()]
  t.strictSame(first.ha, second.ha)
  const decision = first.ha.history?.at(-1)
  t.equal(decision?.rule, 'RequestExplains')
  t.strictSame(
    decision?.passedOver?.map(words => words.split(':')[0]),
    ruleNames.slice(0, ruleNames.indexOf('RequestExplains')).filter(name => !['Managed', 'ControlNotConfirmed'].includes(name)),
    'all but those that are about control'
  )
  t.match(decision?.inputs, {
    event: 'stopped/destroyed',
    domain: `off since ${iso(startMs)}`,
    server: /ACTIVE/,
    actions: /stop/
  })
})
