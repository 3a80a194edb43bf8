import t, { type Test } from 'tap'
import { type OpenOptions, column, insert, open, select } from '../../shared/ovsdb-client/src/index.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { type Peer, type Request, fakeServer, plainServer, schema } from './fake-server.ts'

const spec = { T: { name: column.string, tags: column.set(column.string) } }
const ids = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'] as const
const zero = '00000000-0000-0000-0000-000000000000'

function client(t: Test, remotes: readonly string[], options: Partial<OpenOptions> = {}) {
  const db = open({ remotes, database: 'Test', delay: async () => {}, ...options })
  t.teardown(() => db.close())
  return db
}

/** Answers only the monitor methods given, each with one row. */
const monitoring = (methods: readonly string[]) => (peer: Peer, message: Request) => {
  const { method = '' } = message
  if (!methods.includes(method)) return false
  if (method === 'monitor') peer.answer(message, { T: { u1: { new: { name: 'a', tags: 'x' } } } })
  else if (method === 'monitor_cond') peer.answer(message, { T: { u1: { initial: { name: 'a', tags: 'x' } } } })
  else peer.answer(message, [false, zero, { T: { u1: { initial: { name: 'a', tags: 'x' } } } }])
  return true
}

for (const methods of [['monitor_cond_since', 'monitor_cond', 'monitor'], ['monitor_cond', 'monitor'], ['monitor']] as const) {
  t.test(`OV-13 a server that knows ${methods.join(', ')}`, async t => {
    const server = await fakeServer(t, plainServer(monitoring(methods)))
    const monitor = client(t, [server.remote]).monitor(spec)
    const row = await monitor.waitFor(rows => rows('T').get('u1'))
    t.strictSame(row, { _uuid: 'u1', name: 'a', tags: new Set(['x']) })
    const update = methods[0] === 'monitor' ? 'update' : methods[0] === 'monitor_cond' ? 'update2' : 'update3'
    const change = update === 'update' ? { old: {}, new: { name: 'b', tags: 'x' } } : { modify: { name: 'b' } }
    const params = update === 'update3' ? ['m0', zero, { T: { u1: change } }] : ['m0', { T: { u1: change } }]
    server.peers[0]?.say({ id: null, method: update, params })
    await monitor.waitFor(rows => rows('T').get('u1')?.name === 'b')
    t.equal(monitor.history.method, methods[0])
  })
}

t.test('conditions are never dropped silently', async t => {
  const server = await fakeServer(t, plainServer(monitoring(['monitor'])))
  const monitor = client(t, [server.remote]).monitor(spec, { where: { T: [['name', '==', 'a']] } })
  await t.rejects(
    monitor.waitFor(() => true),
    { code: 'not-supported' }
  )
  t.equal(monitor.state, 'closed')
})

t.test('OV-16 a loss makes the rows unknown; the next snapshot tells the differences and nothing else', async t => {
  const snapshots = [
    { u1: { new: { name: 'same' } }, u2: { new: { name: 'old' } }, u3: { new: { name: 'goes' } } },
    { u1: { new: { name: 'same' } }, u2: { new: { name: 'new' } } }
  ]
  let gate: (() => void) | undefined
  const server = await fakeServer(
    t,
    plainServer((peer, message) => {
      if (message.method !== 'monitor') return false
      const answer = () => peer.answer(message, { T: snapshots.shift() })
      if (server.peers.length === 1) answer()
      else gate = answer
      return true
    })
  )
  const monitor = client(t, [server.remote]).monitor(spec)
  const news = monitor.changes()
  t.match((await news.next()).value, { kind: 'changes', snapshot: true, changes: { length: 3 } })
  server.peers[0]?.socket.destroy()
  t.match((await news.next()).value, { kind: 'lost', cause: { code: 'connection-lost' } })
  t.equal(monitor.state, 'unknown')
  t.equal(monitor.rows('T'), undefined)
  await server.hears(({ method }) => method === 'monitor' && gate !== undefined)
  t.equal(monitor.rows('T'), undefined, 'connected again, but still without a snapshot')
  gate?.()
  const { value } = await news.next()
  const differences = value?.kind === 'changes' && value.snapshot ? value.changes : []
  t.strictSame(
    differences.map(({ uuid, before, after }) => [uuid, before?.name, after?.name]),
    [
      ['u3', 'goes', undefined],
      ['u2', 'old', 'new']
    ]
  )
  t.equal(monitor.rows('T')?.size, 2)
})

t.test('OV-14 each monitor resumes from the transaction it heard of last', async t => {
  const server = await fakeServer(
    t,
    plainServer((peer, message) => {
      if (message.method !== 'monitor_cond_since') return false
      const [, id, , since] = message.params as [string, string, unknown, string]
      if (since === zero) peer.answer(message, [false, ids[0], { T: { u1: { initial: { name: 'a' } } } }])
      else peer.answer(message, [true, since, { T: { u1: { modify: { tags: `missed by ${id}` } } } }])
      return true
    })
  )
  const db = client(t, [server.remote])
  const [first, second] = [db.monitor(spec), db.monitor(spec)]
  await Promise.all([first.waitFor(() => true), second.waitFor(() => true)])
  server.peers[0]?.say({ id: null, method: 'update3', params: ['m1', ids[1], { T: { u1: { modify: { name: 'b' } } } }] })
  await second.waitFor(rows => rows('T').get('u1')?.name === 'b')
  server.peers[0]?.socket.destroy()
  await first.waitFor(rows => rows('T').get('u1')?.tags.has('missed by m0'))
  await second.waitFor(rows => rows('T').get('u1')?.tags.has('missed by m1'))
  t.equal(second.rows('T')?.get('u1')?.name, 'b')
  const asked = server.heard
    .filter(({ method }) => method === 'monitor_cond_since')
    .map(({ params }) => [params?.[1], params?.[3]])
  t.strictSame(asked, [
    ['m0', zero],
    ['m1', zero],
    ['m0', ids[0]],
    ['m1', ids[1]]
  ])
  for (const { history } of [first, second]) t.strictSame(history, { method: 'monitor_cond_since', snapshots: 1, resumed: 1 })
})

t.test('an update that makes no sense is not survived by guessing: a new connection brings a whole snapshot', async t => {
  const server = await fakeServer(t, plainServer(monitoring(['monitor_cond_since'])))
  const monitor = client(t, [server.remote]).monitor(spec)
  await monitor.waitFor(() => true)
  const news = monitor.changes()
  await news.next()
  server.peers[0]?.say({ id: null, method: 'update3', params: ['m0', ids[0], { T: { unheard: { modify: { name: 'x' } } } }] })
  t.match((await news.next()).value, { kind: 'lost', cause: { code: 'protocol' } })
  matchWhole(t, (await news.next()).value, { kind: 'changes', snapshot: true, changes: [] })
  t.equal(server.heard.filter(({ method, params }) => method === 'monitor_cond_since' && params?.[3] === zero).length, 2)
})

t.test('a cancelled monitor (the schema was converted) begins anew', async t => {
  const server = await fakeServer(t, plainServer(monitoring(['monitor'])))
  const monitor = client(t, [server.remote]).monitor(spec)
  await monitor.waitFor(() => true)
  server.peers[0]?.say({ id: null, method: 'monitor_canceled', params: ['m0'] })
  await monitor.waitFor(() => monitor.history.snapshots === 2)
  t.equal(server.peers.length, 2)
})

t.test('a spec that does not fit ends that monitor alone, with the reason', async t => {
  const server = await fakeServer(t, plainServer(monitoring(['monitor'])))
  const db = client(t, [server.remote])
  const [bad, good] = [db.monitor({ T: { name: column.integer } }), db.monitor(spec)]
  const news = bad.changes()
  await t.rejects(
    bad.waitFor(() => true),
    { code: 'schema' }
  )
  await t.rejects(news.next(), { code: 'schema', message: /T\.name is one string/ })
  await good.waitFor(() => true)
  t.equal(server.peers.length, 1)
})

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

t.test('a closed monitor is cancelled, and what still comes for it is ignored', async t => {
  const server = await fakeServer(t, plainServer(monitoring(['monitor'])))
  const db = client(t, [server.remote])
  const [closing, staying] = [db.monitor(spec), db.monitor(spec)]
  await Promise.all([closing.waitFor(() => true), staying.waitFor(() => true)])
  closing.close()
  matchWhole(t, await server.hears(({ method }) => method === 'monitor_cancel'), { params: ['m0'] })
  for (const id of ['m0', 'm1'])
    server.peers[0]?.say({ id: null, method: 'update', params: [id, { T: { u1: { new: { name: 'b' } } } }] })
  await staying.waitFor(rows => rows('T').get('u1')?.name === 'b')
  t.equal(server.peers.length, 1)
})

t.test('what cannot be a remote or a value is refused before anything is sent', async t => {
  t.throws(() => open({ remotes: [], database: 'Test' }), { code: 'notation' })
  t.throws(() => open({ remotes: ['db.sock'], database: 'Test' }), { code: 'notation' })
  const server = await fakeServer(t, plainServer())
  await t.rejects(client(t, [server.remote]).transact([insert('T', { name: 'a\0' })]), { code: 'notation' })
})
