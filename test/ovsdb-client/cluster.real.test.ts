import t from 'tap'
import { type Client, type Monitor, OvsdbError, column, insert } from 'ovsdb-client'
import { type OvsdbServer, startCluster } from '../servers/ovs.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { client, ovsNeeded } from './real.ts'

await ovsNeeded()
const soon = { timeoutMs: 20_000 }
const names = { Item: { name: column.string } } as const
const counts = { Item: { count: column.safeInteger, tags: column.set(column.string) } } as const

/** How often each row was told as new, and how many were told as gone. */
async function tally(monitor: Monitor<typeof names> | Monitor<typeof counts>) {
  const added = new Map<string, number>()
  let removed = 0
  for await (const news of monitor.changes() as ReturnType<Monitor<typeof names>['changes']>) {
    for (const { uuid, before, after } of news.kind === 'changes' ? news.changes : []) {
      if (!before) added.set(uuid, (added.get(uuid) ?? 0) + 1)
      if (!after) removed++
    }
  }
  return { added, removed }
}

async function write(db: Client, count: number, from: number): Promise<string[]> {
  const uuids: string[] = []
  for (let n = from; uuids.length < count; n++) {
    try {
      const [{ uuid }] = await db.transact([insert('Item', { name: `row-${n}`, count: n })], soon)
      uuids.push(uuid)
    } catch (error) {
      if (!(error instanceof OvsdbError) || error.code !== 'outcome-unknown') throw error // the leader died with it
    }
  }
  return uuids
}

const leaderOf = async (servers: readonly OvsdbServer[], db: Client) => {
  await db.schema(soon)
  const { status } = db
  return servers.find(({ unix }) => status.state === 'connected' && status.remote === unix)
}

t.test(
  'OV-14, T-6 a change of leader: two monitors of one connection, each resumed for itself, nothing lost, nothing twice',
  async t => {
    const servers = await startCluster(t, 3)
    const remotes = servers.map(({ unix }) => unix)
    const [reader, writer] = [client(t, remotes), client(t, remotes)]
    const [first, second] = [reader.monitor(names), reader.monitor(counts)]
    const tallies = [tally(first), tally(second)]
    const written = await write(writer, 30, 0)
    await Promise.all([first.waitFor(() => true, soon), second.waitFor(() => true, soon)])

    const old = await leaderOf(servers, reader)
    const during = write(writer, 60, 1000)
    await old?.stop('SIGKILL')
    written.push(...(await during))
    await Promise.all([first, second].map(monitor => monitor.waitFor(() => monitor.history.resumed > 0, soon)))
    const next = await leaderOf(servers, reader)
    t.ok(next && next !== old, 'another server leads')

    await old?.start()
    written.push(...(await write(writer, 10, 2000)))
    for (const monitor of [first, second]) {
      await monitor.waitFor(rows => written.every(uuid => rows('Item').has(uuid)), soon)
      t.match(monitor.history, { method: 'monitor_cond_since', snapshots: 1 })
      monitor.close()
    }
    for (const { added, removed } of await Promise.all(tallies)) {
      t.equal(removed, 0)
      t.strictSame(
        written.filter(uuid => added.get(uuid) !== 1),
        [],
        `${written.length} rows, each told once`
      )
      t.ok([...added.values()].every(times => times === 1))
    }
  }
)

t.test('OV-14 a follower will do for one who does not insist on the leader, but not one that is cut off', async t => {
  const servers = await startCluster(t, 3)
  const [a, b, c] = servers as [OvsdbServer, OvsdbServer, OvsdbServer]
  const leaders = client(
    t,
    servers.map(({ unix }) => unix)
  )
  const leader = await leaderOf(servers, leaders)
  const followers = [a, b, c].filter(server => server !== leader) as [OvsdbServer, OvsdbServer]
  const relaxed = client(t, [followers[0].unix], { leaderOnly: false })
  const monitor = relaxed.monitor(names)
  await leaders.transact([insert('Item', { name: 'seen by all' })], soon)
  await monitor.waitFor(rows => rows('Item').size === 1, soon)
  t.match(relaxed.status, { state: 'connected', remote: followers[0].unix })

  const news = monitor.changes()
  await news.next()
  await Promise.all([leader?.stop(), followers[1].stop()])
  t.match((await news.next()).value, { kind: 'lost', cause: { code: 'unsuitable-server', message: /cut off/ } })
  await Promise.all([leader?.start(), followers[1].start()])
  matchWhole(t, (await news.next()).value, { kind: 'changes', snapshot: true, changes: [] }, 'and back, with nothing changed')
})
