// PingSource (knative.md §5), by a clock that is moved by hand.
import t from 'tap'
import type { Answer } from '../../../shared/local/broker/index.ts'
import { manualClock } from './clock.ts'
import { broker, pingSource, trigger, type Spec } from './manifests.ts'
import { localSink } from './sinks.ts'
import { ref, start } from './start.ts'

const toBroker = { ref: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: 'b' } }
const wired = (ping: Spec) => [
  broker('b'),
  trigger('t', { subscriber: ref('s') }),
  pingSource('tick', { sink: toBroker, ...ping })
]
// 2026-11-16T04:56:12Z, a Monday
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const schedules: Array<[schedule: string | undefined, spec: Spec, firstAfter: number]> = [
  [undefined, {}, 48 * SECOND],
  ['*/2 * * * * *', {}, 2 * SECOND],
  ['* * * * * *', {}, SECOND],
  ['*/10 * * * *', {}, 3 * MINUTE + 48 * SECOND],
  ['@hourly', {}, 3 * MINUTE + 48 * SECOND],
  ['@daily', {}, 19 * HOUR + 3 * MINUTE + 48 * SECOND],
  ['@midnight', {}, 19 * HOUR + 3 * MINUTE + 48 * SECOND],
  ['0 6 * * *', { timezone: 'Europe/Berlin' }, 3 * MINUTE + 48 * SECOND],
  ['@monthly', {}, 14 * 24 * HOUR + 19 * HOUR + 3 * MINUTE + 48 * SECOND]
]
for (const [schedule, spec, firstAfter] of schedules) {
  void t.test(`${schedule ?? 'no schedule: every minute'} ${Object.values(spec).join()}`, async t => {
    const clock = manualClock()
    const sink = localSink()
    const running = await start(t, wired({ ...(schedule && { schedule }), ...spec }), { s: sink }, { clock, random: () => 0 })
    clock.advance(firstAfter - 1)
    await running.idle()
    t.equal(sink.received.length, 0, 'not before')
    clock.advance(1)
    await sink.until(1)
    t.pass()
  })
}

void t.test('the event as Knative sends it', async t => {
  const clock = manualClock()
  const sink = localSink()
  const ping = {
    schedule: '* * * * * *',
    contentType: 'application/json',
    data: '{"tick":true}',
    ceOverrides: { extensions: { tick: 'fast' } }
  }
  const random = () => 0.5
  await start(t, wired(ping), { s: sink }, { clock, random })
  clock.advance(SECOND)
  t.equal(sink.received.length, 0, 'each tick is delayed at random, up to half a second')
  clock.advance(250)
  const [got] = await sink.until(1)
  t.match(got?.headers, {
    'ce-specversion': '1.0',
    'ce-id': /^[0-9a-f-]{36}$/,
    'ce-type': 'dev.knative.sources.ping',
    'ce-source': '/apis/v1/namespaces/test/pingsources/tick',
    'ce-time': '2026-11-16T04:56:13.25Z',
    'ce-tick': 'fast',
    'content-type': 'application/json',
    'kn-namespace': 'test',
    prefer: 'reply'
  })
  t.notOk(got?.headers['ce-subject'])
  t.equal(got?.body.toString(), '{"tick":true}')
  clock.advance(2 * SECOND)
  await sink.until(3)
  t.equal(new Set(sink.received.map(({ headers }) => headers['ce-id'])).size, 3)
})

void t.test('base64 data; no data', async t => {
  const clock = manualClock()
  const [sink, plain] = [localSink(), localSink()]
  const manifests = [
    pingSource('data', { schedule: '* * * * * *', dataBase64: 'AAE=', sink: ref('s') }),
    pingSource('none', { schedule: '* * * * * *', sink: ref('plain') })
  ]
  await start(t, manifests, { s: sink, plain }, { clock, random: () => 0 })
  clock.advance(SECOND)
  const [[got], [bare]] = await Promise.all([sink.until(1), plain.until(1)])
  t.strictSame(got?.body, Buffer.from([0, 1]))
  t.notOk(got?.headers.prefer, 'straight from a source')
  t.notOk(got?.headers['ce-knativearrivaltime'])
  t.equal(got?.headers['kn-namespace'], 'test')
  t.equal(bare?.body.length, 0)
  t.notOk(bare?.headers['content-type'])
})

void t.test('a tick that fails is tried five more times within two seconds, then dropped', async t => {
  const clock = manualClock()
  const sink = localSink((): Answer => ({ status: 503 }))
  let dropped = (): void => {}
  const warned = new Promise<void>(resolve => (dropped = resolve))
  const log = {
    debug() {},
    info() {},
    error() {},
    warn: (_: object, message: string) => message === 'a tick was dropped' && dropped()
  }
  await start(t, [pingSource('p', { schedule: '0 0 5 * * *', sink: ref('s') })], { s: sink }, { clock, random: () => 0, log })
  clock.advance(4 * MINUTE)
  for (let tries = 1; tries <= 5; tries++) {
    await sink.until(tries)
    while (clock.waits.length < 3 + tries) await new Promise(resolve => setImmediate(resolve))
    clock.advance(clock.waits.at(-1)!)
  }
  await warned
  t.equal(sink.received.length, 6)
  t.ok(clock.now() < Date.UTC(2026, 10, 16, 5, 0, 14))
})

void t.test('a sink that nobody answers for', async t => {
  const warnings: string[] = []
  const log = { debug() {}, info() {}, error() {}, warn: (_: object, message: string) => void warnings.push(message) }
  await start(t, [pingSource('p', { sink: ref('none') })], {}, { log })
  t.strictSame(warnings, ['PingSource test/p is not ready: nobody answers for its sink'])
})
