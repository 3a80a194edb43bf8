// What the status, the history and the alerts say of a host after one look (HA-8, HA-15).
import t from 'tap'
import { decide, historyOf, saysMore } from '../../../functions/ha/decide.ts'
import type { Decision, Ha, Incident, Seen, Signal } from '../../../functions/ha/seen.ts'
import { evidence, iso, startMs } from './fixtures.ts'
import { ovs } from './host-fixtures.ts'
import { agoIso, day, dueNow, libvirtLost, ours, s, seenOf, suspect } from './seen-host.ts'

const bond = { ovsNode: ovs(['BondDown', 'bond0']) }
const states: Array<[name: string, seen: Seen, state: string]> = [
  ['nothing', seenOf({}), 'Healthy'],
  ['an alert', seenOf({}, libvirtLost), 'Degraded'],
  ['no new servers', seenOf({}, {}, bond), 'Unschedulable'],
  ['disabled by us, and well', seenOf({}, {}, { service: ours }), 'Healing'],
  ['disabled by another', seenOf({}, {}, { service: { ...ours, disabledReason: 'jane' } }), 'Healthy'],
  ['disabled without a reason', seenOf({}, {}, { service: { ...ours, disabledReason: null } }), 'Healthy'],
  ['enabled, with the old reason', seenOf({}, {}, { service: { ...ours, status: 'enabled' } }), 'Healthy'],
  ['was disabled, Nova does not say', seenOf({ state: 'Unschedulable' }, {}, { service: undefined }), 'Healing'],
  ['was being enabled, Nova does not say', seenOf({ state: 'Healing' }, {}, { service: undefined }), 'Healing'],
  ['was degraded, Nova does not say', seenOf({ state: 'Degraded' }, {}, { service: undefined }), 'Healthy'],
  ['was being enabled, Nova says enabled', seenOf({ state: 'Healing' }), 'Healthy']
]
for (const [name, seen, state] of states)
  t.test(`the state of the host: ${name}`, async t => t.equal(decide(seen, startMs).ha.state, state))

t.test('since when: from the change on', async t => {
  const since = (ha: Ha) => decide(seenOf(ha), startMs).ha.since
  t.equal(since({ state: 'Healthy', since: agoIso(day) }), agoIso(day))
  t.equal(since({ state: 'Degraded', since: agoIso(day) }), iso(startMs))
  t.equal(since({ state: 'Healthy' }), iso(startMs))
})

t.test('a status of a host that is well says nothing else', async t => {
  t.strictSame(decide(seenOf({}), startMs), {
    ha: { mode: 'drover', state: 'Healthy', since: iso(startMs) },
    calls: [],
    decisions: [],
    news: [],
    nextCheckMs: undefined
  })
})

const views: Array<[name: string, seen: Seen, wanted: Partial<Incident>]> = [
  ['not asked about: as it was', seenOf({ incidents: [dueNow] }, {}, { evidence: new Map() }), dueNow],
  [
    'Nova away',
    seenOf({ incidents: [dueNow] }, {}, { evidence: new Map(), outage: 'no answer' }),
    { state: 'Checking', waitingFor: 'OpenStack: no answer', nextCheckAt: iso(startMs + 15 * s) }
  ],
  [
    'not in service yet',
    seenOf({ incidents: [dueNow] }, { nova: {} }),
    { state: 'Closed', rule: 'NotOnboarded', reason: 'The host is not in service yet.', since: iso(startMs) }
  ],
  ['libvirt lost', seenOf({ incidents: [dueNow] }, libvirtLost), { rule: 'DomainNotKnown' }],
  ['the agent silent', seenOf({ incidents: [dueNow] }, { agent: { lastHeartbeat: agoIso(91 * s) } }), { rule: 'DomainNotKnown' }],
  [
    'the host shuts down',
    seenOf(
      {
        incidents: [{ ...dueNow, kind: 'stoppedByHost' }],
        signals: [{ kind: 'ShutdownRequested', object: 'boot-1', since: agoIso(s) }]
      },
      { agent: { bootId: 'boot-1' } }
    ),
    { rule: 'HostShutsDown' }
  ]
]
for (const [name, seen, wanted] of views)
  t.test(`HA-9: what a server is judged from: ${name}`, async t => t.match(decide(seen, startMs).ha.incidents?.[0], wanted))

t.test('HA-15, HA-16: the ladders of the kind that is suspected wait, and say why; the larger suspicion counts', async t => {
  const held = (signals: Signal[], kind = 'crashed') => {
    const domain = { id: dueNow.server, name: 'i', active: false, state: 'off', since: iso(startMs) }
    const seen = seenOf({ incidents: [{ ...dueNow, kind }], signals }, { instances: [domain] })
    const [incident] = decide({ ...seen, evidence: new Map([[dueNow.server, evidence()]]) }, startMs).ha.incidents ?? []
    return `${incident?.state} ${incident?.rule}: ${incident?.waitingFor}`
  }
  const paused = (kind: string) => `Paused ${kind}: ${kind}: four of ten.`
  t.equal(held([suspect('HostSuspect', s)]), paused('HostSuspect'))
  t.equal(held([suspect('SeveralHosts', s)]), paused('SeveralHosts'))
  t.equal(held([suspect('HostSuspect', s), suspect('SeveralHosts', s)]), paused('SeveralHosts'))
  t.equal(held([suspect('HostSuspect', s), suspect('FleetFault', s)]), 'Reported FleetFault: undefined')
  t.equal(held([suspect('StorageOutage', s), suspect('SeveralHosts', s)]), 'Reported StorageOutage: undefined')
  t.equal(held([suspect('HostSuspect', s)], 'memory'), 'Restarting Fault: the server to run', 'another kind of fault')
  t.equal(held([suspect('StorageSuspect', s)]), 'Restarting Fault: the server to run')
})

t.test('each signal is told once when it begins and once when it is over', async t => {
  const news = (signals: Signal[], more: Partial<Seen>) => decide(seenOf({ signals }, {}, more), startMs).news
  const told = news([{ kind: 'NodePressure', object: 'DiskPressure' }, { kind: 'AgentSilent' }], {
    node: { ready: false, since: iso(startMs), pressure: undefined },
    ovsNode: ovs(['LinkFlapping', 'eth0'])
  })
  t.strictSame(told, [
    { type: 'Warning', reason: 'LinkFlapping', note: 'eth0: LinkFlapping.' },
    { type: 'Warning', reason: 'NodeNotReady', note: 'The node is not ready: a slow sign, alert only.' },
    { type: 'Normal', reason: 'NodePressure', note: 'NodePressure DiskPressure: over' },
    { type: 'Normal', reason: 'AgentSilent', note: 'AgentSilent: over' }
  ])
  t.strictSame(news([{ kind: 'LinkFlapping', object: 'eth0' }], { ovsNode: ovs(['LinkFlapping', 'eth0']) }), [])
})

const decided = (id: number | string, action = 'restart', more: Partial<Decision> = {}): Decision => ({
  decisionId: String(id),
  kind: 'crashed',
  state: 'Recovered',
  action,
  ...more
})
const ids = (history: readonly Decision[]): string => history.map(({ decisionId }) => decisionId).join(' ')
t.test('HA-8: the history has ten lines; what led to nothing goes first, the newest stays', async t => {
  const ten = Array.from({ length: 10 }, (_, n) => decided(n))
  const idle = (at: number) => ten.map((one, n) => (n === at ? { ...one, action: 'none' } : one))
  t.equal(ids(historyOf(ten, [])), '0 1 2 3 4 5 6 7 8 9')
  t.equal(ids(historyOf(ten, [decided('a')])), '1 2 3 4 5 6 7 8 9 a')
  t.equal(ids(historyOf(idle(4), [decided('a')])), '0 1 2 3 5 6 7 8 9 a')
  t.equal(ids(historyOf(idle(0), [decided('a'), decided('b')])), '2 3 4 5 6 7 8 9 a b')
  t.equal(ids(historyOf(idle(9), [decided('a')])), '0 1 2 3 4 5 6 7 8 a')
  t.equal(ids(historyOf(ten, [decided('a', 'none')])), '1 2 3 4 5 6 7 8 9 a')
  const again = decided(3, 'move')
  t.strictSame(historyOf([decided(3), decided(4)], [again]), [again, decided(4)], 'the newest of each decision')
  t.equal(historyOf([decided(3)], [decided(3, 'none', { kind: 'disk' })]).length, 2, 'of another kind it is another one')
})

t.test('the history in the status, and what a look adds to it', async t => {
  const history = [decided(1)]
  t.strictSame(decide(seenOf({ history }), startMs).ha.history, history)
  t.strictSame(
    decide(seenOf({ history }, {}, bond), startMs).ha.history?.map(({ state }) => state),
    ['Recovered', 'Disabled']
  )
})

t.test('HV-7: written when it says more than the time of the next look', async t => {
  const ha: Ha = { state: 'Healthy', nextCheckAt: iso(startMs), waitingFor: 'OpenStack' }
  t.equal(saysMore(ha, { state: 'Healthy', nextCheckAt: iso(startMs + s), waitingFor: 'something else' }), false)
  t.equal(saysMore(ha, { state: 'Healthy' }), false)
  t.equal(saysMore(ha, { state: 'Degraded' }), true)
  t.strictSame([saysMore(undefined, ha), saysMore(undefined, {})], [true, false])
})
