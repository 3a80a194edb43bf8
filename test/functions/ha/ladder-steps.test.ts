// HA-13: what the ladder makes of a resume, a restart, a proof and a move that are under way, each limit on both of its sides.
import type { Attempt, Incident } from '../../../functions/ha/seen.ts'
import type { View } from '../../../functions/ha/view.ts'
import { type action, evidence, iso } from './fixtures.ts'
import { again, domain, judged, last, move, nova, nowMs, paused, plan, s, tried, type Row } from './ladder-rows.ts'

const asked = nowMs - 20 * s
const up = { ...nova({}), domain: domain('running', asked) }
const proven = 'Proving, in 60000 ms, last runs'
const resumed = (atMs: number) => ({ kind: 'disk', state: 'Resuming' as const, plan, attempts: [tried('resume', atMs)] })
const resuming: Row[] = [
  ['nobody sees it', resumed(asked), { ...up, domainKnown: false }, 'Resuming, in 10000 ms'],
  ['it runs', resumed(asked), up, proven],
  ['the agent writes whole seconds', resumed(asked + 999), up, proven],
  ['it ran before', resumed(asked + s), up, 'Resuming, in 2000 ms'],
  ['it has its time', resumed(nowMs - 20 * s + 1), paused, 'Resuming, in 2000 ms'],
  ['it had its time', resumed(nowMs - 20 * s), paused, `Reported, Fault, Reported/reported, Warning Reported${last}`]
]

const restarted = (atMs: number, more: Partial<Attempt> = {}): Partial<Incident> => ({
  state: 'Restarting',
  plan,
  attempts: [tried('restart', atMs, more)]
})
const reboot = (atMs: number): Parameters<typeof action> => ['reboot', atMs]
const goesOn = 'Restarting, in 2000 ms'
const waits = (ms: number, outcome: string) => `Checking, Fault, in ${ms} ms, last ${outcome}`
const restarting: Row[] = [
  ['deleted', restarted(asked), { evidence: evidence('gone') }, 'Closed, NotInNova, NotInNova/none'],
  ['moved', restarted(asked), nova({ host: 'host-2' }), 'Closed, NotOnThisHost, NotOnThisHost/none'],
  ['on no host for the moment', restarted(asked), nova({ host: null, taskState: 'reboot_started_hard' }), goesOn],
  ['suspended', restarted(asked), nova({ status: 'SUSPENDED', vmState: 'suspended' }), 'Closed, NovaState, NovaState/none'],
  ['stopped in Nova', restarted(asked), nova({ status: 'SHUTOFF', vmState: 'stopped' }), goesOn],
  ['in error in Nova', restarted(asked), nova({ status: 'ERROR', vmState: 'error' }), goesOn],
  ['nobody sees it', restarted(asked), { ...up, domainKnown: false }, 'Restarting, in 10000 ms'],
  ['it runs', restarted(asked), up, proven],
  ['the agent writes whole seconds', restarted(asked + 999), up, proven],
  ['it ran before', restarted(asked + s), up, goesOn],
  ['it ran before, and Nova has done it', restarted(asked + s), { ...up, ...nova({}, reboot(asked + s)) }, proven],
  ['Nova is not done', restarted(asked), { ...up, ...nova({ taskState: 'reboot_started_hard' }) }, goesOn],
  ['Nova does not call it active', restarted(asked), { ...up, ...nova({ status: 'ERROR', vmState: 'error' }) }, goesOn],
  ['it may still reach Nova', restarted(nowMs - 40 * s + 1), {}, goesOn],
  ['it never reached Nova', restarted(nowMs - 40 * s), {}, again],
  ['it was not sent', restarted(nowMs, { outcome: 'not sent: no connection' }), {}, again],
  ['refused', restarted(nowMs, { outcome: 'refused: locked' }), {}, waits(60 * s, 'refused: locked')],
  ['it has its time', restarted(nowMs - 119 * s), nova({}, reboot(nowMs - 119 * s)), goesOn],
  ['it had its time', restarted(nowMs - 120 * s), nova({}, reboot(nowMs - 120 * s)), again],
  [
    'Nova is not done with it',
    restarted(nowMs - 121 * s),
    nova({ taskState: 'reboot_started_hard' }, reboot(nowMs - 121 * s)),
    goesOn
  ],
  [
    'Nova is at it for almost ten minutes',
    restarted(nowMs - 599 * s),
    nova({ taskState: 'reboot_started_hard' }, reboot(nowMs - 599 * s)),
    goesOn
  ],
  [
    'Nova is at it for ten minutes',
    restarted(nowMs - 600 * s),
    nova({ taskState: 'reboot_started_hard' }, reboot(nowMs - 600 * s)),
    'Blocked, GivenUp, Blocked/reported, Warning ServerBlocked'
  ],
  [
    'Nova could not',
    restarted(nowMs - 10 * s),
    nova({}, ['reboot', nowMs - 10 * s, { message: 'Error' }]),
    waits(50 * s, 'failed: Error')
  ],
  [
    'Nova could not, and is at it again',
    restarted(nowMs - 10 * s),
    nova({ taskState: 'reboot_started_hard' }, ['reboot', nowMs - 10 * s, { message: 'Error' }]),
    goesOn
  ]
]

const since = nowMs - 60 * s
const proving = (more: Partial<Incident> = {}): Partial<Incident> => ({
  state: 'Proving',
  since: iso(since),
  plan,
  attempts: [tried('restart', since - 5 * s, { outcome: 'runs', request: 'r' })],
  ...more
})
const runsSince = (sinceMs: number, more: Partial<View> = {}) => ({ ...nova({}), domain: domain('running', sinceMs), ...more })
const recovered = 'Recovered, Recovered/restart, Normal ServerRecovered, last runs'
const proofs: Row[] = [
  ['nobody sees it', proving(), { ...runsSince(since), domainKnown: false }, 'Proving, in 10000 ms, last runs'],
  ['not long enough', proving(), runsSince(since, { nowMs: nowMs - 1 }), 'Proving, in 1 ms, last runs'],
  ['long enough', proving(), runsSince(since), recovered],
  ['the agent wrote a second later', proving(), runsSince(since + s), recovered],
  ['it began again meanwhile', proving(), runsSince(since + s + 1), 'Closed, Runs, Runs/none, last stopped again'],
  ['it stopped again', proving(), { domain: domain('off', nowMs - 10 * s) }, 'Restarting, Fault, calls restart, in 2000 ms'],
  [
    'it stopped again too early',
    proving(),
    { domain: domain('off', nowMs - 10 * s), nowMs: nowMs - 6 * s },
    'Checking, Fault, in 1000 ms, last stopped again'
  ],
  ['deleted', proving(), { evidence: evidence('gone') }, 'Closed, NotInNova, NotInNova/none, last runs'],
  ['moved', proving(), nova({ host: 'host-2' }), 'Closed, NotOnThisHost, NotOnThisHost/none, last runs'],
  ['on no host, and it stopped', proving(), nova({ host: null }), 'Restarting, Fault, calls restart, in 2000 ms']
]

const moved = (what: Attempt['action'], atMs = asked, more: Partial<Attempt> = {}): Partial<Incident> => ({
  state: 'Moving',
  plan: move,
  attempts: [tried(what, atMs, more)]
})
const movesOn = 'Moving, in 2000 ms'
const blocked = (outcome = '') => `Blocked, GivenUp, Blocked/reported, Warning ServerBlocked${outcome ? `, last ${outcome}` : ''}`
const elsewhere = { status: 'SHUTOFF', vmState: 'stopped', host: 'host-2' }
const resized = { status: 'VERIFY_RESIZE', vmState: 'resized', host: 'host-2' }
const moving: Row[] = [
  ['deleted', moved('move'), { evidence: evidence('gone') }, 'Closed, NotInNova, NotInNova/none'],
  ['moved', moved('move'), nova(resized), 'Moving, calls confirm, in 2000 ms'],
  ['moved, Nova not done', moved('move'), nova({ ...resized, taskState: 'resize_finish' }), movesOn],
  ['confirmed already', moved('confirm'), nova(resized), movesOn],
  ['off elsewhere', moved('confirm'), nova(elsewhere), 'Moving, calls start, in 2000 ms'],
  ['off elsewhere, Nova not done', moved('confirm'), nova({ ...elsewhere, taskState: 'powering-on' }), movesOn],
  ['started already', moved('start'), nova(elsewhere), movesOn],
  ['off here', moved('move'), nova({ ...elsewhere, host: 'host-1' }), movesOn],
  ['off nowhere', moved('move'), nova({ ...elsewhere, host: null }), movesOn],
  ['runs elsewhere', moved('start'), nova({ host: 'host-2' }), 'Recovered, Recovered/start, Normal ServerRecovered'],
  ['runs elsewhere, Nova not done', moved('start'), nova({ host: 'host-2', taskState: 'powering-on' }), movesOn],
  ['runs here', moved('move'), nova({}), movesOn],
  ['runs nowhere', moved('move'), nova({ host: null }), movesOn],
  ['never reached Nova', moved('move', nowMs - 40 * s), nova({}), 'Moving, calls move, in 2000 ms'],
  ['may still reach Nova', moved('move', nowMs - 40 * s + 1), nova({}), movesOn],
  ['a confirmation that was lost', moved('confirm', nowMs - 40 * s), nova(resized), 'Moving, calls confirm, in 2000 ms'],
  ['refused', moved('move', asked, { outcome: 'refused: locked' }), nova({}), blocked('refused: locked')],
  ['Nova could not', moved('move'), nova({}, ['migrate', asked, { message: 'Error' }]), blocked('failed: Error')],
  [
    'Nova could not, and is not done',
    moved('move'),
    nova({ taskState: 'resize_prep' }, ['migrate', asked, { message: 'Error' }]),
    movesOn
  ],
  [
    'at it for almost ten minutes',
    moved('move', nowMs - 599 * s),
    nova({ taskState: 'resize_prep' }, ['migrate', nowMs - 599 * s]),
    movesOn
  ],
  [
    'at it for ten minutes',
    moved('move', nowMs - 600 * s),
    nova({ taskState: 'resize_prep' }, ['migrate', nowMs - 600 * s]),
    blocked()
  ]
]

judged('resuming', resuming)
judged('restarting', restarting)
judged('proving', proofs)
judged('moving', moving)
