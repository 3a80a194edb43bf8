// Remotes, transactions and waiting, on servers that do as they are bid.
import t from 'tap'
import { type OpenOptions, insert, open, select } from '../../shared/ovsdb-client/src/index.ts'
import { fakeServer, plainServer, schema } from './fake-server.ts'
import { client, spec } from './opened.ts'

t.test('OV-16 remotes are tried in turn: at once, then spaced', async t => {
  const server = await fakeServer(t, plainServer())
  const delays: number[] = []
  const waits = (ms: number) => Promise.resolve(void delays.push(ms))
  const nobody = `${server.remote}.nobody`
  const seen: string[] = []
  const lost = Promise.withResolvers<void>()
  const onStatus: OpenOptions['onStatus'] = status => {
    seen.push(status.state === 'connecting' ? String(status.lastError?.code) : status.state)
    if (seen.length === 4) lost.resolve()
  }
  const db = client(t, [nobody, `${nobody}2`, server.remote], { delay: waits, random: () => 1, onStatus })
  await db.schema()
  t.strictSame(delays, [0, 0, 0])
  t.strictSame(seen, ['connect-failed', 'connect-failed', 'connected'])
  await server.stop()
  await lost.promise
  await t.rejects(db.schema({ timeoutMs: 300 }), { code: 'timeout', cause: { code: 'connect-failed' } })
  t.strictSame(delays.filter(ms => ms > 0).slice(0, 4), [100, 200, 400, 800])
})

t.test('OV-14 a server that is not the leader is left for the next, also later', async t => {
  const cluster = {
    Database: {
      name: 'string',
      model: 'string',
      connected: 'boolean',
      leader: 'boolean',
      cid: { key: 'uuid', min: 0 },
      index: { key: 'integer', min: 0 }
    }
  }
  const member = (leader: boolean) =>
    plainServer((peer, message) => {
      const { method, params } = message
      if (method === 'get_schema' && params?.[0] === '_Server') peer.answer(message, schema('_Server', cluster))
      else if (method === 'monitor_cond' && params?.[0] === '_Server')
        peer.answer(message, { Database: { d: { initial: { name: 'Test', model: 'clustered', connected: true, leader } } } })
      else return false
      return true
    })
  const [follower, leader] = [await fakeServer(t, member(false)), await fakeServer(t, member(true))]
  const reasons: string[] = []
  const onStatus: OpenOptions['onStatus'] = status =>
    status.state === 'connecting' && reasons.push(String(status.lastError?.message))
  const db = client(t, [follower.remote, leader.remote], { onStatus })
  await db.schema()
  t.strictSame(reasons, ['the server is not the leader of Test'])
  leader.peers[0]?.say({ id: null, method: 'update2', params: ['_Server', { Database: { d: { modify: { leader: false } } } }] })
  await leader.hears(() => leader.peers.length === 2)
  t.equal(reasons.length, 3, 'deposed, the follower asked again, then back')
})

t.test('a transaction without an answer has an unknown outcome; a read may simply be repeated', async t => {
  const server = await fakeServer(
    t,
    plainServer((peer, { method }) => {
      if (method === 'transact') peer.socket.destroy()
      return method === 'transact'
    })
  )
  const db = client(t, [server.remote])
  await t.rejects(db.transact([insert('T', {})]), {
    code: 'outcome-unknown',
    retryable: false,
    cause: { code: 'connection-lost' }
  })
  await t.rejects(db.transact([select('T', [], {})]), { code: 'connection-lost', retryable: true })
})

t.test('calls that wait are bounded, and closing rejects them all', async t => {
  const server = await fakeServer(
    t,
    plainServer((_peer, { method }) => method === 'transact')
  )
  const db = client(t, [server.remote], { maxWaiting: 2 })
  const monitor = db.monitor(spec)
  const news = monitor.changes()
  const waiting = [db.transact([insert('T', {})]), db.transact([insert('T', {})])]
  await t.rejects(db.transact([insert('T', {})]), { code: 'busy', retryable: true })
  await server.hears(({ method }) => method === 'transact')
  await monitor.waitFor(() => true)
  const rejected = waiting.map(call => t.rejects(call, { code: 'outcome-unknown', cause: { code: 'closed' } }))
  const never = t.rejects(
    monitor.waitFor(() => false),
    { code: 'closed' }
  )
  await db.close()
  await Promise.all([...rejected, never])
  t.match(await news.next(), { done: false }, 'what had come is still told')
  t.match(await news.next(), { done: true })
  await t.rejects(db.transact([insert('T', {})]), { code: 'closed' })
  t.strictSame([db.status, monitor.state], [{ state: 'closed' }, 'closed'])
})

t.test('waiting ends with its signal or its time', async t => {
  const server = await fakeServer(t, plainServer())
  const monitor = client(t, [server.remote]).monitor(spec)
  await t.rejects(
    monitor.waitFor(() => undefined, { timeoutMs: 10 }),
    { code: 'timeout' }
  )
  await t.rejects(
    monitor.waitFor(() => undefined, { signal: AbortSignal.abort(new Error('enough')) }),
    {
      code: 'cancelled',
      cause: { message: 'enough' }
    }
  )
  const thrower = () => {
    throw new Error('of the caller')
  }
  await t.rejects(monitor.waitFor(thrower), { message: 'of the caller' })
})

t.test('what cannot be a remote or a value is refused before anything is sent', async t => {
  t.throws(() => open({ remotes: [], database: 'Test' }), { code: 'notation' })
  t.throws(() => open({ remotes: ['db.sock'], database: 'Test' }), { code: 'notation' })
  const server = await fakeServer(t, plainServer())
  await t.rejects(client(t, [server.remote]).transact([insert('T', { name: 'a\0' })]), { code: 'notation' })
})
