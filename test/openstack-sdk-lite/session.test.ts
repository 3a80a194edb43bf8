import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import {
  type CallReport,
  type Cloud,
  type Clock,
  connect,
  type ConnectOptions,
  OpenStackError,
  readPolicy
} from 'openstack-sdk-lite'
import type { FakeOpenStack, FakeOptions } from '../../shared/local/openstack/index.ts'
import { fakeOpenStack, passwordOf } from './fake.ts'

interface Scene {
  fake: FakeOpenStack
  cloud: Cloud
  reports: CallReport[]
  /** how long each wait would have been */
  waits: number[]
  clock: Clock & { shift(ms: number): void }
}

// time that stands still unless it is moved, and waits that are noted and not waited
function standingClock(waits: number[]): Scene['clock'] {
  let nowMs = Date.now()
  return {
    now: () => nowMs,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      waits.push(ms)
      nowMs += ms
    },
    random: () => 0,
    shift(ms) {
      nowMs += ms
    }
  }
}

async function open(t: Test, options: Partial<ConnectOptions> = {}, fakeOptions: FakeOptions = {}): Promise<Scene> {
  const fake = await fakeOpenStack(t, { hosts: ['hv1', 'hv2'], ...fakeOptions })
  const reports: CallReport[] = []
  const waits: number[] = []
  const clock = standingClock(waits)
  const cloud = await connect({ ...passwordOf(fake), clock, onCall: report => reports.push(report), ...options })
  t.teardown(() => cloud.close())
  return { fake, cloud, reports, waits, clock }
}

const failure = (call: Promise<unknown>): Promise<OpenStackError> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (err: unknown) => (err instanceof OpenStackError ? err : Promise.reject(err as Error))
  )
const asked = ({ fake }: Scene, path: string): number => fake.requests.filter(request => request.path === path).length

void t.test('tokens (HV-31)', async t => {
  await t.test('concurrent callers share one', async t => {
    const { fake, cloud } = await open(t)
    await Promise.all(Array.from({ length: 20 }, () => cloud.aggregates.list()))
    t.equal(fake.tokens.issued(), 1)
    t.equal(fake.requests.filter(({ path }) => path === '/').length, 1, 'and one discovery')
  })

  await t.test('it is renewed before it ends', async t => {
    const { fake, cloud, clock } = await open(t)
    await cloud.aggregates.list()
    clock.shift(24 * 3_600_000 - 301_000)
    await cloud.aggregates.list()
    t.equal(fake.tokens.issued(), 1, '301 s before the end it is still good')
    clock.shift(2_000)
    await cloud.aggregates.list()
    t.equal(fake.tokens.issued(), 2)
  })

  await t.test('one that lives for a minute is not renewed at every call', async t => {
    const { fake, cloud } = await open(t)
    fake.tokens.setLifetime(60_000)
    for (let i = 0; i < 5; i++) await cloud.aggregates.list()
    t.equal(fake.tokens.issued(), 1)
  })

  await t.test('revoked in flight: renewed once for all, and even a write is sent again', async t => {
    const scene = await open(t)
    const { fake, cloud } = scene
    fake.addAggregate('a')
    await cloud.aggregates.list()
    fake.tokens.revokeAll()
    const [added] = await Promise.all([
      cloud.aggregates.addHost(1, 'hv1'),
      cloud.servers.list(),
      cloud.services.list(),
      cloud.hypervisors.list()
    ])
    t.strictSame(added.hosts, ['hv1'])
    t.equal(fake.tokens.issued(), 2)
  })

  await t.test('a service that never takes one: two tries, then Unauthorized', async t => {
    const scene = await open(t)
    scene.fake.faults.add({
      service: 'compute',
      path: /aggregates/,
      effect: { answer: { status: 401, body: { error: { message: 'go away' } } } }
    })
    const err = await failure(scene.cloud.aggregates.list())
    t.match(err, { code: 'Unauthorized', words: 'go away', retryable: false })
    t.equal(asked(scene, '/os-aggregates'), 2)
  })

  await t.test('application credential', async t => {
    const { fake } = await open(t)
    const { id, secret } = fake.account.applicationCredential
    const cloud = await connect({ auth: { kind: 'applicationCredential', url: fake.authUrl, credential: { id }, secret } })
    t.teardown(() => cloud.close())
    t.strictSame(await cloud.aggregates.list(), [])
  })
})

void t.test('endpoints: region and interface choose (HV-31)', async t => {
  const two = { regions: ['west', 'east'] }
  await t.test('a region must be named when there are several', async t => {
    const { cloud } = await open(t, { region: undefined }, two)
    t.match(await failure(cloud.aggregates.list()), { code: 'NoEndpoint', message: /west, east: name a region/ })
  })
  await t.test('a named one is taken', async t => {
    const { cloud } = await open(t, { region: 'east', interface: 'internal' }, two)
    t.strictSame(await cloud.aggregates.list(), [])
  })
  await t.test('an address of one’s own replaces the catalog’s', async t => {
    const { cloud } = await open(t, {
      endpoints: { compute: 'http://127.0.0.1:1/compute' },
      retry: { ...readPolicy, repeats: 0 }
    })
    t.match(await failure(cloud.aggregates.list()), { code: 'ConnectFailed', retryable: true })
  })
})

void t.test('microversions (HV-30)', async t => {
  const sent = ({ fake }: Scene, path: string): string | undefined =>
    fake.requests.find(request => request.path === path)?.version
  await t.test('each request carries its own: the newest that all agree on', async t => {
    const scene = await open(t)
    await Promise.all([
      scene.cloud.aggregates.list(),
      scene.cloud.hypervisors.list(),
      scene.cloud.traits.known(['CUSTOM_X']),
      scene.cloud.images.named('x')
    ])
    t.equal(sent(scene, '/os-aggregates'), 'compute 2.94', 'the cap, though the server has 2.96')
    t.equal(sent(scene, '/os-hypervisors/detail'), 'compute 2.87')
    t.equal(sent(scene, '/traits'), 'placement 1.39')
    t.equal(sent(scene, '/v2/images'), undefined)
  })
  await t.test('an older server', async t => {
    const scene = await open(t, {}, { versions: { compute: { min: '2.1', max: '2.91' } } })
    await scene.cloud.aggregates.list()
    t.equal(sent(scene, '/os-aggregates'), 'compute 2.91')
    await scene.cloud.check()
  })
  await t.test('floor unmet: an error that names the call, before anything is asked', async t => {
    const scene = await open(t, {}, { versions: { compute: { min: '2.1', max: '2.89' } } })
    const err = await failure(scene.cloud.servers.liveMigrate('x'))
    t.match(err, {
      code: 'VersionUnsupported',
      retryable: false,
      message: /servers\.liveMigrate \(C14\): needs a server with compute 2\.90.*2\.1 to 2\.89/
    })
    t.match(await failure(scene.cloud.check()), { code: 'VersionUnsupported', call: 'hypervisors.search (C1)' })
    t.equal(scene.fake.requests.filter(({ path }) => path !== '/' && path !== '/v3/auth/tokens').length, 0)
  })
  await t.test('a service replaced by an older release is asked again', async t => {
    const { fake, cloud } = await open(t)
    await cloud.aggregates.list()
    fake.faults.add({ path: /aggregates/, times: 1, effect: { answer: { status: 406, body: {} } } })
    t.match(await failure(cloud.aggregates.list()), { code: 'NotAcceptable' })
    await cloud.aggregates.list()
    t.equal(fake.requests.filter(({ path }) => path === '/').length, 2)
  })
})

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

void t.test('deadlines (HV-31)', async t => {
  await t.test('a whole call ends in time, and so says', async t => {
    const { fake, cloud } = await open(t, { timeoutMs: 200 })
    await cloud.aggregates.list()
    fake.faults.add({ service: 'compute', effect: { hang: true } })
    t.match(await failure(cloud.aggregates.list()), {
      code: 'TimedOut',
      message: /aggregates\.list \(C10\): no answer within 200 ms/,
      maybeDone: false
    })
    t.match(await failure(cloud.servers.delete('x')), { code: 'TimedOut', maybeDone: true })
  })
  await t.test('the caller may give up', async t => {
    const { fake, cloud } = await open(t)
    fake.faults.add({ service: 'compute', path: /aggregates/, effect: { hang: true } })
    const controller = new AbortController()
    const call = failure(cloud.with({ signal: controller.signal }).aggregates.list())
    controller.abort(new Error('enough'))
    t.match(await call, { code: 'Aborted', cause: { message: 'enough' } })
    t.match(await failure(cloud.with({ signal: controller.signal }).aggregates.list()), { code: 'Aborted' })
  })
  await t.test('one caller who gives up does not take the token from the others', async t => {
    const { fake, cloud } = await open(t)
    const controller = new AbortController()
    fake.faults.add({ service: 'identity', times: 1, effect: { delayMs: 50 } })
    const [gone, served] = [failure(cloud.with({ signal: controller.signal }).aggregates.list()), cloud.aggregates.list()]
    controller.abort()
    t.match(await gone, { code: 'Aborted' })
    t.strictSame(await served, [])
    t.equal(fake.tokens.issued(), 1)
  })
  await t.test('connecting has its own, shorter time', async t => {
    const cloud = await connect({
      auth: { kind: 'token', url: await fullServer(t), token: 'x' },
      connectTimeoutMs: 100,
      retry: { ...readPolicy, repeats: 0 }
    })
    t.teardown(() => cloud.close())
    t.match(await failure(cloud.aggregates.list()), { code: 'ConnectFailed', message: /no connection within 100 ms/ })
  })
})

// A server whose backlog is full: the kernel drops further connection requests. Node cannot set a backlog of none.
const full = `
import socket, time
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(0)
waiting = [socket.socket() for _ in range(4)]
for client in waiting: client.setblocking(False); client.connect_ex(server.getsockname())
print(server.getsockname()[1], flush=True); time.sleep(60)`

async function fullServer(t: Test): Promise<string> {
  const child = spawn('python3', ['-c', full], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return `http://127.0.0.1:${port.toString().trim()}`
}

void t.test('HV-67: ids go both ways', async t => {
  const { fake, cloud, reports } = await open(t)
  const globalRequestId = 'req-9f0c6b0e-1111-4222-8333-444455556666'
  await cloud.with({ globalRequestId }).aggregates.list()
  t.equal(fake.requests.find(({ path }) => path === '/os-aggregates')?.globalRequestId, globalRequestId)
  t.match(
    reports.find(({ call }) => call === 'aggregates.list'),
    { row: 'C10', service: 'compute', requestId: /^req-/, globalRequestId, version: '2.94', status: 200 }
  )
  await cloud.aggregates.list()
  t.equal(reports.at(-1)?.globalRequestId, undefined, 'and stay with their caller')
})

void t.test('connections are kept', async t => {
  const fake = await fakeOpenStack(t)
  let connections = 0
  fake.onConnection(() => connections++)
  const cloud = await connect(passwordOf(fake))
  t.teardown(() => cloud.close())
  for (let i = 0; i < 10; i++) await cloud.aggregates.list()
  t.equal(connections, 1)
})

void t.test('AG-13: a call without an id is never made', async t => {
  const { fake, cloud } = await open(t)
  t.match(await failure(cloud.resourceProviders.delete('')), { code: 'BadInput' })
  t.equal(fake.requests.length, 0)
})
