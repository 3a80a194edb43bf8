// Dead letters are kept, listed, replayed, dropped.
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { hurriedClock } from './clock.ts'
import { broker, trigger } from './manifests.ts'
import { localSink } from './sinks.ts'
import { ref, send, start } from './start.ts'

const manifests = [broker('b'), trigger('t', { subscriber: ref('s'), delivery: { retry: 1 } })]

void t.test('replay sends it to its trigger once more', async t => {
  const sink = localSink((_, nth) => (nth === 1 ? { status: 422, body: 'why' } : { status: 204 }))
  const other = localSink()
  const running = await start(
    t,
    [...manifests, trigger('other', { subscriber: ref('other') })],
    { s: sink, other },
    { clock: hurriedClock(7) }
  )
  await send(running, { id: '1', subject: 'x' }, Buffer.from('data'))
  await running.idle()
  const [letter] = running.deadLetters.list()
  t.match(letter, {
    broker: 'test/b',
    trigger: 'test/t',
    time: 7,
    attributes: { id: '1', type: 'a.b', subject: 'x' },
    cause: { code: 422, dest: 'http://s.test.svc.cluster.local', data: Buffer.from('why').toString('base64') },
    taken: false
  })

  t.equal(await running.deadLetters.replay(letter!.id), 'replayed')
  await running.idle()
  t.strictSame(running.deadLetters.list(), [])
  t.equal(sink.received.length, 2)
  t.strictSame(sink.received[1]?.body.toString(), 'data')
  t.equal(
    sink.received[1]?.headers['ce-knativearrivaltime'],
    sink.received[0]?.headers['ce-knativearrivaltime'],
    'the same event'
  )
  t.equal(other.received.length, 1, 'other triggers had it already')
  t.equal(await running.deadLetters.replay(letter!.id), 'unknown')
})

void t.test('by HTTP beside the ingress, as a person would', async t => {
  const sink = localSink((_, nth) => (nth === 1 ? { status: 422 } : { status: 204 }))
  const running = await start(t, manifests, { s: sink })
  const folder = new URL('/-/dead-letters', running.ingress('test', 'b')).href
  const ask = async (method: string, path = '') => {
    const response = await fetch(`${folder}${path}`, { method })
    return { status: response.status, body: (await response.text()).trim() }
  }
  t.strictSame(await ask('GET'), { status: 200, body: '[]' })
  await send(running, { id: '7' })
  await running.idle()
  const [letter] = JSON.parse((await ask('GET')).body) as Array<{ id: number; attributes: object; cause: object }>
  t.match(letter, { trigger: 'test/t', attributes: { id: '7' }, cause: { code: 422 } })
  t.match(await ask('POST', `/${letter!.id}/replay`), { status: 202, body: /replayed/ })
  await running.idle()
  t.equal(sink.received.length, 2)
  t.match(await ask('POST', `/${letter!.id}/replay`), { status: 404 })
  t.match(await ask('DELETE', `/${letter!.id}`), { status: 404 })
  t.match(await ask('DELETE', '/x'), { status: 404, body: /GET \/-\/dead-letters/ })
  t.match(await ask('PUT'), { status: 405 })
})

void t.test('a replay that fails is a dead letter again; drop forgets it', async t => {
  const running = await start(t, manifests, { s: localSink(() => ({ status: 422 })) })
  await send(running)
  await running.idle()
  const [letter] = running.deadLetters.list()
  t.equal(await running.deadLetters.replay(letter!.id), 'replayed')
  await running.idle()
  const [again] = running.deadLetters.list()
  t.ok(again)
  t.equal(await running.deadLetters.drop(again!.id), true)
  t.equal(await running.deadLetters.drop(again!.id), false)
  t.strictSame(running.deadLetters.list(), [])
})

void t.test('kept over a restart; a sink that took it is told; a Trigger that is gone cannot have it back', async t => {
  const state = new DatabaseSync(':memory:')
  const dead = localSink()
  const withSink = [broker('b'), trigger('t', { subscriber: ref('s'), delivery: { deadLetterSink: ref('dead') } })]
  const first = await start(t, withSink, { s: localSink(() => ({ status: 422 })), dead }, { state })
  await send(first)
  await first.idle()
  await first.close()
  t.equal(dead.received.length, 1)

  const second = await start(t, [broker('b')], {}, { state })
  const [letter] = second.deadLetters.list()
  t.match(letter, { trigger: 'test/t', taken: true })
  t.equal(await second.deadLetters.replay(letter!.id), 'no trigger')
  t.equal(second.deadLetters.list().length, 1)
})

void t.test('bounded by their data too: the oldest go first', async t => {
  const running = await start(t, manifests, { s: localSink(() => ({ status: 422 })) }, { limits: { bytes: 10_000 } })
  for (const id of ['1', '2', '3', '4']) {
    await send(running, { id }, Buffer.alloc(4000))
    await running.idle()
  }
  t.strictSame(
    running.deadLetters.list().map(({ attributes }) => attributes.id),
    ['3', '4']
  )
})
