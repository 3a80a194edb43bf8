import t from 'tap'
import { column, insert, mutate, remove, select, update } from 'ovsdb-client'
import { startOvsdb } from '../servers/ovs.ts'
import { olderServer } from './older-server.ts'
import { client, item, ovsNeeded } from './real.ts'

await ovsNeeded()
const soon = { timeoutMs: 60_000 }
const small = { Item: { name: column.string, count: column.safeInteger } } as const
const everything = { Item: item, Child: { name: column.string } } as const

t.test('OV-13 the three ways to monitor tell the same story', async t => {
  const server = await startOvsdb(t)
  const older = await olderServer(t, server.unix, ['monitor_cond_since'])
  const oldest = await olderServer(t, server.unix, ['monitor_cond_since', 'monitor_cond', 'set_db_change_aware'])
  const writer = client(t, [server.unix])
  await writer.transact([insert('Item', { name: 'before', tags: ['a', 'b'], labels: { k: 'v' } })])
  const monitors = [server.unix, older, oldest].map(remote => client(t, [remote]).monitor(everything))
  await Promise.all(monitors.map(monitor => monitor.waitFor(() => true, soon)))
  t.strictSame(
    monitors.map(monitor => monitor.history.method),
    ['monitor_cond_since', 'monitor_cond', 'monitor']
  )
  await writer.transact([
    insert('Item', { name: 'plain' }),
    insert('Item', { name: 'full', note: 'x', sizes: [1, 2], pair: { k: 'v' } })
  ])
  await writer.transact([
    update('Item', [['name', '==', 'full']], { note: 'y', sizes: [2, 3], pair: { l: 'w' }, big: 2n ** 60n })
  ])
  await writer.transact([
    mutate(
      'Item',
      [],
      [
        ['tags', 'insert', ['b', 'c']],
        ['counters', 'insert', { rx: 2n ** 61n }]
      ]
    )
  ])
  await writer.transact([update('Item', [['name', '==', 'before']], { labels: { k: 'w', x: 'y' }, note: [], color: 'red' })])
  await writer.transact([
    update('Item', [['name', '==', 'full']], { note: [], sizes: [], pair: {} }),
    remove('Item', [['name', '==', 'plain']])
  ])
  const [, { rows }] = await writer.transact([insert('Item', { name: 'last' }), select('Item', [], item)])
  const stored = Object.fromEntries(rows.map(row => [row._uuid, row]))
  for (const monitor of monitors) {
    const held = await monitor.waitFor(
      all => Array.from(all('Item').values()).some(({ name }) => name === 'last') && all('Item'),
      soon
    )
    t.strictSame(Object.fromEntries(held), stored, String(monitor.history.method))
  }
})

t.test('a monitor with conditions has the rows that fulfil them, and no others', async t => {
  const server = await startOvsdb(t)
  const db = client(t, [server.unix])
  const monitor = db.monitor(small, { where: { Item: [['count', '>=', 10]] } })
  await db.transact([insert('Item', { name: 'few', count: 9 }), insert('Item', { name: 'many', count: 10 })])
  const names = () => Array.from(monitor.rows('Item')?.values() ?? [], ({ name }) => name)
  await monitor.waitFor(rows => rows('Item').size === 1, soon)
  t.strictSame(names(), ['many'])
  await db.transact([update('Item', [], { count: 5 })])
  await monitor.waitFor(rows => rows('Item').size === 0, soon)
  await db.transact([update('Item', [['name', '==', 'few']], { count: 11 })])
  await monitor.waitFor(rows => rows('Item').size === 1, soon)
  t.strictSame(names(), ['few'])
})

t.test('several conditions: a monitor takes rows that fulfil any of them, an operation those that fulfil all', async t => {
  const server = await startOvsdb(t)
  const db = client(t, [server.unix])
  const where = [
    ['name', '==', 'a'],
    ['count', '>=', 10]
  ] as const
  await db.transact([
    insert('Item', { name: 'a', count: 10 }),
    insert('Item', { name: 'b', count: 11 }),
    insert('Item', { name: 'c', count: 2 })
  ])
  const monitor = db.monitor(small, { where: { Item: where } })
  const seen = await monitor.waitFor(rows => Array.from(rows('Item').values(), ({ name }) => name), soon)
  t.strictSame(new Set(seen), new Set(['a', 'b']))
  const [{ rows }] = await db.transact([select('Item', where, small.Item)])
  t.strictSame(
    rows.map(({ name }) => name),
    ['a']
  )
})
