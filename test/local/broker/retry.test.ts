// When a retry comes (knative.md §3.2), by a clock that does not wait; and once by the real one.
import t from 'tap'
import type { Answer, Request } from '../../../shared/local/broker/index.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { hurriedClock, manualClock } from './clock.ts'
import { broker, trigger, type Spec } from './manifests.ts'
import { localSink } from './sinks.ts'
import { ref, send, start } from './start.ts'

const wired = (delivery: Spec | undefined) => [
  broker('b', {}),
  trigger('t', { subscriber: ref('function'), ...(delivery && { delivery }) })
]
const exponential = { retry: 4, backoffPolicy: 'exponential', backoffDelay: 'PT1S' }

const cases: Array<[name: string, delivery: Spec | undefined, answer: Answer, waits: number[]]> = [
  ['default of a Broker', undefined, { status: 503 }, [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400]],
  ['exponential', exponential, { status: 503 }, [1000, 2000, 4000, 8000]],
  ['linear: the first retry is immediate', { ...exponential, backoffPolicy: 'linear' }, { status: 503 }, [1000, 2000, 3000]],
  ['no policy: all are immediate', { retry: 4 }, { status: 503 }, []],
  ['policy without delay', { retry: 4, backoffPolicy: 'exponential' }, { status: 503 }, []],
  ['no retry', { backoffPolicy: 'linear', backoffDelay: 'PT1S' }, { status: 503 }, []],
  ['Retry-After is ignored by default', exponential, { status: 503, headers: { 'retry-after': '3' } }, [1000, 2000, 4000, 8000]],
  [
    'retryAfterMax: the larger of back-off and Retry-After',
    { ...exponential, retryAfterMax: 'PT1M' },
    { status: 429, headers: { 'retry-after': '3' } },
    [3000, 3000, 4000, 8000]
  ],
  [
    'retryAfterMax bounds Retry-After',
    { ...exponential, retryAfterMax: 'PT5S' },
    { status: 503, headers: { 'retry-after': '120' } },
    [5000, 5000, 5000, 8000]
  ],
  [
    'retryAfterMax of zero',
    { ...exponential, retryAfterMax: 'PT0S' },
    { status: 503, headers: { 'retry-after': '9' } },
    [1000, 2000, 4000, 8000]
  ],
  [
    'only 429 and 503 may ask',
    { ...exponential, retryAfterMax: 'PT1M' },
    { status: 500, headers: { 'retry-after': '9' } },
    [1000, 2000, 4000, 8000]
  ],
  [
    'Retry-After as a date',
    { ...exponential, retry: 1, retryAfterMax: 'PT1M' },
    { status: 503, headers: { 'retry-after': 'Thu, 01 Jan 1970 00:00:07 GMT' } },
    [7000]
  ]
]
for (const [name, delivery, answer, waits] of cases) {
  void t.test(name, async t => {
    const clock = hurriedClock()
    const sink = localSink(() => answer)
    const running = await start(t, wired(delivery), { function: sink }, { clock })
    t.equal(await send(running), 202)
    await running.idle()
    t.strictSame(clock.waits, waits)
    t.equal(sink.received.length, 1 + ((delivery ? (delivery.retry as number | undefined) : 10) ?? 0))
    matchWhole(t, running.deadLetters.list(), [{ trigger: 'test/t', cause: { code: answer.status }, taken: false }])
  })
}

void t.test('the dead-letter sink is retried by the same policy', async t => {
  const clock = hurriedClock()
  const [failing, refusing] = [localSink(() => ({ status: 500 })), localSink(() => ({ status: 503 }))]
  const running = await start(
    t,
    wired({ ...exponential, deadLetterSink: ref('dead') }),
    { function: failing, dead: refusing },
    { clock }
  )
  await send(running)
  await running.idle()
  t.strictSame(clock.waits, [1000, 2000, 4000, 8000, 1000, 2000, 4000, 8000])
  t.equal(refusing.received.length, 5)
  t.match(refusing.received[0]?.headers, {
    'ce-knativeerrorcode': '500',
    'ce-knativeerrordest': 'http://function.test.svc.cluster.local'
  })
  matchWhole(t, running.deadLetters.list(), [{ taken: false }])
})

void t.test('a subscriber that hangs is retried at its time-out', async t => {
  const clock = manualClock()
  const aborted: string[] = []
  const hanging = localSink()
  const deliver = (request: Request, signal: AbortSignal): Promise<Answer> => {
    void hanging.deliver(request)
    return new Promise(() => signal.addEventListener('abort', () => aborted.push(String(signal.reason))))
  }
  const running = await start(t, wired({ retry: 1, timeout: 'PT30S' }), { function: { deliver } }, { clock })
  await send(running)
  await hanging.until(1)
  clock.advance(29_999)
  t.equal(hanging.received.length, 1, 'not before')
  clock.advance(1)
  await hanging.until(2)
  clock.advance(30_000)
  await running.idle()
  t.equal(aborted.length, 2, 'the function is told')
  const [letter] = running.deadLetters.list()
  t.notOk(letter?.cause, 'no error attributes')
})

void t.test('by the real clock: 0.2 s, 0.4 s, then taken', async t => {
  const times: number[] = []
  const sink = localSink((_, nth) => (times.push(performance.now()), { status: nth < 3 ? 503 : 204 }))
  const running = await start(t, wired(undefined), { function: sink })
  await send(running)
  await running.idle()
  const [first, second, third] = times as [number, number, number]
  t.ok(second - first >= 199, 'never earlier than asked for')
  t.ok(third - second >= 399)
  t.strictSame(running.deadLetters.list(), [])
})
