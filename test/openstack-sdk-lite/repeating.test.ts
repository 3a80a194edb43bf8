// HV-31: what is sent again, what is sent once, and when an endpoint is left alone.
import t from 'tap'
import { readPolicy } from 'openstack-sdk-lite'
import { asked, failure, open } from './scene.ts'

void t.test('repeating (HV-31)', async t => {
  const broken = { answer: { status: 503, body: { computeFault: { message: 'busy' } } } }
  await t.test('a read is repeated three times, each wait longer', async t => {
    const scene = await open(t)
    scene.fake.faults.add({ path: /aggregates/, times: 3, effect: broken })
    t.strictSame(await scene.cloud.aggregates.list(), [])
    t.strictSame(scene.waits, [200, 600, 1800])
    t.strictSame(
      scene.reports.filter(({ call }) => call === 'aggregates.list').map(({ attempt, status }) => [attempt, status]),
      [
        [1, 503],
        [2, 503],
        [3, 503],
        [4, 200]
      ]
    )
  })
  await t.test('then it is told', async t => {
    const scene = await open(t)
    scene.fake.faults.add({ path: /aggregates/, effect: broken })
    t.match(await failure(scene.cloud.aggregates.list()), {
      code: 'ServiceFault',
      status: 503,
      words: 'busy',
      retryable: true,
      maybeDone: false
    })
    t.equal(asked(scene, '/os-aggregates'), 4)
  })
  await t.test('a broken connection too', async t => {
    const scene = await open(t)
    scene.fake.faults.add({ path: /aggregates/, times: 2, effect: { lose: 'request' } })
    t.strictSame(await scene.cloud.aggregates.list(), [])
  })
  await t.test('Retry-After is the least wait', async t => {
    const scene = await open(t)
    scene.fake.faults.add({
      path: /aggregates/,
      times: 1,
      effect: { answer: { status: 429, body: {}, headers: { 'retry-after': '7' } } }
    })
    await scene.cloud.aggregates.list()
    t.strictSame(scene.waits, [7000])
  })
  await t.test('a wait beyond the deadline is not begun', async t => {
    const scene = await open(t)
    scene.fake.faults.add({ path: /aggregates/, effect: { answer: { status: 429, body: {}, headers: { 'retry-after': '60' } } } })
    t.match(await failure(scene.cloud.aggregates.list()), { code: 'TooManyRequests', retryAfterMs: 60_000 })
    t.strictSame(scene.waits, [])
  })
  await t.test('a refusal is not repeated', async t => {
    const scene = await open(t)
    await failure(scene.cloud.hypervisors.withServers('nobody'))
    t.equal(asked(scene, '/os-hypervisors/nobody'), 1)
  })
  for (const [what, effect, code] of [
    ['that was answered with 503', broken, 'ServiceFault'],
    ['whose answer was lost', { lose: 'answer' }, 'ConnectionLost']
  ] as const) {
    await t.test(`a write ${what} is sent once, and the error says that it may have been done`, async t => {
      const scene = await open(t)
      scene.fake.addAggregate('a')
      scene.fake.faults.add({ method: 'POST', path: /aggregates/, effect })
      t.match(await failure(scene.cloud.aggregates.addHost(1, 'hv1')), { code, maybeDone: true, retryable: true })
      t.equal(asked(scene, '/os-aggregates/1/action'), 1)
    })
  }
  await t.test('a write on a kept connection that breaks may have been done: what the server read before is unknown', async t => {
    const scene = await open(t)
    await scene.cloud.aggregates.list()
    scene.fake.faults.add({ method: 'DELETE', path: /servers/, effect: { lose: 'request' } })
    t.match(await failure(scene.cloud.servers.delete('x')), { code: 'ConnectionLost', maybeDone: true })
  })
  await t.test('a write that never left is known not to have been done', async t => {
    const { fake, cloud } = await open(t)
    await cloud.aggregates.list()
    await fake.close()
    t.match(await failure(cloud.aggregates.list()), { code: 'ConnectFailed' }) // no kept connection is left after this
    t.match(await failure(cloud.servers.delete('x')), { code: 'ConnectFailed', maybeDone: false })
  })
})

void t.test('breaker: an endpoint that fails again and again is left alone, then tried once', async t => {
  const scene = await open(t, { breaker: { failures: 3, pauseMs: 5_000 }, retry: { ...readPolicy, repeats: 0 } })
  const { fake, cloud, clock } = scene
  await cloud.aggregates.list()
  const lift = fake.faults.add({ service: 'compute', effect: { answer: { status: 500, body: {} } } })
  for (let i = 0; i < 3; i++) t.equal((await failure(cloud.aggregates.list())).code, 'ServiceFault')
  t.match(await failure(cloud.aggregates.list()), {
    code: 'CircuitOpen',
    retryAfterMs: 5_000,
    retryable: true,
    call: 'aggregates.list (C10)'
  })
  t.equal(asked(scene, '/os-aggregates'), 4, 'nothing was asked')
  t.strictSame(await cloud.traits.known(['CUSTOM_X']), [], 'another endpoint is another matter')
  clock.shift(5_000)
  t.equal((await failure(cloud.aggregates.list())).code, 'ServiceFault', 'the probe')
  t.equal((await failure(cloud.aggregates.list())).code, 'CircuitOpen')
  lift()
  clock.shift(5_000)
  t.strictSame(
    await Promise.all([cloud.aggregates.list(), failure(cloud.aggregates.list()).then(({ code }) => code)]),
    [[], 'CircuitOpen'],
    'one probe at a time'
  )
  t.strictSame(await cloud.aggregates.list(), [])
})

void t.test('rate limit: a burst, then one by one, and no endless queue', async t => {
  const { cloud, waits } = await open(t, { rate: { perSecond: 10, burst: 5 }, timeoutMs: 1_000 })
  await cloud.aggregates.list()
  for (let i = 0; i < 6; i++) await cloud.aggregates.list()
  t.ok(waits.length >= 3 && waits.every(ms => ms > 0 && ms <= 100), `waits: ${waits.join()}`)
  const slow = await open(t, { rate: { perSecond: 0.5, burst: 2 }, timeoutMs: 1_000 })
  await slow.cloud.aggregates.list()
  t.match(await failure(slow.cloud.aggregates.list()), { code: 'RateLimited', retryable: true })
})
