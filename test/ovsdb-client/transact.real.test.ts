import t from 'tap'
import {
  type Operation,
  OvsdbError,
  abort,
  assert,
  column,
  comment,
  commit,
  insert,
  mutate,
  named,
  remove,
  select,
  update,
  uuid,
  wait
} from 'ovsdb-client'
import { startOvsdb } from '../servers/ovs.ts'
import { client, item, ovsNeeded } from './real.ts'

await ovsNeeded()
const server = await startOvsdb(t)
const db = client(t, [server.unix])
const unknown = '11111111-1111-1111-1111-111111111111'
await db.transact([insert('Item', { name: 'taken', big: 2n ** 63n - 1n })])

t.test('OV-4 every kind of value is the same after a way there and back', async t => {
  const values = {
    name: 'all "kinds" of \\ things: ä € 𝄞',
    count: 7,
    big: -(2n ** 63n),
    ratio: 0.25,
    flag: true,
    color: 'red',
    note: 'here',
    tags: new Set(['a', 'uuid']),
    sizes: new Set([1n, 2n ** 62n]),
    labels: new Map([['set', 'map']]),
    counters: new Map([['rx', 2n ** 63n - 1n]]),
    pair: new Map([['k', 'v']])
  }
  const row = { ...values, child: named('c'), friends: new Set([named('i')]) }
  const [child, own, { rows }] = await db.transact([
    insert('Child', { name: 'child' }, { named: 'c' }),
    insert('Item', row, { named: 'i' }),
    select('Item', [['name', '==', values.name]], item)
  ])
  t.strictSame(rows, [{ ...values, _uuid: own.uuid, child: child.uuid, friends: new Set([own.uuid]) }])
  const [{ count }, { rows: after }] = await db.transact([
    mutate(
      'Item',
      [['_uuid', '==', uuid(own.uuid)]],
      [
        ['count', '+=', 1],
        ['tags', 'delete', 'a'],
        ['labels', 'insert', { x: 'y' }]
      ]
    ),
    select('Item', [['_uuid', '==', uuid(own.uuid)]], { count: column.safeInteger, tags: column.set(column.string) })
  ])
  t.equal(count, 1)
  t.strictSame(after, [{ _uuid: own.uuid, count: 8, tags: new Set(['uuid']) }])
})

// name, operations, code, the operation blamed (undefined: the commit)
const refused: Array<[name: string, operations: Operation[], code: string, operation: number | undefined]> = [
  ['an index', [insert('Item', { name: 'taken' })], 'constraint-violation', undefined],
  ['a range of integers', [comment('x'), insert('Item', { name: 'q', count: -1 })], 'constraint-violation', 1],
  ['an enumeration', [insert('Item', { name: 'q', color: 'blue' })], 'constraint-violation', 0],
  ['a limit of rows', [insert('Few', {}), insert('Few', {}), insert('Few', {})], 'constraint-violation', undefined],
  ['an immutable column', [update('Item', [], { name: 'other' })], 'constraint-violation', 0],
  ['a mutation out of range', [mutate('Item', [['name', '==', 'taken']], [['count', '-=', 5]])], 'constraint-violation', 0],
  ['a reference to nothing', [insert('Item', { name: 'q', child: uuid(unknown) })], 'referential-integrity', undefined],
  ['a division by zero', [mutate('Item', [], [['count', '/=', 0]])], 'domain-error', 0],
  ['an overflow', [mutate('Item', [['name', '==', 'taken']], [['big', '+=', 1]])], 'range-error', 0],
  [
    'a wait in vain',
    [wait({ table: 'Few', where: [], columns: ['name'], until: '!=', rows: [], timeoutMs: 5 })],
    'wait-timed-out',
    0
  ],
  ['an abort', [insert('Few', {}), abort()], 'aborted', 1],
  ['a lock not owned', [assert('nobody')], 'not-owner', 0],
  ['a name used twice', [insert('Few', {}, { named: 'a' }), insert('Few', {}, { named: 'a' })], 'duplicate-uuid-name', 1],
  ['a uuid used twice', [insert('Few', {}, { uuid: unknown }), insert('Few', {}, { uuid: unknown })], 'duplicate-uuid', 1],
  ['an unknown column', [insert('Item', { nothing: 1 })], 'unknown-column', 0],
  ['an unknown table', [insert('Nothing', {})], 'syntax-error', 0], // the server's own word for it
  ['a value of the wrong type', [insert('Item', { name: 5 })], 'syntax-error', 0],
  ['a set too large', [insert('Item', { name: 'q', sizes: [1, 2, 3, 4] })], 'syntax-error', 0],
  ['a set with a duplicate', [insert('Item', { name: 'q', sizes: [1, 1] })], 'refused', 0]
]
for (const [name, operations, code, operation] of refused) {
  t.test(`OV-13 refused because of ${name}: ${code}`, async t => {
    const error = await db.transact(operations).then(
      () => t.fail('was accepted'),
      (error: unknown) => error
    )
    t.ok(error instanceof OvsdbError)
    t.match(error, { code, retryable: code === 'wait-timed-out', details: String })
    t.equal((error as OvsdbError).operation, operation)
  })
}

t.test('none of the refused left anything behind', async t => {
  const [{ rows: few }, { rows: items }] = await db.transact([
    select('Few', [], {}),
    select('Item', [['name', '==', 'q']], {}),
    commit({ durable: true })
  ])
  t.strictSame([few, items], [[], []])
})

t.test('a wait is taken back when its caller gives up', async t => {
  const stop = new AbortController()
  const forever = wait({ table: 'Few', where: [], columns: ['name'], until: '!=', rows: [] })
  const waiting = db.transact([forever, insert('Few', {})], { signal: stop.signal })
  await db.transact([comment('the wait has been read by now')])
  stop.abort()
  await t.rejects(waiting, { code: 'cancelled', serverError: 'canceled' })
})

t.test('a wait ends when another client makes it true', async t => {
  const other = client(t, [server.unix])
  const rows = [{ name: 'awaited' }]
  const waiting = db.transact([wait({ table: 'Few', where: [], columns: ['name'], until: '==', rows }), remove('Few', [])])
  await other.transact([insert('Few', { name: 'awaited' })])
  t.strictSame(await waiting, [{}, { count: 1 }])
})

t.test('a database that is not there is said to be the reason', async t => {
  const nowhere = client(t, [server.unix], { database: 'Nope' })
  await t.rejects(nowhere.transact([comment('x')], { timeoutMs: 300 }), {
    code: 'timeout',
    cause: { code: 'unsuitable-server', message: 'the server has no database Nope' }
  })
})
