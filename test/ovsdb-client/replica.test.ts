import t from 'tap'
import { column } from '../../shared/ovsdb-client/src/column.ts'
import { type Dialect, readDeltas } from '../../shared/ovsdb-client/src/delta.ts'
import { Replica } from '../../shared/ovsdb-client/src/replica.ts'
import { parseSchema, planFor } from '../../shared/ovsdb-client/src/schema.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { schema } from './fake-server.ts'

const tables = {
  T: {
    name: 'string',
    note: { key: 'string', min: 0, max: 1 },
    tags: { key: 'string', min: 0, max: 'unlimited' },
    pair: { key: 'string', value: 'string', min: 0, max: 1 },
    labels: { key: 'string', value: 'string', min: 0, max: 'unlimited' }
  }
}
const { string, optional, set, map } = column
const spec = {
  T: { name: string, note: optional(string), tags: set(string), pair: map(string, string), labels: map(string, string) }
}
const plan = planFor(spec, parseSchema(schema('Test', tables)))

const row = (more: object = {}) => ({
  _uuid: 'u1',
  name: 'a',
  note: undefined,
  tags: new Set(),
  pair: new Map(),
  labels: new Map(),
  ...more
})

function replica(...updates: Array<[Dialect, unknown]>) {
  const rows = new Replica(['T'])
  rows.follow(plan)
  for (const [dialect, update] of updates) rows.apply(readDeltas(dialect, update))
  return rows
}
const insert = (columns: object): [Dialect, unknown] => ['update2', { T: { u1: { insert: columns } } }]

// The same change as each of the three methods tells it; the texts are ovsdb-server 3.1's.
const cases: Array<[name: string, before: object, change: object, after: object]> = [
  ['a new optional', {}, { note: 'x' }, { note: 'x' }],
  ['another optional replaces the old', { note: 'x' }, { note: 'y' }, { note: 'y' }],
  ['an optional is emptied', { note: 'x' }, { note: ['set', []] }, { note: undefined }],
  ['a set gains one', { tags: 'one' }, { tags: 'two' }, { tags: new Set(['one', 'two']) }],
  ['a set loses all', { tags: ['set', ['one', 'two']] }, { tags: ['set', ['one', 'two']] }, { tags: new Set() }],
  [
    'a map of at most one pair is replaced',
    { pair: ['map', [['k', 'v']]] },
    { pair: ['map', [['l', 'v']]] },
    { pair: new Map([['l', 'v']]) }
  ],
  ['a map of at most one pair is emptied', { pair: ['map', [['k', 'v']]] }, { pair: ['map', []] }, { pair: new Map() }],
  [
    'a map changes, loses and gains a pair',
    {
      labels: [
        'map',
        [
          ['a', 'b'],
          ['c', 'd']
        ]
      ]
    },
    {
      labels: [
        'map',
        [
          ['a', 'B'],
          ['c', 'd'],
          ['e', 'd']
        ]
      ]
    },
    {
      labels: new Map([
        ['a', 'B'],
        ['e', 'd']
      ])
    }
  ]
]
for (const [name, before, modify, after] of cases) {
  t.test(`OV-13 update2: ${name}`, async t => {
    const rows = replica(insert({ name: 'a', ...before }))
    const old = rows.rows('T').get('u1')
    const [change] = rows.apply(readDeltas('update2', { T: { u1: { modify } } }))
    t.strictSame(rows.rows('T').get('u1'), row(after))
    t.equal(change?.before, old, 'the old row is as it was')
    t.equal(change?.after, rows.rows('T').get('u1'))
  })
}

t.test('OV-13 update: new is the whole row, its absence a removal', async t => {
  const rows = replica(['update', { T: { u1: { new: { name: 'a', note: 'x' } } } }])
  rows.apply(readDeltas('update', { T: { u1: { old: { note: 'x' }, new: { name: 'a', note: 'y', tags: 'one' } } } }))
  t.strictSame(rows.rows('T').get('u1'), row({ note: 'y', tags: new Set(['one']) }))
  t.strictSame(rows.apply(readDeltas('update', { T: { u1: { old: { name: 'a' } } } })).length, 1)
  t.equal(rows.rows('T').size, 0)
})

t.test('update2: delete, whose value is null', async t => {
  const rows = replica(insert({ name: 'a' }))
  matchWhole(t, rows.apply(readDeltas('update2', { T: { u1: { delete: null } } })), [{ before: { name: 'a' }, after: undefined }])
})

t.test('OV-14 a snapshot is compared: only differences are changes, equal rows stay the same object', async t => {
  const rows = replica([
    'update2',
    { T: { u1: { initial: { name: 'a' } }, u2: { initial: { name: 'b' } }, u3: { initial: { name: 'c' } } } }
  ])
  const kept = rows.rows('T').get('u1')
  const snapshot = { T: { u1: { initial: { name: 'a' } }, u2: { initial: { name: 'B' } }, u4: { initial: { name: 'd' } } } }
  const changes = rows.replace(readDeltas('update2', snapshot))
  t.strictSame(
    changes.map(({ uuid, before, after }) => [uuid, before?.['name'], after?.['name']]),
    [
      ['u3', 'c', undefined],
      ['u2', 'b', 'B'],
      ['u4', undefined, 'd']
    ]
  )
  t.equal(rows.rows('T').get('u1'), kept)
  t.strictSame(rows.replace(readDeltas('update2', snapshot)), [], 'once more: nothing')
})

const nonsense: Array<[name: string, dialect: Dialect, update: unknown, code: string]> = [
  ['a row that is not known is modified', 'update2', { T: { u9: { modify: { name: 'x' } } } }, 'protocol'],
  ['a row that is not known is removed', 'update2', { T: { u9: { delete: null } } }, 'protocol'],
  ['a table that is not monitored', 'update2', { X: { u1: { insert: {} } } }, 'protocol'],
  ['a value of the wrong type', 'update2', { T: { u1: { modify: { name: 1 } } } }, 'notation'],
  ['updates that are a list', 'update', [], 'protocol'],
  ['a row that is a string', 'update', { T: { u1: 'x' } }, 'protocol'],
  ['a row change without a kind', 'update2', { T: { u1: {} } }, 'protocol']
]
for (const [name, dialect, update, code] of nonsense) {
  t.test(`all or nothing: ${name}`, async t => {
    const rows = replica(insert({ name: 'a' }))
    const good = readDeltas('update2', { T: { u1: { modify: { note: 'changed' } }, u2: { insert: { name: 'new' } } } })
    t.throws(() => rows.apply([...good, ...readDeltas(dialect, update)]), { code })
    t.strictSame([...rows.rows('T').values()], [row()])
  })
}
