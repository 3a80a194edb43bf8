// Bad input and faults (issue 4): each refused or handled as Knative does, and memory stays bounded.
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { request } from 'undici'
import { ManifestError, startBroker, type Answer, type Manifest } from '../../../shared/local/broker/index.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { heldMiB } from '../../held-memory.ts'
import { hurriedClock } from './clock.ts'
import { broker, eventHeaders, pingSource, trigger } from './manifests.ts'
import { httpSink, localSink } from './sinks.ts'
import { ref, send, start } from './start.ts'

const never = (): Promise<Answer> => new Promise(() => {})

void t.test('a sink that hangs holds up its own trigger only, and the ingress says 429 for it alone', async t => {
  const [hanging, quick] = [localSink(never), localSink()]
  const manifests = [
    broker('b'),
    trigger('hanging', { subscriber: ref('hanging'), filter: { attributes: { type: 'slow' } } }),
    trigger('quick', { subscriber: ref('quick'), filter: { attributes: { type: 'fast' } } })
  ]
  const running = await start(t, manifests, { hanging, quick }, { limits: { inFlight: 2, queue: 5 } })
  const slow: number[] = []
  for (let i = 0; i < 7; i++) slow.push(await send(running, { type: 'slow', id: String(i) }))
  t.strictSame(slow, [202, 202, 202, 202, 202, 429, 429])
  for (let i = 0; i < 20; i++) {
    t.equal(await send(running, { type: 'fast', id: String(i) }), 202)
    await quick.until(i + 1)
  }
  t.equal(hanging.received.length, 2)
  const answer = await request(running.ingress('test', 'b'), { method: 'POST', headers: eventHeaders({ type: 'slow' }) })
  t.match(await answer.body.text(), /too many/)
  t.match(answer, { statusCode: 429, headers: { 'retry-after': '1' } })
})

void t.test('a sink that answers 503 for ever: every event ends as a dead letter, none twice', async t => {
  const failing = localSink(() => ({ status: 503, body: 'no' }))
  const manifests = [broker('b'), trigger('t', { subscriber: ref('s') })]
  const running = await start(t, manifests, { s: failing }, { clock: hurriedClock(), limits: { inFlight: 10, deadLetters: 50 } })
  for (let i = 0; i < 100; i++) t.equal(await send(running, { id: String(i) }), 202)
  await running.idle()
  t.equal(failing.received.length, 1100)
  const ids = running.deadLetters.list().map(({ attributes }) => attributes.id)
  t.equal(ids.length, 50, 'the newest are kept')
  t.equal(new Set(ids).size, 50)
})

void t.test('data that is held is bounded, and freed again', async t => {
  const waiting: Array<() => void> = []
  const sink = localSink(() => new Promise(resolve => waiting.push(() => resolve({ status: 204 }))))
  const running = await start(
    t,
    [broker('b'), trigger('t', { subscriber: ref('s') })],
    { s: sink },
    { limits: { bytes: 5 << 20 } }
  )
  const big = Buffer.alloc(2 << 20)
  t.strictSame(await Promise.all([1, 2, 3].map(id => send(running, { id: String(id) }, big))), [202, 202, 429])
  const answer = await request(running.ingress('test', 'b'), { method: 'POST', headers: eventHeaders({ id: '4' }), body: big })
  await answer.body.dump()
  t.equal(answer.statusCode, 429, 'over HTTP too')
  await sink.until(2)
  waiting.splice(0).forEach(release => release())
  await running.idle()
  t.equal(await send(running, { id: '5' }, big), 202)
  await sink.until(3)
  t.equal(sink.received[2]?.body.length, 2 << 20)
  waiting.splice(0).forEach(release => release())
  await running.idle()
})

void t.test('10,000 events through a small queue leave nothing behind', async t => {
  const sink = localSink()
  sink.received.push = () => 0 // it keeps nothing
  const running = await start(t, [broker('b'), trigger('t', { subscriber: ref('s') })], { s: sink }, { limits: { queue: 100 } })
  const body = Buffer.alloc(100_000) // 1 GB in all
  const before = heldMiB()
  for (let i = 0; i < 10_000;) {
    if ((await send(running, { id: String(i) }, body)) === 202) i++
    else await turn()
  }
  await running.idle()
  const held = heldMiB() - before
  t.ok(held < 20, `of 1,000 MB that went through, ${held.toFixed(1)} MiB are held`)
})

void t.test('two brokers do not mix', async t => {
  const [one, two] = [localSink(), localSink()]
  const manifests = [
    broker('one'),
    broker('two'),
    trigger('a', { broker: 'one', subscriber: ref('one') }),
    trigger('b', { broker: 'two', subscriber: ref('two') })
  ]
  const running = await start(t, manifests, { one, two })
  t.equal(await send(running, { id: '1' }, undefined, 'one'), 202)
  t.equal(await send(running, { id: '2' }, undefined, 'two'), 202)
  t.equal(await send(running, { id: '3' }, undefined, 'three'), 404)
  await running.idle()
  matchWhole(t, [one.received, two.received], [[{ headers: { 'ce-id': '1' } }], [{ headers: { 'ce-id': '2' } }]])
})

void t.test('garbage at the ingress', async t => {
  const running = await start(t, [broker('b'), trigger('t', { subscriber: ref('s') })], { s: localSink() })
  const url = running.ingress('test', 'b')
  const { port } = new URL(url)
  const raw = (bytes: string | Buffer): Promise<string> =>
    new Promise((resolve, reject) => {
      let answer = ''
      const socket = connect(Number(port), '127.0.0.1', () => socket.end(bytes))
      socket
        .on('data', chunk => (answer += String(chunk)))
        .on('close', () => resolve(answer.slice(0, 12)))
        .on('error', reject)
    })
  t.equal(await raw('nonsense\r\n\r\n'), 'HTTP/1.1 400')
  t.equal(await raw(Buffer.alloc(1000, 255)), 'HTTP/1.1 400')
  t.equal(await raw(`POST /test/b HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`), 'HTTP/1.1 431')
  t.equal(
    await raw('POST /test/b HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\ncut'),
    'HTTP/1.1 400',
    'cut off in the middle'
  )
  const structured = { 'content-type': 'application/cloudevents+json' }
  for (const body of ['[]', 'null', '"x"', '{"specversion":{}}', '{"specversion":"9.9"}', '{"id":1}']) {
    const answer = await request(url, { method: 'POST', headers: structured, body })
    await answer.body.dump()
    t.equal(answer.statusCode, 400, body)
  }
  for (const wrong of [{ time: 'yesterday' }, { specversion: '2.0' }, { a_b: 'x' }])
    t.equal(await send(running, wrong as Record<string, string>), 400)
  t.equal(await send(running), 202, 'it goes on')
})

void t.test('the end: nothing is delivered after close', async t => {
  const sink = await httpSink(t, never)
  const running = await start(t, [broker('b'), trigger('t', { subscriber: { uri: sink.url } })], {})
  await send(running)
  await sink.until(1)
  t.ok(running.ready)
  await running.close()
  t.notOk(running.ready)
  t.strictSame(running.deadLetters.list(), [], 'what was under way is no failure')
})

const bad: Array<[name: string, manifests: Manifest[], message: RegExp]> = [
  ['a typo in a field', [trigger('t', { subscribr: {} })], /^knative\/t\.yaml: Trigger test\/t: .*(subscribr|subscriber)/],
  [
    'a typo in a kind',
    [{ file: 'knative/x.yaml', doc: { apiVersion: 'eventing.knative.dev/v1', kind: 'Triger', metadata: { name: 'x' } } }],
    /^knative\/x\.yaml: there is no kind Triger/
  ],
  ['no kind', [{ file: 'knative/x.yaml', doc: { apiVersion: 'v1' } }], /^knative\/x\.yaml: a document has no apiVersion or kind/],
  [
    'an invalid filter',
    [trigger('t', { subscriber: ref('s'), filters: [{ cesql: 'type =' }] })],
    /^knative\/t\.yaml: Trigger test\/t: filters\[0\]\.cesql: invalid CESQL/
  ],
  [
    'the same Trigger twice',
    [trigger('t', { subscriber: ref('s') }), trigger('t', { subscriber: ref('s') })],
    /Trigger test\/t is in knative\/t\.yaml already/
  ],
  ['a URI that is none', [trigger('t', { subscriber: { uri: 'function' } })], /expected a ref or an absolute URI: subscriber/],
  [
    'a delivery of the Broker',
    [broker('b', { delivery: { backoffDelay: 'soon' } })],
    /Broker test\/b: invalid value: soon: delivery\.backoffDelay/
  ],
  [
    '@every',
    [pingSource('p', { schedule: '@every 5s', sink: ref('s') })],
    /PingSource test\/p: invalid value: @every 5s: spec\.schedule/
  ],
  [
    'a schedule that is none',
    [pingSource('p', { schedule: '99 * * * *', sink: ref('s') })],
    /PingSource test\/p: invalid value: 99 \* \* \* \*/
  ],
  ['a seven-field schedule', [pingSource('p', { schedule: '* * * * * * 2026', sink: ref('s') })], /spec\.schedule/],
  ['data twice', [pingSource('p', { data: 'x', dataBase64: 'eA==', sink: ref('s') })], /spec\.data, spec\.dataBase64/],
  [
    'JSON data that is no object',
    [pingSource('p', { contentType: 'application/json', data: '[1]', sink: ref('s') })],
    /not a JSON object/
  ]
]
for (const [name, manifests, message] of bad) {
  void t.test(`refused: ${name}`, async t => {
    const refusal = await startBroker({ manifests, resolve: () => undefined }).catch((err: unknown) => err)
    t.type(refusal, ManifestError)
    t.match((refusal as Error).message, message)
  })
}

void t.test('not ready, and said so: no Broker, no subscriber, no dead-letter sink', async t => {
  const warnings: string[] = []
  const chosen: string[] = []
  const log = {
    debug: (_: object, message: string) => void chosen.push(message),
    info() {},
    error() {},
    warn: (_: object, message: string) => void warnings.push(message)
  }
  const service = {
    file: 'knative/off.yaml',
    doc: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', metadata: { name: 'off', namespace: 'test' } }
  }
  const manifests = [
    broker('b'),
    service,
    trigger('lost', { broker: 'c', subscriber: ref('s') }),
    trigger('none', { subscriber: ref('none') }),
    trigger('off', { subscriber: ref('off') }),
    trigger('dead', { subscriber: ref('s'), delivery: { deadLetterSink: ref('none') } })
  ]
  const sink = localSink()
  const running = await start(t, manifests, { s: sink }, { log })
  t.strictSame(
    running.triggers.map(({ reason }) => reason),
    [
      'there is no Broker test/c',
      'there is no Service test/none',
      'Service test/off is not started here',
      'its dead-letter sink: there is no Service test/none'
    ]
  )
  t.equal(warnings.length, 3)
  t.strictSame(chosen, ['Trigger test/off is not ready: Service test/off is not started here'], 'no warning of what was chosen')
  t.equal(await send(running), 202, 'the event is gone (knative.md §3.1)')
  await running.idle()
  t.strictSame(sink.received, [])
})
