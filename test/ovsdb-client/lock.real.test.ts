import t from 'tap'
import { assert, comment } from 'ovsdb-client'
import { startOvsdb } from '../servers/ovs.ts'
import { client, ovsNeeded } from './real.ts'

await ovsNeeded()
const soon = { timeoutMs: 10_000 }

t.test('a lock goes from one client to the next, and an assert knows the owner', async t => {
  const server = await startOvsdb(t)
  const [a, b] = [client(t, [server.unix]), client(t, [server.unix])]
  const first = a.lock('leader')
  await first.acquired(soon)
  const second = b.lock('leader')
  await b.transact([comment('asked by now')])
  t.strictSame([first.held, second.held], [true, false])
  await a.transact([assert('leader')])
  await t.rejects(b.transact([assert('leader')]), { code: 'not-owner', operation: 0 })
  await first.release()
  await second.acquired(soon)
  await b.transact([assert('leader')])
  await t.rejects(a.transact([assert('leader')]), { code: 'not-owner' })
  await t.rejects(first.acquired(soon), { code: 'closed' })
})

t.test('a stolen lock is lost at once, and comes back when the thief lets go', async t => {
  const server = await startOvsdb(t)
  const [a, b] = [client(t, [server.unix]), client(t, [server.unix])]
  const mine = a.lock('leader')
  await mine.acquired(soon)
  const lost = mine.lost(soon)
  const stolen = b.lock('leader', { steal: true })
  await stolen.acquired(soon)
  await lost
  t.strictSame([mine.held, stolen.held], [false, true])
  await t.rejects(a.transact([assert('leader')]), { code: 'not-owner' })
  await stolen.release()
  await mine.acquired(soon)
  await a.transact([assert('leader')])
})

t.test('with the connection goes the lock; on the next one it is asked for again', async t => {
  const server = await startOvsdb(t)
  const db = client(t, [server.unix])
  const lock = db.lock('leader')
  await lock.acquired(soon)
  t.throws(() => db.lock('leader'), { code: 'busy' })
  await server.stop()
  await lock.lost(soon)
  await server.start()
  await lock.acquired(soon)
  await db.transact([assert('leader')])
})
