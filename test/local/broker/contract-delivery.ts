// The function's side of the contract (knative.md §3.2).
import type { Test } from 'tap'
import type { Answer } from '../../../shared/local/broker/index.ts'
import { quick, send, type Target } from './contract-target.ts'
import { eventHeaders, type Spec } from './manifests.ts'
import type { Received, Sink } from './sinks.ts'

export async function headers(t: Test, target: Target): Promise<void> {
  const [binary, json] = [await target.sink(t), await target.sink(t)]
  const { ingress, namespace, settled } = await target.install(t, undefined, {
    binary: { subscriber: { uri: `${binary.url}in/here` } },
    json: { subscriber: { uri: json.url }, delivery: { format: 'json' } }
  })
  const sent = {
    ...eventHeaders({ subject: 'hv1', time: '2026-11-16T04:56:11Z', traceparent: 'ext', namespace: '', knativebrokerttl: '7' }),
    'content-type': 'application/json',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'x-request-id': 'r1',
    'x-b3-traceid': 'b3',
    'knative-own': 'k',
    authorization: 'Bearer secret',
    'x-own': 'mine'
  }
  t.equal(await send(ingress, sent, '{"a":1}'), 202)
  const [got] = (await binary.until(1)) as [Received]
  t.equal(got.method, 'POST')
  t.equal(got.path, '/in/here')
  t.equal(got.body.toString(), '{"a":1}')
  t.match(got.headers, {
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-type': 'a.b',
    'ce-source': '/test',
    'ce-subject': 'hv1',
    'ce-time': '2026-11-16T04:56:11Z',
    'ce-traceparent': 'ext',
    'ce-namespace': '',
    'content-type': 'application/json',
    prefer: 'reply',
    'kn-namespace': namespace,
    'x-request-id': 'r1',
    'knative-own': 'k'
  })
  t.match(got.headers['ce-knativearrivaltime'], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/)
  t.ok(got.headers.traceparent, 'the trace goes on')
  for (const dropped of ['authorization', 'x-own', 'ce-knativebrokerttl']) t.notOk(got.headers[dropped], `${dropped} is dropped`)

  const [structured] = (await json.until(1)) as [Received]
  t.match(structured.headers['content-type'], /^application\/cloudevents\+json/)
  t.match(JSON.parse(structured.body.toString()), {
    specversion: '1.0',
    id: '1',
    type: 'a.b',
    source: '/test',
    subject: 'hv1',
    data: { a: 1 }
  })

  const event = {
    specversion: '1.0',
    id: '2',
    type: 'a.b',
    source: '/test',
    sequence: 5,
    flag: true,
    datacontenttype: 'text/plain',
    data: 'hi'
  }
  t.equal(await send(ingress, { 'content-type': 'application/cloudevents+json' }, JSON.stringify(event)), 202)
  const second = (await binary.until(2))[1]!
  t.match(
    second.headers,
    { 'ce-id': '2', 'ce-sequence': '5', 'ce-flag': 'true', 'content-type': 'text/plain' },
    'binary mode whatever came in'
  )
  t.equal(second.body.toString(), 'hi')
  await settled()
}

/** Each case has a Trigger of its own, and paths of its own at the two sinks. */
const caseTrigger = (i: number, subscriber: Sink, deadLetters: Sink): Spec => ({
  subscriber: { uri: `${subscriber.url}${i}` },
  filter: { attributes: { case: String(i) } },
  delivery: { ...quick, deadLetterSink: { uri: `${deadLetters.url}${i}` } }
})

export async function answers(t: Test, target: Target): Promise<void> {
  const text = (status: number, body = 'why'): Answer => ({ status, body })
  type Dead = { code: string; data: string } | 'no error attributes'
  const coded = (status: number, body = 'why'): Dead => ({ code: String(status), data: Buffer.from(body).toString('base64') })
  const cases: Array<[answer: Answer, attempts: number, dead?: Dead]> = [
    ...[200, 202, 204].map((status): [Answer, number] => [{ status }, 1]),
    [text(200, 'ok'), 2, 'no error attributes'],
    [text(200, '{}'), 2, 'no error attributes'],
    [{ status: 304 }, 1, 'no error attributes'],
    [{ status: 302 }, 1, coded(302, '')],
    ...[400, 401, 403, 405, 410, 413, 415, 422, 425].map((status): [Answer, number, Dead] => [text(status), 1, coded(status)]),
    ...[404, 408, 409, 429, 500, 501, 502, 503, 504].map((status): [Answer, number, Dead] => [text(status), 2, coded(status)]),
    [{ status: 503 }, 2, coded(503, '')],
    [text(422, 'x'.repeat(768)), 1, coded(422, 'x'.repeat(768))]
  ]
  const subscriber = await target.sink(t, ({ path }) => cases[Number(path.slice(1))]![0])
  const deadLetters = await target.sink(t)
  const { ingress, namespace, settled } = await target.install(
    t,
    undefined,
    Object.fromEntries(cases.map((_, i) => [`c${i}`, caseTrigger(i, subscriber, deadLetters)]))
  )
  for (const i of cases.keys()) t.equal(await send(ingress, eventHeaders({ case: String(i), type: 'x.y' }), 'data'), 202)
  await settled()

  for (const [i, [answer, attempts, dead]] of cases.entries()) {
    const name = `${answer.status} ${String(answer.body ?? '').slice(0, 5)}`
    t.equal(subscriber.received.filter(({ path }) => path === `/${i}`).length, attempts, `${name}: ${attempts} attempts`)
    const [letter, ...more] = deadLetters.received.filter(({ path }) => path === `/${i}`)
    t.equal(more.length, 0, `${name}: one dead letter at most`)
    t.equal(letter !== undefined, dead !== undefined, `${name}: ${dead ? 'a' : 'no'} dead letter`)
    if (!letter || !dead) continue
    t.match(letter.headers, { 'ce-id': '1', 'ce-type': 'x.y', 'ce-knativebrokerttl': '255', 'kn-namespace': namespace })
    t.notOk(letter.headers.prefer, `${name}: no prefer`)
    t.equal(letter.body.toString(), 'data')
    if (dead === 'no error attributes') t.notOk(letter.headers['ce-knativeerrorcode'], `${name}: no error attributes`)
    else {
      t.equal(letter.headers['ce-knativeerrorcode'], dead.code)
      t.equal(letter.headers['ce-knativeerrordest'], `${subscriber.url}${i}`)
      t.equal(letter.headers['ce-knativeerrordata'], dead.data)
    }
  }
}

export async function replies(t: Test, target: Target): Promise<void> {
  const reply = {
    status: 200,
    headers: { ...eventHeaders({ id: 'reply', type: 'pong' }), 'content-type': 'text/plain' },
    body: 'again'
  }
  const loop: Answer = { status: 200, headers: eventHeaders({ id: 'loop', type: 'loop' }) }
  const pinged = await target.sink(t, () => reply)
  const [ponged, looped, deadLetters] = [await target.sink(t), await target.sink(t, () => loop), await target.sink(t)]
  const on = (type: string, subscriber: Sink): Spec => ({
    subscriber: { uri: subscriber.url },
    filter: { attributes: { type } },
    delivery: { ...quick, deadLetterSink: { uri: deadLetters.url } }
  })
  const { ingress, settled } = await target.install(t, undefined, {
    ping: on('ping', pinged),
    pong: on('pong', ponged),
    loop: on('loop', looped)
  })
  await send(ingress, eventHeaders({ type: 'ping' }))
  const [got] = (await ponged.until(1)) as [Received]
  t.match(got.headers, { 'ce-id': 'reply', 'ce-type': 'pong', 'content-type': 'text/plain', prefer: 'reply' })
  t.ok(got.headers['ce-knativearrivaltime'])
  t.notOk(got.headers['ce-knativebrokerttl'])
  t.equal(got.body.toString(), 'again')

  await send(ingress, eventHeaders({ type: 'loop' }))
  await looped.until(255)
  await settled()
  t.equal(looped.received.length, 255, 'a loop ends')
  t.equal(deadLetters.received.length, 1)
  t.match(deadLetters.received[0]?.headers, { 'ce-type': 'loop', 'ce-knativeerrorcode': '400' })
}

export async function inheritance(t: Test, target: Target): Promise<void> {
  const refusing = await target.sink(t, () => ({ status: 503 }))
  const [ofBroker, ofTrigger] = [
    await target.sink(t, (_, nth) => ({ status: nth === 1 ? 503 : 200, body: 'taken' })),
    await target.sink(t)
  ]
  const on = (id: string, delivery?: Spec): Spec => ({
    subscriber: { uri: `${refusing.url}${id}` },
    filter: { attributes: { id } },
    ...(delivery && { delivery })
  })
  const { ingress, settled } = await target.install(
    t,
    { delivery: { ...quick, retry: 2, deadLetterSink: { uri: ofBroker.url } } },
    { none: on('none'), own: on('own', { retry: 0 }), sink: on('sink', { retry: 3, deadLetterSink: { uri: ofTrigger.url } }) }
  )
  await send(ingress, eventHeaders({ id: 'none' }))
  await settled()
  for (const id of ['own', 'sink']) await send(ingress, eventHeaders({ id }))
  await settled()
  const attempts = (id: string): number => refusing.received.filter(({ path }) => path === `/${id}`).length
  t.equal(attempts('none'), 3, "the Broker's delivery holds")
  t.equal(attempts('own'), 1, "a Trigger's delivery replaces it")
  t.equal(attempts('sink'), 4)
  t.strictSame(
    ofBroker.received.map(({ headers }) => headers['ce-id']),
    ['none', 'none', 'own'],
    "the Broker's dead-letter sink is retried, takes any body, and holds for a Trigger that names none"
  )
  t.equal(ofTrigger.received.length, 1)
}
