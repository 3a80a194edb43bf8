// The recovery ladder (HA-13), the policy of a server (HA-14), who acts (HA-4, HA-5), and what never happens.
import t from 'tap'
import type { Server } from 'openstack-sdk-lite'
import { decide } from '../../../functions/ha/decide.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import { domainCrashed, postcopyFailed } from '../../../shared/events/libvirt.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { action, calls, defaultPolicy, life, serverId, startMs, world, type World } from './fixtures.ts'

const s = 1000

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
  t.strictSame(
    it.ha.history?.map(({ state }) => state),
    ['Recovered']
  )
  t.strictSame(calls(it), ['restart 01'])
  t.strictSame(
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
  t.strictSame(
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
  t.strictSame(calls(it), ['restart 01', 'move 01'])
  it.nova({ status: 'VERIFY_RESIZE', vmState: 'resized', host: 'host-2' }, action('migrate', it.nowMs)).pass(3)
  it.nova({ status: 'SHUTOFF', vmState: 'stopped', host: 'host-2' }).pass(3)
  it.nova({ host: 'host-2' }).pass(3)
  t.strictSame(calls(it), ['restart 01', 'move 01', 'confirm 01', 'start 01'])
  t.equal(it.ha.history?.at(-1)?.state, 'Recovered')
})

t.test('T-20: a user who stops it between two restarts has the last word', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(4)
  it.nova({ status: 'SHUTOFF', vmState: 'stopped' }, action('reboot', it.nowMs - s), action('stop', it.nowMs + 20 * s))
  it.nowMs += 30 * s
  it.pass(400)
  t.strictSame(calls(it), ['restart 01'])
  t.equal(it.ha.history?.at(-1)?.rule, 'RequestExplains')
})

t.test('killed between the note and the call: asked for once more, and only if Nova never heard of it', async t => {
  const lost = world().domain('off').tell(domainCrashed, life('stopped/failed'))
  lost.calling = false
  lost.pass(4).pass(30)
  t.strictSame(calls(lost), ['restart 01'], 'it may still be on its way')
  lost.pass(10)
  t.strictSame(calls(lost), ['restart 01', 'restart 01'])
  t.equal(lost.ha.incidents?.[0]?.attempts?.length, 1, 'it is the same try')
  const heard = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(4)
  heard.nova({ taskState: 'reboot_started_hard' }, action('reboot', heard.nowMs)).pass(60)
  t.strictSame(calls(heard), ['restart 01'])
})

t.test('T-8: an answer of Nova from before the call does not say that the call was lost', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(4)
  it.nova({}) // as it was read before the other process asked; what comes late is only our write
  const askedMs = it.nowMs
  it.nowMs += 60 * s
  const { calls: late } = decide({ ...it.seen(), askedMs }, it.nowMs)
  t.strictSame(late, [])
  matchWhole(t, decide(it.seen(), it.nowMs).calls, [{ do: 'restart' }], 'asked now, it would')
})

t.test('what was surely not sent is asked for again at once, what was refused is a try', async t => {
  for (const [outcome, tries] of [
    ['not sent: no connection', 1],
    ['refused: it is locked', 1]
  ] as const) {
    const it = world().domain('off').tell(domainCrashed, life('stopped/failed'))
    it.calling = false
    it.pass(3)
    const [incident] = it.ha.incidents!
    it.ha.incidents = [{ ...incident!, attempts: [{ ...incident!.attempts![0]!, outcome }] }]
    it.pass(6)
    t.equal(calls(it).length, outcome.startsWith('not') ? 2 : 1, outcome)
    t.equal(it.ha.incidents?.[0]?.attempts?.length, tries)
  }
})

t.test('killed before a move, its confirmation or its start: each is asked for again', async t => {
  const policy = parsePolicy('mode: drover\nvm: { restarts: 1, moveOnRepeat: true }')
  const it = world({}, policy).domain('off').tell(domainCrashed, life('stopped/failed')).pass(4)
  it.nova({ status: 'SHUTOFF', vmState: 'stopped' }, action('reboot', it.nowMs - s)).pass(130)
  it.pass(45)
  t.strictSame(calls(it), ['restart 01', 'move 01', 'move 01'])
  const moved = action('migrate', it.nowMs)
  it.nova({ status: 'VERIFY_RESIZE', vmState: 'resized', host: 'host-2' }, moved).pass(45)
  t.strictSame(calls(it).slice(3), ['confirm 01', 'confirm 01'])
  it.nova({ status: 'SHUTOFF', vmState: 'stopped', host: 'host-2' }, moved, action('confirmResize', it.nowMs)).pass(45)
  t.strictSame(calls(it).slice(5), ['start 01', 'start 01'])
  it.nova({ host: 'host-2' }).pass(3)
  t.equal(it.ha.history?.at(-1)?.state, 'Recovered')
})

t.test('Nova does not come to an end with a restart: a person is told', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(4)
  it.nova({ taskState: 'reboot_started_hard' }, action('reboot', it.nowMs)).pass(620)
  t.match(it.ha.history?.at(-1), { state: 'Blocked', reason: /does not come to an end with it: reboot_started_hard/ })
})

t.test('T-26: libvirt goes away while a server proves itself: neither recovered nor failed until it is back', async t => {
  const it = restarted(world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(3)).pass(3)
  t.equal(it.ha.incidents?.[0]?.state, 'Proving')
  const well = it.hypervisor.status!.conditions!
  it.hypervisor.status!.conditions = well.map(one => (one.type === 'LibVirtConnection' ? { ...one, status: 'False' } : one))
  it.pass(90)
  matchWhole(t, it.ha.incidents, [{ state: 'Proving', waitingFor: 'the agent to see the domain' }])
  it.hypervisor.status!.conditions = well
  it.pass(20)
  t.equal(it.ha.history?.at(-1)?.state, 'Recovered')
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
    t.strictSame(calls(it.tell(domainCrashed, life('stopped/failed')).pass(4)), expected, name)
  }
})

t.test('HA-4, HA-5: who acts', async t => {
  const modes = { off: 'NotOurs', observe: 'WouldRestart', external: 'NotOurs' }
  for (const [mode, state] of Object.entries(modes)) {
    const it = world({}, parsePolicy(`mode: ${mode}`))
      .domain('off')
      .tell(domainCrashed, life('stopped/failed'))
      .pass(5)
    t.strictSame(calls(it), [], mode)
    t.equal(it.ha.history?.at(-1)?.state, state, 'it is recorded all the same')
  }
  const unwanted = world().domain('off')
  unwanted.hypervisor = { ...unwanted.hypervisor, spec: { ...unwanted.hypervisor.spec, highAvailability: false } }
  t.strictSame(calls(unwanted.tell(domainCrashed, life('stopped/failed')).pass(5)), [], 'the host says no')
  const observed = world().domain('off').tell(domainCrashed, life('stopped/failed'))
  observed.observed = true
  t.strictSame(calls(observed.pass(5)), [], 'HV-8')
  t.equal(defaultPolicy.mode, 'observe', 'until an operator turns it on')
})

t.test('T-16: one crash never touches the host; a host that is tested is left alone', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(5)
  t.strictSame(it.ha.signals, undefined)
  t.notOk(calls(it).some(call => call === 'disable' || call === 'drain'))
  const tested = world().domain('off').tell(domainCrashed, life('stopped/failed'))
  tested.hypervisor.status!.conditions = [{ ...tested.hypervisor.status!.conditions![0]!, status: 'True', reason: 'Testing' }]
  t.strictSame(calls(tested.pass(5)), [])
  t.equal(tested.ha.incidents?.[0]?.rule, 'NotOnboarded')
})

t.test('T-5: the tick finds what no event told of, once', async t => {
  const it = world()
    .domain('off', startMs - 25 * s)
    .pass(120)
  matchWhole(t, it.ha.history, [{ kind: 'stoppedUnknown', state: 'Reported' }])
  it.domain('crashed', it.nowMs)
  it.nowMs += 30 * s
  it.pass(5)
  t.strictSame(calls(it), ['restart 01'])
  const old = world()
    .domain('off', startMs - 3600 * s)
    .pass(60)
  t.strictSame(old.ha.incidents, undefined, 'what has been off for long is nobody’s fault')
})

t.test('T-27: nothing that comes after a broken post-copy starts either side', async t => {
  const it = world().domain('paused').tell(postcopyFailed, life('suspended/post-copy-failed')).pass(4)
  it.domain('off').tell(domainCrashed, life('stopped/failed'), startMs + 60 * s)
  it.nowMs += 60 * s
  it.pass(120)
  t.strictSame(calls(it), [])
  t.equal(it.ha.incidents?.[0]?.kind, 'postcopy')
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
  matchWhole(t, it.ha.incidents, [{ state: 'Checking', waitingFor: 'OpenStack: no answer' }])
  it.outage = undefined
  it.nova({}).pass(20)
  t.strictSame(calls(it), ['restart 01'])
})
