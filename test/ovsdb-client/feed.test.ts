import t from 'tap'
import { OvsdbError } from '../../shared/ovsdb-client/src/error.ts'
import { Feed } from '../../shared/ovsdb-client/src/feed.ts'
import type { AnyRow } from '../../shared/ovsdb-client/src/replica.ts'
import { matchWhole } from '../assert/match-whole.ts'

const row = (value: number): AnyRow => ({ _uuid: 'u', value })
const change = (before: number | undefined, after: number | undefined, uuid = 'u') => ({
  table: 'T',
  uuid,
  before: before === undefined ? undefined : row(before),
  after: after === undefined ? undefined : row(after)
})
const feed = () =>
  new Feed(
    (_table, a, b) => a?.['value'] === b?.['value'],
    () => {}
  )
const gone = new OvsdbError('connection-lost', 'gone')

t.test('what came in between is one difference', async t => {
  const slow = feed()
  for (let value = 0; value < 10_000; value++) slow.changed([change(value, value + 1)], false)
  t.strictSame((await slow.next()).value, { kind: 'changes', snapshot: false, changes: [change(0, 10_000)] })
})

const unseen: Array<[name: string, steps: Array<[number | undefined, number | undefined]>]> = [
  [
    'came and went',
    [
      [undefined, 1],
      [1, undefined]
    ]
  ],
  [
    'changed and changed back',
    [
      [1, 2],
      [2, 1]
    ]
  ],
  [
    'went and came back as it was',
    [
      [1, undefined],
      [undefined, 1]
    ]
  ]
]
for (const [name, steps] of unseen) {
  t.test(`a row that ${name} is no news`, async t => {
    const slow = feed()
    for (const [before, after] of steps) slow.changed([change(before, after)], false)
    slow.changed([change(undefined, 1, 'other')], false)
    t.strictSame((await slow.next()).value, { kind: 'changes', snapshot: false, changes: [change(undefined, 1, 'other')] })
  })
}

t.test('OV-16 the changes before a loss come before it; lost and found unseen is a snapshot', async t => {
  const slow = feed()
  slow.changed([change(0, 1)], false)
  slow.lost(gone)
  matchWhole(t, (await slow.next()).value, { kind: 'changes', changes: [change(0, 1)] })
  t.strictSame((await slow.next()).value, { kind: 'lost', cause: gone })
  slow.lost(gone)
  slow.changed([], true)
  t.strictSame((await slow.next()).value, { kind: 'changes', snapshot: true, changes: [] })
})

t.test('readers that wait are served in turn, and told of the end', async t => {
  const fast = feed()
  const waiting = [fast.next(), fast.next()]
  fast.changed([change(0, 1)], false)
  fast.end()
  t.match(await waiting[0], { done: false })
  t.match(await waiting[1], { done: true })
  const broken = feed()
  broken.end(gone)
  await t.rejects(broken.next(), gone)
})
