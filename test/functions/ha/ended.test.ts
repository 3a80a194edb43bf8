// What is kept of incidents that have their end: nobody who left the host is its trouble, and the old make room for the new.
import t from 'tap'
import { fold, missed } from '../../../functions/ha/incident.ts'
import type { Heard } from '../../../functions/ha/heard.ts'
import type { Incident } from '../../../functions/ha/seen.ts'
import { decide, dueServers } from '../../../functions/ha/decide.ts'
import { domainCrashed, domainStopped, postcopyFailed } from '../../../shared/events/libvirt.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { calls, drover, iso, life, serverId, startMs, world, type World } from './fixtures.ts'

const s = 1000
const reported = (): World => world().domain('off').tell(domainStopped, life('stopped/destroyed')).pass(5)
const blocked = (): World => world().domain('paused').tell(postcopyFailed, life('suspended/post-copy-failed')).pass(5)

const leaves: Array<[name: string, it: () => World, server: Parameters<World['nova']>[0], says: RegExp]> = [
  ['reported, then deleted', reported, 'gone', /Nova does not know it any more/],
  ['reported, then moved', reported, { host: 'host-2' }, /Nova has it on host-2 now/],
  ['reported, then shelved', reported, { host: null, status: 'SHELVED_OFFLOADED' }, /on no host now/],
  ['given up, then deleted', blocked, 'gone', /does not know it/],
  ['given up, then recovered on the other side', blocked, { host: 'host-2' }, /host-2/]
]
for (const [name, given, server, says] of leaves) {
  t.test(`${name}: closed`, async t => {
    const it = given()
    const [before] = it.ha.incidents ?? []
    it.domain(undefined).nova(server)
    const told = decide({ ...it.seen(), nova: false, evidence: new Map() }, it.nowMs)
    t.equal(told.nextCheckMs, 0, 'Nova is to be asked')
    t.equal(told.ha.incidents?.[0]?.state, before?.state, 'and until then it stays')
    t.equal(dueServers(it.seen(), it.nowMs).length, 1)
    it.look()
    matchWhole(t, it.ha.incidents, [{ state: 'Closed', rule: 'HasLeft', reason: says, decisionId: before?.decisionId }])
    t.notOk(it.ha.nextCheckAt)
    t.strictSame(dueServers(it.seen(), it.nowMs), [], 'nobody asks again')
  })
}

t.test('its domain is gone, and Nova has it here: a restart that failed leaves none either', async t => {
  const it = reported()
  it.domain(undefined).look()
  matchWhole(t, it.ha.incidents, [{ state: 'Reported' }])
  t.notOk(it.ha.nextCheckAt, 'the next event or the slow tick asks again')
})

t.test(
  'opened again by a report that says more, of the same millisecond: another decision, so that none closes twice',
  async t => {
    const it = world().domain('off').tell(domainStopped, life('shutdown/by-host')).pass(5)
    const [first] = it.ha.incidents ?? []
    t.match(first, { state: 'Reported', kind: 'stoppedByHost' })
    it.tell(domainStopped, life('stopped/destroyed'), startMs).pass(10) // of the same moment, delivered late
    const [second] = it.ha.incidents ?? []
    t.match(second, { state: 'Reported', kind: 'destroyed', eventAt: first?.eventAt })
    t.not(second?.decisionId, first?.decisionId)
    t.strictSame(
      it.ha.history?.map(({ decisionId, state }) => [decisionId, state]),
      [
        [first?.decisionId, 'Reported'],
        [second?.decisionId, 'OutOfBand']
      ]
    )
  }
)

t.test('the stop of our own restart, delivered after the server was proven to run, opens nothing', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(5)
  t.strictSame(calls(it), ['restart 01'])
  const restartedMs = it.nowMs
  it.domain('running', restartedMs + s).pass(120)
  const [before] = it.ha.incidents ?? []
  t.match(before, { state: 'Recovered', kind: 'crashed' })
  it.tell(domainStopped, life('stopped/destroyed'), restartedMs).pass(10)
  t.strictSame(it.ha.incidents, [before])
})

t.test('a crash in the last second of proving, delivered after the recovery, is a new fault', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(5)
  it.domain('running', it.nowMs + s).pass(120)
  const [before] = it.ha.incidents ?? []
  t.equal(before?.state, 'Recovered')
  const crashedMs = Date.parse(before?.since ?? '') - s
  it.domain('off', crashedMs).tell(domainCrashed, life('stopped/failed'), crashedMs).pass(5)
  t.strictSame(calls(it), ['restart 01', 'restart 01'])
  t.not(it.ha.incidents?.[0]?.decisionId, before?.decisionId)
})

t.test('what has its end goes after eleven minutes, a server that was given up when it runs, or after a day', async t => {
  const kept = (it: World, minutes: number): number => {
    it.nowMs += minutes * 60 * s
    it.look()
    return it.ha.incidents?.length ?? 0
  }
  const destroyed = reported()
  t.equal(kept(destroyed, 10), 1)
  t.equal(kept(destroyed, 2), 0)
  t.strictSame(missed(destroyed.hypervisor.status?.instances ?? [], [], drover, destroyed.nowMs), [], 'and is not found anew')
  const broken = blocked()
  t.equal(kept(broken, 600), 1)
  t.equal(kept(broken, 900), 0)
  const again = blocked()
  again.domain('running', again.nowMs + s)
  t.equal(kept(again, 1), 0)
})

t.test('HA-17: with five hundred incidents there is room for the next: the oldest that has its end goes', async t => {
  const old = (n: number, state: Incident['state'], more: Partial<Incident> = {}): Incident => ({
    server: serverId(n),
    kind: 'crashed',
    state,
    decisionId: `d${n}`,
    eventAt: iso(startMs),
    since: iso(startMs + n),
    ...more
  })
  const report = (n: number): Heard => ({
    about: 'server',
    server: serverId(n),
    name: '',
    kind: 'crashed',
    event: 'stopped/failed',
    atMs: startMs,
    waitMs: 3000,
    trace: undefined
  })
  const has = (all: readonly Incident[], n: number): boolean => all.some(({ server }) => server === serverId(n))
  const full = [
    old(0, 'Reported'),
    old(1, 'Recovered', { attempts: [{ action: 'restart', at: iso(startMs) }] }),
    old(2, 'Blocked'),
    old(3, 'Closed'),
    ...Array.from({ length: 496 }, (_, n) => old(n + 4, 'Checking'))
  ]
  const one = fold('host-1', full, [report(600)], drover, startMs)
  t.equal(one.length, 500)
  t.ok(has(one, 600))
  t.notOk(has(one, 3), 'what was nothing goes first')
  const two = fold('host-1', one, [report(601)], drover, startMs)
  t.ok(has(two, 601))
  t.notOk(has(two, 0), 'then who was left to a person')
  const three = fold('host-1', two, [report(602)], drover, startMs)
  t.notOk(has(three, 602), 'what is under way, was given up or counts for a ladder stays: the tick comes back with it')
  t.strictSame(three, two)
})

t.test('the agent has not written yet what it saw: it is looked for often at first, then seldom', async t => {
  const it = world().tell(domainCrashed, life('stopped/failed')).pass(4)
  it.domain('off', startMs)
  it.pass(0.6)
  t.strictSame(calls(it), ['restart 01'], 'half a second later')
  const never = world().tell(domainCrashed, life('stopped/failed')).pass(60)
  t.ok(never.steps.length < 40, `${never.steps.length} looks in a minute`)
})
