// Raise and clear times, silence while a source is lost, damping: the ledger over a made-up time.
import t from 'tap'
import { finding } from '../../../agents/ovs/finding.ts'
import { type Timings, type Topic, defaultTimings, issueTypes } from '../../../agents/ovs/issue-types.ts'
import { type Ledger, restore, step } from '../../../agents/ovs/ledger.ts'
import { toEvent } from '../../../agents/ovs/to-event.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const member = finding('BondMemberDown', 'bond0/m0', 'down')
const silent = finding('LacpNotCurrent', 'bond0/m0', 'silent')
const bond = finding('BondDown', 'bond0', 'down')
const missing = finding('BridgeMissing', 'br-ex', 'missing')
const orphan = finding('OrphanPort', 'tap1', 'orphan')

/** Plays turns of [seconds, findings, held topics]; what is told in each, in words. */
function play(
  turns: Array<[at: number, findings: Array<ReturnType<typeof finding>>, held?: Topic[]]>,
  timings: Timings = defaultTimings,
  from: Ledger = new Map()
) {
  let ledger = from
  return turns.map(([at, findings, held = []]) => {
    const next = step(ledger, findings, topic => held.includes(topic), timings, start + at * 1000)
    ledger = next.ledger
    return next.outcomes.map(({ kind, finding: told }) => `${kind} ${told.object}`)
  })
}

t.test('at once, and back after two seconds without it', async t => {
  t.strictSame(
    play([
      [0, [member]],
      [1, []],
      [2.9, []],
      [3, []]
    ]),
    [['raised bond0/m0'], [], [], ['cleared bond0/m0']]
  )
})

t.test('what comes back within the clear time was never gone', async t => {
  t.strictSame(
    play([
      [0, [member]],
      [1, []],
      [2, [member]],
      [5, [member]]
    ]),
    [['raised bond0/m0'], [], [], []]
  )
})

t.test('a bridge is missed after three seconds and found at once', async t => {
  t.strictSame(
    play([
      [0, [missing]],
      [2.9, [missing]],
      [3, [missing]],
      [4, []]
    ]),
    [[], [], ['raised br-ex'], ['cleared br-ex']]
  )
})

t.test('one that passes before its time is not told at all', async t => {
  t.strictSame(
    play([
      [0, [missing]],
      [2, []],
      [10, []]
    ]),
    [[], [], []]
  )
})

t.test('OV-26 members before their bond, whatever the order of the findings', async t => {
  t.strictSame(play([[0, [bond, member]]]), [['raised bond0/m0', 'raised bond0']])
})

t.test('another reason for the same member is the same fault', async t => {
  t.strictSame(
    play([
      [0, [silent]],
      [1, [member]],
      [2, [silent]]
    ]),
    [['raised bond0/m0'], [], []]
  )
})

t.test('OV-28 while its source is lost nothing begins and nothing ends', async t => {
  const held: Topic[] = ['bond-member']
  t.strictSame(
    play([
      [0, [member]],
      [1, [], held],
      [60, [], held],
      [61, []],
      [63, []]
    ]),
    [['raised bond0/m0'], [], [], [], ['cleared bond0/m0']]
  )
  t.strictSame(
    play([
      [0, [member], held],
      [10, [], held],
      [11, []]
    ]),
    [[], [], []]
  )
})

t.test('OV-41 the grace of an orphan begins anew after a gap', async t => {
  t.strictSame(
    play([
      [0, [orphan]],
      [200, [orphan]],
      [201, [], ['port']],
      [202, [orphan]],
      [400, [orphan]],
      [502, [orphan]]
    ]),
    [[], [], [], [], [], ['raised tap1']]
  )
})

t.test('OV-27 five changes within a minute: flapped, then silence; the last word is told when it is calm', async t => {
  const flaps: Parameters<typeof play>[0] = [
    [0, [member]],
    [3, []],
    [6, [member]],
    [9, []],
    [12, [member]],
    [15, []],
    [18, [member]],
    [30, [member]],
    [79, [member]],
    [80, [member]],
    [85, []],
    [87, []]
  ]
  t.strictSame(play(flaps), [
    ['raised bond0/m0'],
    [],
    [], // three seconds up were not yet judged: the turn at 6 s finds it down again
    [],
    ['flapped bond0/m0'],
    [],
    [],
    [],
    [],
    [],
    [],
    ['cleared bond0/m0']
  ])
})

t.test('OV-27, OV-49 people are told once that it flaps, not each time that it falls', async t => {
  let ledger: Ledger = new Map()
  const fresh = Array.from({ length: 9 }, (_, turn) => {
    const next = step(ledger, turn % 2 === 0 ? [member] : [], () => false, defaultTimings, start + turn * 3000)
    ledger = next.ledger
    return next.fresh.map(({ type }) => type)
  })
  t.strictSame(fresh.flat(), ['BondMemberDown', 'LinkFlapping'])
})

t.test('OV-29, OV-30 a restart: what the stored status lists is not told again, and its end has the same detectedAt', async t => {
  const stored = restore(
    [{ type: 'BondMemberDown', object: 'bond0/m0', message: 'down', detectedAt: '2025-12-31T00:00:00.000Z' }],
    start
  )
  t.strictSame(
    play(
      [
        [0, [member]],
        [10, [member]]
      ],
      defaultTimings,
      stored
    ),
    [[], []]
  )
  const gone = step(stored, [], () => false, defaultTimings, start + 1)
  const later = step(gone.ledger, [], () => false, defaultTimings, start + 2001)
  matchWhole(t, later.outcomes, [{ kind: 'cleared', detectedAt: '2025-12-31T00:00:00.000Z' }])
  t.strictSame(restore([{ type: 'Nonsense', object: 'x', message: '' }, { message: 'seed form, without id' }], start), new Map())
})

t.test('it says when to look again, and no more when all is said', async t => {
  const first = step(new Map(), [missing], () => false, defaultTimings, start)
  t.equal(first.dueAt, start + 3000)
  t.equal(step(first.ledger, [missing], () => false, defaultTimings, start + 3000).dueAt, undefined)
})

t.test('an event is named by what it is about, so that a redelivery is recognised', async t => {
  const told = toEvent(
    { kind: 'cleared', finding: { ...member, before: 'Usable', after: 'NotUsable' }, detectedAt: '2026-01-01T00:00:00.000Z' },
    'n1',
    new Date(start)
  )
  t.match(told, {
    kind: { type: 'io.c5c3.ovs.bond-member.restored.v1' },
    id: 'n1/bond0/m0/io.c5c3.ovs.bond-member.restored.v1/2026-01-01T00:00:00.000Z',
    subject: 'bond0/m0',
    partitionkey: 'n1',
    data: { before: 'NotUsable', after: 'Usable' }
  })
  t.equal(
    toEvent({ kind: 'raised', finding: finding('ConfigLag', 'ovs-vswitchd', ''), detectedAt: '' }, 'n1', new Date(start)),
    undefined
  )
})

t.test('OV-48 the catalogue has 22 types', async t => {
  t.equal(Object.keys(issueTypes).length, 22)
})
