// Monitors while the server is killed, frozen, or has much to say
import t from 'tap'
import { type Client, type Monitor, OvsdbError, column, insert, mutate, select } from 'ovsdb-client'
import { startOvsdb } from '../servers/ovs.ts'
import { client, ovsNeeded } from './real.ts'

await ovsNeeded()
const soon = { timeoutMs: 60_000 }
const small = { Item: { name: column.string, count: column.safeInteger } } as const

/** What a consumer knows who believes every change it is told. */
async function follow(monitor: Monitor<typeof small>) {
  const rows = new Map<string, { name: string; count: number }>()
  const told = { snapshots: 0, lost: [] as string[], added: 0, removed: 0, wrong: 0 }
  for await (const news of monitor.changes()) {
    if (news.kind === 'lost') {
      told.lost.push(news.cause.code)
      continue
    }
    if (news.snapshot) told.snapshots++
    for (const { uuid, before, after } of news.changes) {
      if (before?.name !== rows.get(uuid)?.name || before?.count !== rows.get(uuid)?.count) told.wrong++
      if (!before) told.added++
      if (after) rows.set(uuid, after)
      else told.removed += Number(rows.delete(uuid))
    }
  }
  return { rows, told }
}

/** Writes numbered rows until told to stop, whatever happens to the server. */
async function writeOn(db: Client, stopped: () => boolean) {
  const committed = new Set<string>()
  const unknown = new Set<string>()
  for (let n = 0; !stopped(); n++) {
    const name = `row-${n}`
    try {
      await db.transact([insert('Item', { name, count: n })])
      committed.add(name)
    } catch (error) {
      if (!(error instanceof OvsdbError) || error.code !== 'outcome-unknown') throw error
      unknown.add(name)
    }
  }
  return { committed, unknown }
}

t.test('OV-16 restarts under load: nothing that was committed is missed, nothing is told twice or as removed', async t => {
  const server = await startOvsdb(t)
  const [writer, reader] = [client(t, [server.unix]), client(t, [server.unix])]
  const monitor = reader.monitor(small)
  const following = follow(monitor)
  let stop = false
  const writing = writeOn(writer, () => stop)
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
    const size = await monitor.waitFor(rows => rows('Item').size, soon)
    await monitor.waitFor(rows => rows('Item').size >= size + 20, soon)
    await server.stop(signal)
    await server.start()
  }
  const size = await monitor.waitFor(rows => rows('Item').size, soon)
  await monitor.waitFor(rows => rows('Item').size >= size + 20, soon)
  stop = true
  const { committed, unknown } = await writing
  const [{ rows: stored }] = await writer.transact([select('Item', [], small.Item)])
  await monitor.waitFor(rows => rows('Item').size === stored.length, soon)
  monitor.close()
  const { rows, told } = await following
  const names = new Set(Array.from(rows.values(), ({ name }) => name))
  t.strictSame(
    [...committed].filter(name => !names.has(name)),
    [],
    'every committed row is known'
  )
  t.strictSame(names, new Set(stored.map(({ name }) => name)), 'and what is known is what is stored')
  t.ok([...names].every(name => committed.has(name) || unknown.has(name)))
  t.match(told, { removed: 0, wrong: 0, added: stored.length })
  t.equal(monitor.history.snapshots, 4, 'a stand-alone database cannot be resumed: OV-14')
  t.comment(`${committed.size} committed, ${unknown.size} with unknown outcome`)
})

t.test('OV-12 a frozen server is noticed by its silence, and taken up again when it thaws', async t => {
  const server = await startOvsdb(t)
  const writer = client(t, [server.unix])
  await writer.transact([insert('Item', { name: 'before' })])
  const monitor = client(t, [server.unix], { probeMs: 150 }).monitor(small)
  const following = follow(monitor)
  await monitor.waitFor(() => true, soon)
  const lost = (async () => {
    for await (const news of monitor.changes()) if (news.kind === 'lost') return news.cause
    return undefined
  })()
  server.signal('SIGSTOP')
  t.match(await lost, { code: 'unresponsive' })
  t.equal(monitor.state, 'unknown')
  server.signal('SIGCONT')
  await monitor.waitFor(rows => rows('Item').size === 1, soon)
  await writer.transact([insert('Item', { name: 'after' })])
  await monitor.waitFor(rows => rows('Item').size === 2, soon)
  monitor.close()
  t.match((await following).told, { lost: ['unresponsive'], added: 2, removed: 0, wrong: 0 })
})

t.test('50,000 rows: as a snapshot, as one update, and as a snapshot that differs in nothing', async t => {
  const server = await startOvsdb(t)
  const patient = { callTimeoutMs: 60_000, probeMs: 60_000 } // the server is busy for seconds, and silent meanwhile
  const [writer, reader] = [client(t, [server.unix], patient), client(t, [server.unix], patient)]
  const total = 50_000
  for (let first = 0; first < total; first += 10_000) {
    await writer.transact(
      Array.from({ length: 10_000 }, (_, at) => insert('Item', { name: `row-${first + at}`, count: first + at }))
    )
  }
  const monitor = reader.monitor(small)
  const news = monitor.changes()
  const next = async () => {
    const { value } = await news.next()
    return value?.kind === 'changes' ? value.changes : []
  }
  t.equal((await next()).length, total)
  const known = new Map(monitor.rows('Item'))
  await writer.transact([mutate('Item', [], [['count', '+=', 1]])])
  const changes = await next()
  t.equal(changes.length, total)
  t.ok(changes.every(({ uuid, before, after }) => known.get(uuid) === before && after?.count === (before?.count ?? 0) + 1))
  const last = new Map(monitor.rows('Item'))
  await server.stop()
  t.match((await news.next()).value, { kind: 'lost' })
  await server.start()
  t.equal((await next()).length, 0)
  const same = Array.from(monitor.rows('Item') ?? []).filter(([uuid, row]) => last.get(uuid) === row)
  t.equal(same.length, total, 'the very same rows')
})
