import t from 'tap'
import { Type } from 'typebox'
import { disabledBy, disabledReason, isOurs, mayEnable } from '../../shared/openstack/compute-service.ts'
import { openStackFields, prefixed, toEnv, underPrefix } from '../../shared/openstack/config.ts'
import { openCloud, tellUnsupported } from '../../shared/openstack/connect.ts'
import { driftEntries, type Drift, type Finding } from '../../shared/openstack/drift.ts'
import { failureOf } from '../../shared/openstack/failure.ts'
import { matchHost, namesOf } from '../../shared/openstack/host.ts'
import { createListings } from '../../shared/openstack/listings.ts'
import { requestIdOf } from '../../shared/openstack/request-id.ts'
import { OpenStackError } from 'openstack-sdk-lite'
import type { FakeOpenStack } from '../../shared/local/openstack/index.ts'
import { readConfig } from '../../shared/runtime/config.ts'
import { fakeOpenStack } from '../openstack-sdk-lite/fake.ts'
import { testPlatform } from '../runtime/platform.ts'
import { matchWhole } from '../assert/match-whole.ts'

void t.test('HV-32: the reason of a disabling says who and why, and fits into Nova', async t => {
  const reason = disabledReason({ by: 'drover-maintenance', why: 'maintenance=manual: new fans', askedBy: 'jane' })
  t.equal(reason, 'drover: maintenance=manual: new fans (asked by jane, drover-maintenance)')
  t.equal(disabledBy(reason), 'drover-maintenance')
  const long = disabledReason({ by: 'drover-maintenance', why: 'x'.repeat(500), askedBy: 'y'.repeat(500) })
  t.ok(long.length <= 255)
  t.equal(disabledBy(long), 'drover-maintenance', 'the words are cut, never the mark')
})

void t.test('HV-32: whose disabling may be undone', async t => {
  const disabled = (disabledReason: string | null) => ({ status: 'disabled', disabledReason }) as const
  t.equal(isOurs('Hypervisor CRD: spec.maintenance=manual'), true, 'of the operator before us')
  t.equal(isOurs('drovers at work'), false)
  t.equal(mayEnable(disabled('bad fans'), { takeover: false, first: true }), false)
  t.equal(mayEnable(disabled(null), { takeover: false, first: true }), false)
  t.equal(mayEnable(disabled('bad fans'), { takeover: true }), true)
  t.equal(mayEnable(disabled('New compute service disabled due to config option.'), { takeover: false, first: true }), true)
  t.equal(mayEnable(disabled('New compute service disabled due to config option.'), { takeover: false }), false)
})

void t.test('HV-28, HV-29: a host by equality', async t => {
  const host = (hostname: string, service = hostname) => ({ id: hostname, hostname, service: { id: 's', host: service } })
  const all = [host('node1'), host('node10'), host('my-node1'), host('x.example.com', 'node2')]
  t.equal(matchHost(all, ['node1']).found?.id, 'node1')
  t.equal(matchHost(all, ['node2']).found?.id, 'x.example.com', 'by the host of its service too')
  t.match(matchHost(all, ['node']), { reason: 'NotRegistered' })
  t.match(matchHost(all, ['node1', 'node10']), { reason: 'AmbiguousHost' })
  const metadata = { name: 'object', labels: { 'kubernetes.io/hostname': 'node1' } }
  t.strictSame(namesOf({ metadata }, ['{name}.example.com']), ['node1', 'node1.example.com'])
})

void t.test('AG-2: a listing serves everybody for its short life', async t => {
  let now = 0
  let asked = 0
  let fails = false
  const list = async () => {
    asked += 1
    if (fails) throw new Error('away')
    return []
  }
  const cloud = { hypervisors: { list }, services: { list }, aggregates: { list } } as unknown as Parameters<
    typeof createListings
  >[0]
  const listings = createListings(cloud, { maxAgeMs: 10_000, now: () => now })
  await Promise.all(Array.from({ length: 50 }, () => listings.aggregates()))
  t.equal(asked, 1)
  now = 9_999
  await listings.aggregates()
  t.equal(asked, 1)
  now = 10_000
  await listings.aggregates()
  t.equal(asked, 2)
  await listings.aggregates({ fresh: true })
  t.equal(asked, 3)
  listings.forget('aggregates')
  fails = true
  await t.rejects(listings.aggregates())
  fails = false
  await listings.aggregates()
  t.equal(asked, 5, 'a failure is not kept')
  await listings.services()
  t.equal(asked, 6, 'each kind by itself')
})

void t.test(
  'AG-2: what a write showed is in the listing; one that fails on its way is asked again, and harms nobody',
  async t => {
    const lost: unknown[] = []
    const onLost = (err: unknown): void => void lost.push(err)
    process.on('unhandledRejection', onLost)
    t.teardown(() => process.off('unhandledRejection', onLost))
    const aggregate = (hosts: string[]) => ({ id: 1, uuid: 'u', name: 'a', zone: null, hosts, metadata: {} })
    const answers: Array<PromiseWithResolvers<ReturnType<typeof aggregate>[]>> = []
    const list = () => {
      const answer = Promise.withResolvers<ReturnType<typeof aggregate>[]>()
      answers.push(answer)
      return answer.promise
    }
    const cloud = { aggregates: { list } } as unknown as Parameters<typeof createListings>[0]
    const listings = createListings(cloud, { now: () => 0 })
    const first = listings.aggregates()
    listings.noteMembership(aggregate(['hv1', 'hv9']), 'hv1')
    answers[0]?.reject(new Error('away'))
    await t.rejects(first, { message: 'away' })
    await new Promise(resolve => setImmediate(resolve))
    t.strictSame(lost, [], 'nobody waited for the noted one')
    const second = listings.aggregates()
    t.equal(answers.length, 2, 'asked again')
    listings.noteMembership(aggregate(['hv1', 'hv9']), 'hv1')
    answers[1]?.resolve([aggregate(['hv2'])])
    t.strictSame(await second, [aggregate(['hv2'])])
    t.strictSame(await listings.aggregates(), [aggregate(['hv2', 'hv1'])], 'of that host alone')
    listings.noteMembership(aggregate([]), 'hv2')
    t.strictSame(await listings.aggregates(), [aggregate(['hv1'])])
    t.equal(answers.length, 2)
  }
)

void t.test('drift: once while it lasts, for an hour after a repair', async t => {
  const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes))
  const finding = (action: Finding['action'], name = 'a'): Finding => ({
    kind: 'aggregate',
    name,
    expected: 'x',
    actual: 'y',
    action
  })
  const first = driftEntries(undefined, ['aggregate'], [finding('reported')], at(0))
  matchWhole(t, first, [{ name: 'a', since: '2026-01-01T00:00:00Z' }])
  matchWhole(t, driftEntries(first, ['aggregate'], [finding('reported')], at(5)), [{ since: '2026-01-01T00:00:00Z' }])
  t.strictSame(driftEntries(first, ['aggregate'], [], at(5)), [], 'gone')
  const repaired = driftEntries(first, ['aggregate'], [finding('repaired')], at(10))
  matchWhole(t, driftEntries(repaired, ['aggregate'], [], at(60)), [{ action: 'repaired', since: '2026-01-01T00:10:00Z' }])
  t.strictSame(driftEntries(repaired, ['aggregate'], [], at(70)), [])
  const others: Drift[] = [{ kind: 'trait', name: 't', action: 'repaired', since: '2026-01-01T00:00:00Z' }]
  t.strictSame(driftEntries(others, ['aggregate'], [], at(1)), [], "another function's entries are not ours to write")
})

void t.test('HV-68, HV-69: OS_* variables, files, and a second identity for the test project', async t => {
  const env = {
    OS_AUTH_URL: 'http://k/v3',
    OS_USERNAME: 'u',
    OS_PASSWORD_FILE: '/p',
    OS_PROJECT_ID: 'main',
    TEST_OS_PROJECT_NAME: 'test'
  }
  const schema = Type.Object({ ...openStackFields, ...prefixed('test') })
  const config = readConfig(schema, { env, files: path => (path === '/p' ? 'canary\n' : undefined) })
  t.equal(toEnv(config)['OS_PASSWORD'], 'canary')
  t.notMatch(JSON.stringify(config), /canary/, 'HV-69')
  t.strictSame(toEnv(underPrefix(config, 'test')), {
    OS_AUTH_URL: 'http://k/v3',
    OS_USERNAME: 'u',
    OS_PASSWORD: 'canary',
    OS_PROJECT_NAME: 'test'
  })
})

void t.test(
  'HV-30: an OpenStack that is too old is told at the start, by the name of the call; one that is away is not',
  async t => {
    const config = (fake: FakeOpenStack) => ({
      osAuthUrl: fake.authUrl,
      osUsername: 'admin',
      osPassword: fake.account.password,
      osProjectName: 'admin'
    })
    const old = await fakeOpenStack(t, { versions: { compute: { min: '2.1', max: '2.88' } } })
    const recent = await fakeOpenStack(t)
    const away = await fakeOpenStack(t)
    away.faults.add({ service: 'identity', effect: { answer: { status: 403, body: {} } } })
    const told = async (fake: FakeOpenStack) => {
      const platform = testPlatform()
      const cloud = await openCloud(config(fake), platform)
      t.teardown(() => cloud.close())
      await tellUnsupported(cloud, platform.log)
      return platform.lines().filter(({ level }) => Number(level) >= 50)
    }
    matchWhole(t, await told(old), [
      { words: /hypervisors\.search \(C1\): needs a server with compute 2\.90, this one offers 2\.1 to 2\.88/ }
    ])
    t.strictSame(await told(recent), [])
    t.strictSame(await told(away), [])
  }
)

void t.test('a failure in words: what the service said, or what went wrong; the same again in the same words', async t => {
  const words = (err: OpenStackError): string => failureOf(err).words
  const call = 'servers.create (C7)'
  t.equal(words(new OpenStackError('BadInput', 'there is no image x')), 'OpenStack: there is no image x (BadInput)')
  t.equal(
    words(new OpenStackError('Conflict', '409 busy', { call, status: 409, words: 'busy', requestId: 'req-1' })),
    `${call}: busy (Conflict)`
  )
  t.equal(
    words(new OpenStackError('ServiceFault', '503 ServiceFault', { call, status: 503 })),
    `${call}: answered 503 (ServiceFault)`
  )
  const lost = new OpenStackError('ConnectFailed', 'ECONNREFUSED: nobody', { requestId: 'req-2' }).about({ call })
  t.equal(words(lost), `${call}: ECONNREFUSED: nobody (ConnectFailed)`)
  t.throws(() => failureOf(new TypeError('ours')), { message: 'ours' })
})

void t.test('HV-64, HV-67: calls are counted and logged, without secrets', async t => {
  const fake = await fakeOpenStack(t, { hosts: ['hv1'] })
  const platform = testPlatform()
  const config = { osAuthUrl: fake.authUrl, osUsername: 'admin', osPassword: fake.account.password, osProjectName: 'admin' }
  const cloud = await openCloud(config, platform)
  t.teardown(() => cloud.close())
  t.strictSame(fake.requests, [], 'nothing is asked before the first call')
  const trace = requestIdOf('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
  await cloud.with(trace).aggregates.list()
  await t.rejects(cloud.hypervisors.withServers('nobody'))
  const text = await platform.metrics.metrics()
  t.match(text, /drover_openstack_calls_total\{service="compute",call="aggregates.list",code="200"\} 1/)
  t.match(text, /drover_openstack_calls_total\{service="compute",call="hypervisors.withServers",code="404"\} 1/)
  t.match(
    platform.lines().find(({ call }) => call === 'aggregates.list'),
    { globalRequestId: 'req-0af76519-16cd-43dd-8448-eb211c80319c' }
  )
  t.notMatch(platform.text(), new RegExp(fake.account.password))
  t.strictSame(requestIdOf(undefined), {})
})
