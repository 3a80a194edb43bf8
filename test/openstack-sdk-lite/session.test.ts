// Tokens, endpoints, deadlines, ids and connections of a session.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { connect, readPolicy } from 'openstack-sdk-lite'
import { eventually } from '../servers/eventually.ts'
import { fakeOpenStack, passwordOf } from './fake.ts'
import { asked, failure, open } from './scene.ts'

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

void t.test('deadlines (HV-31)', async t => {
  await t.test('a whole call ends in time, and so says', async t => {
    const { fake, cloud } = await open(t, { timeoutMs: 200 })
    await eventually('a token and the endpoints, however busy the machine is', () =>
      cloud.aggregates.list().catch(() => undefined)
    )
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
