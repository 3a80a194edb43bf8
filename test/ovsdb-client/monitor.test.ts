// OV-13…OV-16: what a monitor asks for, and what it makes of the answers, on servers that do as they are bid.
import t from 'tap'
import { column } from '../../shared/ovsdb-client/src/index.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { type Peer, type Request, fakeServer, plainServer } from './fake-server.ts'
import { client, spec } from './opened.ts'

const ids = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'] as const
const zero = '00000000-0000-0000-0000-000000000000'

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
