// HV-16…HV-18 on the real API server, under the function's own role: samples and ends of agents, Nova's records, history, clean-up.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import migration from '../../../functions/migration/handler.ts'
import { connect } from '../../../shared/kube/index.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { Migration } from '../../../shared/schema/migration.ts'
import { fakeOpenStack, passwordOf } from '../../openstack-sdk-lite/fake.ts'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { request } from '../../servers/request.ts'
import { rightsOf } from '../../servers/rights.ts'
import { environmentOf } from '../host-life/life.ts'
import { run } from '../host-life/platform.ts'

t.setTimeout(600_000)
const namespace = 'monsoon3'
const api = await ownKubernetes(t)
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const fake = await fakeOpenStack(t, { hosts: ['hv1', 'hv2', 'hv3'] })
fake.host('hv1').liveMoveMs = 3_600_000
const running = await run(t, api, [migration], environmentOf({ options: passwordOf(fake) }))

const find = (name: string) => admin.find(Migration, name, namespace)
const facts = (server: string, host = 'hv1') => ({
  host,
  at: new Date().toISOString(),
  bootId: 'boot-1',
  epoch: 1,
  server,
  name: 'vm'
})
const sample = (server: string, stats: object, more: object = {}) =>
  running.post('migration', 'sap.cloud.kvm.migration.progressed.v1', { ...facts(server), origin: 'hv1', stats, ...more })
const end = (server: string, result: string, stats: object = {}) =>
  running.post('migration', 'sap.cloud.kvm.migration.ended.v1', { ...facts(server), origin: 'hv1', stats, result })
const figures = {
  type: 'unbounded',
  operation: 'migration_out',
  timeElapsedMs: 35_078,
  dataTotal: 64 * 2 ** 30,
  dataProcessed: 2 ** 30,
  dataRemaining: 63 * 2 ** 30,
  memBps: 512 * 2 ** 20,
  memDirtyRate: 1250,
  memIteration: 3
}
const move = async (id: string): Promise<void> => {
  const token = fake.tokens.issue('password', '', false).id
  const headers = { 'x-auth-token': token, 'content-type': 'application/json', 'openstack-api-version': 'compute 2.90' }
  const body = JSON.stringify({ 'os-migrateLive': { host: 'hv2', block_migration: 'auto' } })
  const url = `${fake.authUrl.replace('/identity/v3', '/compute/v2.1')}/servers/${id}/action`
  const answer = await fetch(url, { method: 'POST', headers, body })
  await answer.arrayBuffer()
  await eventually('the move to begin', async () =>
    fake.world.migrations.some(({ instance, status }) => instance.id === id && status === 'running')
  )
}

const moved = fake.addServer({ name: 'vm', host: 'hv1' })

await t.test(
  'HV-17, HV-18: the first sample makes the object, with figures as texts and numbers and the destination that Nova knows',
  async t => {
    await move(moved.id)
    await admin.create(Eviction, { metadata: { name: 'drain' }, spec: { hypervisor: 'hv1', reason: 'fans' } })
    await admin.applyStatus(Eviction, {
      metadata: { name: 'drain' },
      status: { outstandingRamMb: 0, instances: [{ id: moved.id, state: 'Migrating' }] }
    })
    t.equal(await sample(moved.id, figures), 204)
    const stored = await find(moved.id)
    t.match(stored?.status, {
      serverId: moved.id,
      origin: 'hv1',
      destination: 'hv2',
      novaMigrationId: String(fake.world.migrations[0]?.id),
      phase: 'Running',
      type: 'unbounded',
      operation: 'migration_out',
      timeElapsed: '35.078s',
      dataTotal: '64.0 GiB',
      dataRemaining: '63.0 GiB',
      memBps: '512.0 MiB/s',
      memDirtyRate: '1250/s',
      memIteration: 3,
      stats: { dataTotal: 64 * 2 ** 30, memBps: 512 * 2 ** 20, memDirtyRate: 1250 },
      evictionRef: { name: 'drain' }
    })
    t.strictSame(
      [...new Set(stored?.metadata.managedFields?.map(({ manager }) => manager))],
      ['drover-migration'],
      'HV-18: the only writer'
    )
  }
)

await t.test('the columns are those of the listing in use', async t => {
  const path = `/apis/kvm.cloud.sap/v1alpha1/namespaces/${namespace}/migrations/${moved.id}`
  const accept = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  const { body } = await request<{ columnDefinitions: { name: string; priority: number }[]; rows: { cells: unknown[] }[] }>(
    api,
    'GET',
    path,
    undefined,
    accept
  )
  const shown = body.columnDefinitions.flatMap(({ name, priority }, at) =>
    priority === 0 ? [[name, body.rows[0]?.cells[at]]] : []
  )
  t.strictSame(
    shown.map(([name]) => name),
    [
      'Name',
      'Origin',
      'Destination',
      'Type',
      'Operation',
      'Started',
      'Elapsed',
      'Data Total',
      'Data Processed',
      'Data Remaining',
      'Memory TX',
      'Memory Dirty Rate',
      'Memory Iteration'
    ]
  )
  t.match(Object.fromEntries(shown), {
    Origin: 'hv1',
    Destination: 'hv2',
    Elapsed: '35.078s',
    'Data Total': '64.0 GiB',
    'Memory TX': '512.0 MiB/s'
  })
})

await t.test('HV-16: the end is told once by each side; a later move reuses the object, and the first is history', async t => {
  t.equal(await end(moved.id, 'success', { ...figures, downtimeMs: 42 }), 204)
  t.equal(await end(moved.id, 'success'), 204, 'told again, or by the other side')
  const { status: first } = (await find(moved.id)) ?? {}
  t.match(first, { phase: 'Completed', result: 'success', destination: 'hv2', downtime: '42ms' })
  t.equal(first?.history, undefined)
  const later = new Date(Date.now() + 120_000).toISOString()
  t.equal(await sample(moved.id, { ...figures, timeElapsedMs: 100 }, { at: later, origin: 'hv2', host: 'hv2' }), 204)
  const { status: second } = (await find(moved.id)) ?? {}
  t.match(second, { phase: 'Running', history: [{ result: 'success', downtimeMs: 42, bytes: 2 ** 30, iterations: 3 }] })
  t.not(second?.started, first?.started)
})

await t.test('a move of which no agent tells is followed by the record of Nova', async t => {
  const cold = fake.addServer({ name: 'cold', host: 'hv1' })
  await move(cold.id)
  const status = { outstandingRamMb: 0, instances: [{ id: cold.id, state: 'Migrating' as const }] }
  await admin.applyStatus(Eviction, { metadata: { name: 'drain' }, status })
  t.strictSame(await running.tick('fast'), [204])
  t.match((await find(cold.id))?.status, { phase: 'Running', origin: 'hv1', destination: 'hv2', evictionRef: { name: 'drain' } })
  const record = fake.world.migrations.find(({ instance }) => instance.id === cold.id)
  if (record) record.status = 'failed'
  t.strictSame(await running.tick('fast'), [204])
  t.match((await find(cold.id))?.status, { phase: 'Failed', result: 'failed' })
})

await t.test('an outage of Nova: the samples go on', async t => {
  const lift = fake.faults.add({ service: 'compute', effect: { answer: { status: 503 } } })
  const id = randomUUID()
  t.equal(await sample(id, figures), 204)
  t.match((await find(id))?.status, { phase: 'Running', dataTotal: '64.0 GiB' })
  lift()
})

await t.test('HV-16: what ended 30 days ago is deleted; what is younger or has not ended is kept', async t => {
  const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().replace(/\.\d+Z$/, 'Z')
  const make = async (name: string, status: object): Promise<void> => {
    await admin.create(Migration, { metadata: { name, namespace }, spec: {} })
    await admin.applyStatus(Migration, { metadata: { name, namespace }, status: { started: daysAgo(40), ...status } })
  }
  await make('old', { phase: 'Completed', finishedAt: daysAgo(31) })
  await make('young', { phase: 'Failed', finishedAt: daysAgo(29) })
  t.strictSame(await running.tick('fast'), [204])
  t.ok(await find('old'), 'only the slow tick cleans up')
  t.strictSame(await running.tick('slow'), [204])
  t.equal(await find('old'), undefined)
  t.ok(await find('young'))
  t.ok(await find(moved.id))
})

await t.test('a sample without end: Lost after a while, when Nova has nothing under way', async t => {
  const name = randomUUID()
  await admin.create(Migration, { metadata: { name, namespace }, spec: {} })
  const started = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z')
  await admin.applyStatus(Migration, {
    metadata: { name, namespace },
    status: { started, phase: 'Running', stats: { sampledAt: started } }
  })
  t.strictSame(await running.tick('fast'), [204])
  t.match((await find(name))?.status, { phase: 'Lost', reason: 'Silent' })
})

await t.test('its role is the smallest that works', async t => {
  const { unused, refused } = await rightsOf(api, 'migration.yaml', 'migration')
  t.strictSame({ unused, refused }, { unused: [], refused: [] })
})
