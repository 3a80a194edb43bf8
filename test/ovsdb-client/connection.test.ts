import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { Connection } from '../../shared/ovsdb-client/src/connection.ts'
import { type Script, fakeServer } from './fake-server.ts'

const patient = { timeoutMs: 10_000 }

async function connected(t: Test, script: Script, options: { probeMs?: number } = {}) {
  const server = await fakeServer(t, script)
  const socket = connect(server.remote.slice('unix:'.length))
  await once(socket, 'connect')
  const told: unknown[] = []
  const onNotification = (method: string, params: readonly unknown[]) => void told.push([method, ...params])
  const connection = new Connection(socket, { probeMs: 60_000, maxMessageBytes: 1000, onNotification, ...options })
  t.teardown(() => socket.destroy())
  const call = (method: string, timeoutMs = 10_000) => connection.call(method, [], result => result, { timeoutMs })
  return { server, connection, call, told }
}

t.test('replies in another order find their calls', async t => {
  const held: Array<() => void> = []
  const { call } = await connected(t, (peer, request) => {
    held.unshift(() => peer.answer(request, request.method))
    if (held.length === 3) for (const answer of held) answer()
  })
  t.strictSame(await Promise.all([call('a'), call('b'), call('c')]), ['a', 'b', 'c'])
})

t.test('OV-10 a late reply is dropped, and the connection goes on', async t => {
  let late: (() => void) | undefined
  const { call, connection, server } = await connected(t, (peer, request) => {
    if (request.method === 'slow') late = () => peer.answer(request, 'too late')
    else if (request.method === 'next') {
      late?.()
      peer.answer(request, 'in time')
    }
  })
  await t.rejects(call('slow', 20), { code: 'timeout', retryable: true })
  await server.hears(({ method }) => method === 'cancel')
  t.equal(await call('next'), 'in time')
  t.equal(connection.droppedReplies, 1)
})

t.test('a reply that comes twice, or to a call never made, is dropped', async t => {
  const { call, connection } = await connected(t, (peer, request) => {
    if (request.method === 'last') return peer.answer(request, 'last')
    peer.answer({ id: 4711 }, 'never asked')
    peer.answer({ id: String(request.id) }, 'a text is not the number')
    peer.answer({ id: null }, 'nobody')
    peer.answer(request, 'first')
    peer.answer(request, 'second')
  })
  t.equal(await call('a'), 'first')
  t.equal(await call('last'), 'last')
  t.equal(connection.droppedReplies, 4)
})

t.test('an error reply without result is an error of that call alone', async t => {
  const { call } = await connected(t, (peer, request) => {
    if (request.method === 'good') peer.answer(request, 1)
    else peer.refuse(request, request.method === 'bad' ? 'unknown method' : { error: 'not owner', details: 'of the lock' })
  })
  await t.rejects(call('bad'), { code: 'unknown-method', serverError: 'unknown method', message: 'bad: unknown method' })
  await t.rejects(call('worse'), { code: 'not-owner', details: 'of the lock' })
  t.equal(await call('good'), 1)
})

const fatal: Array<[name: string, said: string, code: string]> = [
  ['garbage', 'HTTP/1.1 400 Bad Request', 'protocol'],
  ['a list', '[1,2]', 'protocol'],
  ['brackets that do not match', '{"id":0,"result":[}]', 'protocol'],
  ['neither result nor error', '{"id":0}', 'protocol'],
  ['a null error and no result', '{"id":0,"error":null}', 'protocol'],
  ['a method that is no string', '{"id":null,"method":1,"params":[]}', 'protocol'],
  ['params that are no list', '{"id":null,"method":"update","params":{}}', 'protocol'],
  ['a message over the bound', `{"id":0,"result":"${'x'.repeat(1000)}"}`, 'too-large']
]
for (const [name, said, code] of fatal) {
  t.test(`OV-10 ${name} closes the connection and rejects every waiting call`, async t => {
    const { call, connection } = await connected(t, (peer, { method }) => {
      if (method === 'second') peer.say(said)
    })
    const calls = [call('first'), call('second')]
    for (const waiting of calls) await t.rejects(waiting, { code })
    t.match(await connection.closed, { code })
    await t.rejects(call('third'), { code }, 'and every later one')
  })
}

t.test('a server that hangs up rejects every waiting call', async t => {
  const { call, connection } = await connected(t, peer => peer.socket.end())
  await t.rejects(call('a'), { code: 'connection-lost', retryable: true })
  t.match(await connection.closed, { code: 'connection-lost' })
})

t.test('OV-12 an echo is answered with its own params, an unknown request with an error', async t => {
  const { server, call } = await connected(t, (peer, request) => {
    if (request.method !== 'go') return
    peer.say({ id: 'e', method: 'echo', params: [1, 'two', [3]] })
    peer.say({ id: 'x', method: 'dance', params: [] })
    peer.answer(request, null)
  })
  await call('go')
  t.strictSame(await server.hears(({ id }) => id === 'e'), { id: 'e', result: [1, 'two', [3]], error: null })
  t.strictSame(await server.hears(({ id }) => id === 'x'), { id: 'x', result: null, error: 'unknown method' })
})

t.test('OV-12 after silence an echo is sent; a server that answers it is kept, a frozen one given up', async t => {
  let echoes = 0
  const { connection, server, call } = await connected(
    t,
    (peer, request) => {
      if (request.method === 'echo' && ++echoes < 3) peer.answer(request, request.params)
    },
    { probeMs: 20 }
  )
  const waiting = call('never answered')
  await t.rejects(waiting, { code: 'unresponsive', retryable: true })
  t.match(await connection.closed, { code: 'unresponsive' })
  t.equal(server.heard.filter(({ method }) => method === 'echo').length, 3)
})

t.test('what stands behind a reply is handled after it, even in the same chunk', async t => {
  const { connection, told } = await connected(t, (peer, request) => {
    const update = (n: number) => JSON.stringify({ id: null, method: 'update', params: [n] })
    peer.say(`${update(1)}${JSON.stringify({ id: request.id, result: 'reply', error: null })}${update(2)}`)
  })
  await connection.call('a', [], result => void told.push(result), patient)
  t.strictSame(told, [['update', 1], 'reply', ['update', 2]])
})

t.test('an aborted call asks the server to take it back and believes what it says', async t => {
  const { connection, server } = await connected(t, (peer, request) => {
    if (request.method === 'cancel') peer.refuse({ id: request.params?.[0] }, 'canceled')
  })
  const stop = new AbortController()
  const waiting = connection.call('transact', [], () => {}, { ...patient, signal: stop.signal })
  await server.hears(({ method }) => method === 'transact')
  stop.abort()
  await t.rejects(waiting, { code: 'cancelled', serverError: 'canceled' })
})
