import t from 'tap'
import { Type } from 'typebox'
import { disabledBy, disabledReason, isOurs, mayEnable } from '../../shared/openstack/compute-service.ts'
import { openStackFields, prefixed, toEnv, underPrefix } from '../../shared/openstack/config.ts'
import { openCloud } from '../../shared/openstack/connect.ts'
import { driftEntries, type Drift, type Finding } from '../../shared/openstack/drift.ts'
import { matchHost, namesOf } from '../../shared/openstack/host.ts'
import { createListings } from '../../shared/openstack/listings.ts'
import { requestIdOf } from '../../shared/openstack/request-id.ts'
import { readConfig } from '../../shared/runtime/config.ts'
import { fakeOpenStack } from '../openstack-sdk-lite/fake.ts'
import { testPlatform } from '../runtime/platform.ts'

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
  t.same(namesOf({ metadata }, ['{name}.example.com']), ['node1', 'node1.example.com'])
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
  t.match(first, [{ name: 'a', since: '2026-01-01T00:00:00Z' }])
  t.match(driftEntries(first, ['aggregate'], [finding('reported')], at(5)), [{ since: '2026-01-01T00:00:00Z' }])
  t.same(driftEntries(first, ['aggregate'], [], at(5)), [], 'gone')
  const repaired = driftEntries(first, ['aggregate'], [finding('repaired')], at(10))
  t.match(driftEntries(repaired, ['aggregate'], [], at(60)), [{ action: 'repaired', since: '2026-01-01T00:10:00Z' }])
  t.same(driftEntries(repaired, ['aggregate'], [], at(70)), [])
  const others: Drift[] = [{ kind: 'trait', name: 't', action: 'repaired', since: '2026-01-01T00:00:00Z' }]
  t.same(driftEntries(others, ['aggregate'], [], at(1)), [], "another function's entries are not ours to write")
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
  t.same(toEnv(underPrefix(config, 'test')), {
    OS_AUTH_URL: 'http://k/v3',
    OS_USERNAME: 'u',
    OS_PASSWORD: 'canary',
    OS_PROJECT_NAME: 'test'
  })
})

void t.test('HV-64, HV-67: calls are counted and logged, without secrets', async t => {
  const fake = await fakeOpenStack(t, { hosts: ['hv1'] })
  const platform = testPlatform()
  const config = { osAuthUrl: fake.authUrl, osUsername: 'admin', osPassword: fake.account.password, osProjectName: 'admin' }
  const cloud = await openCloud(config, platform)
  t.teardown(() => cloud.close())
  t.same(fake.requests, [], 'nothing is asked before the first call')
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
  t.same(requestIdOf(undefined), {})
})
