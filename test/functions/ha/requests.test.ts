// HA-10…12, HA-14: which record of Nova explains a stop, which says that a server was off, and which of them are Drover's own.
import t from 'tap'
import type { InstanceAction } from 'openstack-sdk-lite'
import type { Facts } from '../../../functions/ha/check.ts'
import { isOwn, lastPower, maybeUnfinished, requestBehind } from '../../../functions/ha/requests.ts'
import type { Incident } from '../../../functions/ha/seen.ts'
import { factsOf, noted } from './facts.ts'
import { action, drover, evidence, iso, startMs } from './fixtures.ts'

const s = 1000
const minute = 60 * s
const hour = 60 * minute
const facts = (actions: InstanceAction[], incident: Incident = noted, steps: Facts['evidence']['steps'] = new Map()): Facts =>
  factsOf([], { incident, evidence: evidence({}, actions, steps) })

// 120 s before, and 5 s by which the clocks may differ
const behind: Array<[name: string, action: InstanceAction, explains: boolean]> = [
  ['as early as counts', action('stop', startMs - 125 * s), true],
  ['a second earlier', action('stop', startMs - 126 * s), false],
  ['Nova itself', action('stop', startMs - s, { userId: null }), false],
  ['no request at all', action('lock', startMs - s), false],
  ['what a user asks for later is theirs', action('rebuild', startMs + minute), true],
  ...['start', 'confirmResize', 'revertResize', 'softDelete', 'restore', 'resume', 'unpause', 'unshelve'].flatMap(
    (name): typeof behind => [
      [`${name}, taken up as the clocks may differ`, action(name, startMs - 5 * s), true],
      [`${name} before it explains no stop`, action(name, startMs - 6 * s), false]
    ]
  )
]
for (const [name, one, explains] of behind)
  t.test(`HA-10…12: ${name}`, async t => t.equal(requestBehind(facts([one]))?.requestId, explains ? one.requestId : undefined))

t.test('HA-10: without a time of its own an event is as old as its notice', async t => {
  const { eventAt: _, ...without } = noted
  const found = (before: number) => requestBehind(facts([action('stop', startMs + 2 * s - before)], without))?.action
  t.strictSame([found(125 * s), found(126 * s)], ['stop', undefined])
})

t.test('HA-10: an older request counts while one of its steps has no end', async t => {
  const resize = action('resize', startMs - hour)
  const step = { event: 'compute', result: null, host: 'host-1', details: null, started: resize.started }
  const [over, open] = [
    { ...step, finished: resize.started },
    { ...step, finished: null }
  ]
  const found = (steps: Array<typeof over | typeof open>) =>
    requestBehind(facts([resize], noted, new Map([[resize.requestId, steps]])))?.action
  t.strictSame([found([over, open]), found([over, over]), found([])], ['resize', undefined, undefined])
})

t.test('HA-8: of several requests the newest is named, which Nova lists first', async t => {
  const [newest, older] = [action('reboot', startMs - s), action('stop', startMs - 60 * s)]
  t.equal(requestBehind(facts([older, newest]))?.requestId, newest.requestId)
})

t.test('HA-14: the last of what switches a server on or off before the event, whoever asked', async t => {
  const stop = action('stop', startMs - hour, { userId: null })
  t.equal(lastPower(facts([]))?.action, undefined)
  for (const name of ['start', 'reboot', 'create', 'rebuild', 'resume', 'unpause', 'unshelve', 'restore', 'evacuate'])
    t.equal(lastPower(facts([stop, action(name, startMs - minute)]))?.action, name)
  t.equal(lastPower(facts([stop, action('resize', startMs - minute)]))?.action, 'stop', 'a resize leaves it as it was')
  t.equal(lastPower(facts([action('start', startMs - 2 * hour), stop]))?.action, 'stop')
  const unsorted = facts([])
  const actions = [action('start', startMs - 2 * hour), stop]
  t.equal(lastPower({ ...unsorted, evidence: { ...unsorted.evidence, actions } })?.action, 'stop', 'in whatever order')
  t.equal(lastPower(facts([stop, action('start', startMs - 6 * s)]))?.action, 'start')
  t.equal(lastPower(facts([stop, action('start', startMs - 5 * s)]))?.action, 'stop', 'by its clock this may be later')
})

const tried = (what: 'restart' | 'move' | 'start' | 'confirm', request?: string): Incident => ({
  ...noted,
  attempts: [{ action: what, at: iso(startMs), ...(request && { request }) }]
})
const own: Array<[name: string, incident: Incident, action: InstanceAction, isOwn: boolean]> = [
  ['nothing was tried', noted, action('reboot', startMs), false],
  ['a restart', tried('restart'), action('reboot', startMs), true],
  ['a move', tried('move'), action('migrate', startMs), true],
  ['a start', tried('start'), action('start', startMs), true],
  ['a confirmation', tried('confirm'), action('confirmResize', startMs), true],
  ['another action', tried('restart'), action('stop', startMs), false],
  ['as early as the clocks may differ', tried('restart'), action('reboot', startMs - 5 * s), true],
  ['earlier', tried('restart'), action('reboot', startMs - 6 * s), false],
  ['as late as it may arrive', tried('restart'), action('reboot', startMs + 40 * s), true],
  ['later', tried('restart'), action('reboot', startMs + 41 * s), false],
  [
    'by its id, at any time',
    tried('restart', 'req-reboot-0'),
    { ...action('reboot', startMs + hour), requestId: 'req-reboot-0' },
    true
  ],
  ['with another id', tried('restart', 'req-other'), action('reboot', startMs), false]
]
for (const [name, incident, one, expected] of own)
  t.test(`Drover's own: ${name}`, async t => {
    t.equal(isOwn(incident, one, 5 * s), expected)
    if (one.action !== 'reboot' || Date.parse(`${one.started}Z`) < startMs) return
    t.equal(requestBehind(facts([one], incident))?.action, expected ? undefined : 'reboot', 'and explains nothing')
  })

t.test('HA-10: whose steps are asked for', async t => {
  const from = startMs - 125 * s
  const asked = (...actions: InstanceAction[]) => maybeUnfinished(noted, actions, drover).map(({ requestId }) => requestId)
  const old = action('resize', from - s)
  t.strictSame(asked(old), [old.requestId])
  t.strictSame(asked(action('resize', from)), [], 'this one explains it in any case')
  const oldest = action('resize', from - hour)
  t.strictSame(asked(oldest, action('resize', from - hour - s)), [oldest.requestId], 'within an hour')
  t.strictSame(asked(action('start', from - s), action('resize', from - s, { userId: null })), [], 'only requests, only of users')
  const ours = { ...old, requestId: 'ours' }
  t.strictSame(maybeUnfinished(tried('restart', 'ours'), [ours], drover), [])
  const many = [1, 2, 3, 4].map(n => action('resize', from - n * s))
  t.strictSame(
    asked(...many),
    many.slice(0, 3).map(({ requestId }) => requestId),
    'three at most'
  )
})
