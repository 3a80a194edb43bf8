// HA-13, HA-14: what the ladder does about a proven fault, each limit on both of its sides.
import t from 'tap'
import { judge } from '../../../functions/ha/ladder.ts'
import type { Incident } from '../../../functions/ha/seen.ts'
import type { Hold, View } from '../../../functions/ha/view.ts'
import { noted } from './facts.ts'
import { iso, startMs } from './fixtures.ts'
import { again, domain, judged, last, move, nova, nowMs, paused, plan, s, tried, viewOf, type Row } from './ladder-rows.ts'

const vm = (mode: View['modes']['vm']): Partial<View> => ({ modes: { vm: mode, signals: 'drover' } })
const hold = (kind: Hold['kind']): Partial<View> => ({ hold: { kind, words: `${kind}: why` } })
const busy = nova({ taskState: 'image_snapshot' })
const limitMs = startMs + 2 * s + 120 * s
const old = domain('running', startMs - 60 * s)

const checking: Row[] = [
  ['nobody sees the domain', {}, { domainKnown: false, nowMs: limitMs + 60 * s }, 'Checking, DomainNotKnown, in 10000 ms'],
  ['the agent may still write it', {}, { domain: old, nowMs: startMs + 7 * s - 1 }, 'Checking, NotSeenYet, in 500 ms'],
  ['the agent should have written it', {}, { domain: old, nowMs: startMs + 7 * s }, 'Checking, NotSeenYet, in 2000 ms'],
  ['busy', {}, { ...busy, nowMs: startMs + 4 * s }, 'Checking, TaskBusy, in 2000 ms'],
  ['busy for almost too long', {}, { ...busy, nowMs: limitMs - 1 }, 'Checking, TaskBusy, in 2000 ms'],
  ['busy for too long', {}, { ...busy, nowMs: limitMs }, 'Reported, TaskBusy, NotConfirmed/reported, Warning NotConfirmed'],
  ['moved', {}, nova({ host: 'host-2' }), 'Closed, NotOnThisHost, NotOnThisHost/none'],
  ['it reboots', { kind: 'rebooted' }, { nowMs: startMs + 120 * s - 1 }, 'Checking, StillRebooting, in 2000 ms'],
  ['it has not come back', { kind: 'rebooted' }, { nowMs: startMs + 120 * s }, 'Restarting, Fault, calls restart, in 2000 ms'],
  ['crashed', {}, {}, 'Restarting, Fault, calls restart, in 2000 ms'],
  ['recorded by policy', { kind: 'stoppedByGuest' }, {}, 'Closed, Fault, Recorded/none'],
  ['reported by policy', { kind: 'stoppedByHost' }, {}, 'Reported, Fault, Reported/reported, Warning Reported'],
  ['out of band', { kind: 'destroyed' }, {}, 'Reported, Fault, OutOfBand/reported, Warning OutOfBand'],
  ['external', {}, vm('external'), 'Closed, NotOurs, NotOurs/none'],
  ['off', {}, vm('off'), 'Closed, NotOurs, NotOurs/none'],
  ['observed', {}, vm('observe'), 'Reported, Observed, WouldRestart/none, Warning WouldRestart'],
  ['paused by its disk', { kind: 'disk' }, paused, 'Resuming, Fault, in 2000 ms'],
  [
    'paused by its disk, observed',
    { kind: 'disk' },
    { ...paused, ...vm('observe') },
    'Reported, Observed, WouldResume/none, Warning WouldResume'
  ],
  ...(['off', 'external'] as const).map((mode): Row => [
    `paused by its disk, ${mode}`,
    { kind: 'disk' },
    { ...paused, ...vm(mode) },
    'Reported, Fault, Reported/reported, Warning Reported'
  ]),
  ['a fleet fault', {}, hold('FleetFault'), 'Reported, FleetFault, FleetFault/reported, Warning FleetFault'],
  ['a storage outage', {}, hold('StorageOutage'), 'Reported, StorageOutage, StorageOutage/reported, Warning StorageOutage'],
  ['a suspected host', {}, hold('HostSuspect'), 'Paused, HostSuspect, in 10000 ms'],
  ['several hosts', {}, hold('SeveralHosts'), 'Paused, SeveralHosts, in 10000 ms'],
  [
    'what another service answers for is not held',
    {},
    { ...hold('HostSuspect'), ...vm('external') },
    'Closed, NotOurs, NotOurs/none'
  ],
  [
    'what is only reported is not held',
    { kind: 'destroyed' },
    hold('HostSuspect'),
    'Reported, Fault, OutOfBand/reported, Warning OutOfBand'
  ]
]

const failedAt = (...times: number[]) => ({
  plan,
  attempts: times.map(atMs => tried('restart', atMs, { outcome: 'did not run in time' }))
})
const givenUp = `Blocked, GivenUp, Blocked/reported, Warning ServerBlocked${last}`
const rungs: Row[] = [
  ['the second, a minute after the first', failedAt(nowMs - 60 * s), {}, again],
  ['the second, too early', failedAt(nowMs - 60 * s + 1), {}, `Checking, Fault, in 1 ms${last}`],
  ['the third, five minutes later', failedAt(nowMs - 600 * s, nowMs - 300 * s), {}, again],
  ['the third, too early', failedAt(nowMs - 600 * s, nowMs - 300 * s + 1), {}, `Checking, Fault, in 1 ms${last}`],
  ['no fourth', failedAt(nowMs - 1700 * s, nowMs - 1600 * s, nowMs - 1000 * s), {}, givenUp],
  ['half an hour ago does not count', failedAt(nowMs - 1800 * s, nowMs - 1600 * s, nowMs - 1000 * s), {}, again],
  [
    'the last wait is that of all later ones',
    { ...failedAt(nowMs - 400 * s, nowMs - 60 * s + 1), plan: { ...plan, waitsSeconds: [0, 60] } },
    {},
    `Checking, Fault, in 1 ms${last}`
  ],
  ['no wait said', { ...failedAt(nowMs), plan: { ...plan, waitsSeconds: [] } }, {}, again],
  ['moved', { ...failedAt(nowMs - s), plan: move }, {}, 'Moving, Fault, calls move, in 2000 ms'],
  ['moved once', { plan: move, attempts: [tried('move', nowMs - 100 * s), ...failedAt(nowMs - s).attempts] }, {}, givenUp]
]

judged('checking', checking)
judged('rungs', rungs)

const off = 'The domain is off and nobody asked for that.'
const crash = `${off} The policy for crashed is restart.`
const reasons: Array<[incident: Partial<Incident>, view: Partial<View>, reason: string]> = [
  [{ kind: 'rebooted' }, {}, `It has until ${iso(startMs + 120 * s)} to run again.`],
  [{}, {}, crash],
  [{}, vm('off'), `${crash} Mode is off.`],
  [{}, vm('observe'), `${crash} Mode is observe: it would be restarted.`],
  [{}, hold('FleetFault'), `${crash} FleetFault: why`],
  [{}, hold('HostSuspect'), `${crash} HostSuspect: why`],
  [{ kind: 'disk' }, paused, 'The domain is paused and nobody asked for that. Its disk paused it: it is resumed once.'],
  [
    { kind: 'disk' },
    { ...paused, ...vm('observe') },
    'The domain is paused and nobody asked for that. Mode is observe: it would be resumed.'
  ]
]
for (const [incident, view, reason] of reasons)
  t.test(`HA-8: ${reason}`, async t => {
    const { incident: judged, decision } = judge({ ...noted, ...incident }, viewOf(view))
    t.equal(judged.reason, reason)
    if (decision) t.equal(decision.passedOver?.length, 12, 'with every rule that was asked before')
  })

t.test('HA-15: a paused ladder tells since when it waits, and for what', async t => {
  const held = (state: Incident['state']) => judge({ ...noted, state, since: iso(startMs) }, viewOf(hold('HostSuspect'))).incident
  t.equal(held('Checking').since, iso(nowMs))
  t.equal(held('Paused').since, iso(startMs))
  t.equal(held('Paused').waitingFor, 'HostSuspect: why')
})
