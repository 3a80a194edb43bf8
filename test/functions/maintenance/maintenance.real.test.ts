// Long: API server and functions are started once for all of it. HV-44…HV-47: maintenance and evict as one workflow, each under its own role on the real API server, with the cluster agent between them and a
// behaving OpenStack behind them.
import t from 'tap'
import evict from '../../../functions/evict/handler.ts'
import maintenance from '../../../functions/maintenance/handler.ts'
import { connect, Event } from '../../../shared/kube/index.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { fakeOpenStack, passwordOf } from '../../openstack-sdk-lite/fake.ts'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { rightsOf } from '../../servers/rights.ts'
import { condition } from '../host-life/fixtures.ts'
import { environmentOf } from '../host-life/life.ts'
import { watchMoves } from '../evict/agents.ts'
import { run } from '../host-life/platform.ts'

t.setTimeout(600_000)
const api = await ownKubernetes(t)
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const hosts = ['hv1', 'hv2', 'hv3', 'dotted.example.com', 'spare']
const fake = await fakeOpenStack(t, { hosts })
const env = { ...environmentOf({ options: passwordOf(fake) }), VERIFY_GAP: '200ms', SETTLE_GAP: '50ms', LISTING_AGE: '0s' }
const running = await run(t, api, [maintenance, evict], env)
await running.watch()
const ticking = new AbortController()
watchMoves(
  t,
  async () => fake.world.migrations.map(({ id, instance, source, status }) => ({ id, server: instance.id, source, status })),
  (type, data) => running.post('evict', type, data)
)
const ticks = (async () => {
  while (!ticking.signal.aborted) {
    await running.tick('fast')
    await new Promise(resolve => setTimeout(resolve, 500))
  }
})()
t.teardown(async () => {
  ticking.abort()
  await ticks
})

async function make(name: string, more: object[] = []): Promise<void> {
  const { id, serviceId } = fake.host(name)
  await admin.create(Hypervisor, {
    metadata: { name, labels: { 'topology.kubernetes.io/zone': 'nova', 'kubernetes.metal.cloud.sap/bb': 'bb1' } }
  })
  await admin.applyStatus(Hypervisor, {
    metadata: { name },
    status: {
      hypervisorId: id,
      serviceId: serviceId ?? '',
      nova: { host: name },
      conditions: [condition('Onboarding', 'False'), ...more] as never
    }
  })
}
const set = (name: string, spec: Partial<Hypervisor['spec']>) => admin.patch(Hypervisor, { name }, { spec })
const stored = async (name: string): Promise<Hypervisor> => {
  const found = await admin.find(Hypervisor, name)
  if (!found) throw new Error(`no Hypervisor ${name}`)
  return found
}
const says = (what: string, name: string, type: string, status: string, reason: string) =>
  eventually(
    what,
    async () => {
      const found = (await stored(name)).status?.conditions?.find(known => known.type === type)
      return found?.status === status && found.reason === reason
    },
    60_000
  )
/** The same again is counted in the Event that is there. */
const toldTwice = (name: string, reason: string) =>
  eventually(`${reason} of ${name} to be told twice`, async () => {
    const { items } = await admin.list(Event, { namespace: 'default' })
    return items.some(event => event.regarding?.name === name && event.reason === reason && (event.series?.count ?? 1) > 1)
  })
const on = (host: string): string[] =>
  [...fake.world.instances.values()].filter(instance => instance.host === host).map(({ id }) => id)

t.test('manual: disabled with the reason, drained, verified empty, then cleared: enabled again', async t => {
  await make('hv1')
  for (let at = 0; at < 6; at++) fake.addServer({ name: `s${at}`, host: 'hv1' })
  await set('hv1', { maintenance: 'manual', maintenanceReason: 'new fans' })
  await says('the drain', 'hv1', 'Evicting', 'False', 'Succeeded')
  const { status } = await stored('hv1')
  t.strictSame(on('hv1'), [], 'HV-45: nobody is left')
  t.match(status, {
    evicted: true,
    maintenance: { mode: 'manual', reason: 'new fans', evictionRef: { name: 'hv1', verdict: 'Succeeded' } }
  })
  t.match(
    status?.conditions?.find(({ type }) => type === 'HypervisorDisabled'),
    { status: 'True', reason: 'Succeeded' }
  )
  t.match(
    fake.host('hv1'),
    { status: 'disabled', disabledReason: /^drover: maintenance=manual: new fans .*drover-maintenance\)$/ },
    'HV-32'
  )
  const eviction = await admin.find(Eviction, 'hv1')
  t.match(
    eviction?.metadata,
    {
      labels: { 'kubernetes.metal.cloud.sap/bb': 'bb1' },
      ownerReferences: [{ kind: 'Hypervisor', name: 'hv1', controller: true }]
    },
    'HV-44'
  )

  await set('hv1', { maintenance: '' })
  await eventually('the host to be enabled', async () => fake.host('hv1').status === 'enabled', 60_000)
  await eventually(
    'Evicting to be gone',
    async () => !(await stored('hv1')).status?.conditions?.some(({ type }) => type === 'Evicting')
  )
  t.equal(await admin.find(Eviction, 'hv1'), undefined)
  t.match((await stored('hv1')).status, { evicted: false, maintenance: { mode: '' } })
  const record = await eventually('the record of all four acts', async () => {
    const lines = (await stored('hv1')).status?.history?.filter(({ actor }) => actor === 'drover-maintenance') ?? []
    return lines.length >= 4 && lines.map(({ kind, from, to }) => `${kind}: ${from} → ${to}`)
  })
  for (const act of [
    'service nova-compute: enabled → disabled',
    'eviction hv1: absent → asked for',
    'eviction hv1: over → deleted',
    'service nova-compute: disabled → enabled'
  ])
    t.ok(record.includes(act), `HV-67: ${act}`)
})

t.test('HV-45: servers that cannot move keep the host from being called evicted; HV-29: a dotted name', async t => {
  await make('dotted.example.com')
  const stuck = fake.addServer({ name: 'rescued', host: 'dotted.example.com' })
  stuck.vmState = 'rescued'
  fake.addServer({ name: 'fine', host: 'dotted.example.com' })
  await set('dotted.example.com', { maintenance: 'auto' })
  await says('the verdict', 'dotted.example.com', 'Evicting', 'True', 'Failed')
  t.strictSame(on('dotted.example.com'), [stuck.id], 'the other one went all the same (EV-9)')
  t.equal((await stored('dotted.example.com')).status?.evicted, false)
  t.match((await admin.find(Eviction, 'dotted.example.com'))?.status, {
    verdict: 'Incomplete',
    progress: { blocked: 1, waiting: 0, running: 0 }
  })
  stuck.vmState = 'active' // somebody ends the rescue: the Eviction is still watched (EV-24)
  await running.tick('slow', 'evict')
  await says('the late success', 'dotted.example.com', 'Evicting', 'False', 'Succeeded')
  t.strictSame(on('dotted.example.com'), [])
})

t.test('HV-46: a server on the drained host opens it again; HV-47: another mode keeps the Eviction', async t => {
  const before = await admin.find(Eviction, 'dotted.example.com')
  const late = fake.addServer({ name: 'late', host: 'dotted.example.com' })
  const instances = [{ id: late.id, name: 'late', active: true }]
  const agent = { lastHeartbeat: new Date().toISOString() }
  await admin.patch(
    Hypervisor,
    { name: 'dotted.example.com' },
    { status: { instances, numInstances: 1, agent } },
    { subresource: 'status' }
  )
  await eventually('the server to leave again', async () => on('dotted.example.com').length === 0, 60_000)
  await admin.patch(
    Hypervisor,
    { name: 'dotted.example.com' },
    { status: { instances: [], numInstances: 0 } },
    { subresource: 'status' }
  )
  await says('the second success', 'dotted.example.com', 'Evicting', 'False', 'Succeeded')
  await set('dotted.example.com', { maintenance: 'termination' })
  await eventually('the new mode', async () => (await stored('dotted.example.com')).status?.maintenance?.mode === 'termination')
  t.equal((await admin.find(Eviction, 'dotted.example.com'))?.metadata.uid, before?.metadata.uid)
})

t.test('HV-47: cleared in the middle: moves are given up or end, the Eviction goes, then the host is enabled', async t => {
  await make('hv2')
  fake.host('hv2').liveMoveMs = 2000
  fake.host('hv2').liveMoveLimit = 1
  for (let at = 0; at < 8; at++) fake.addServer({ name: `m${at}`, host: 'hv2' })
  await set('hv2', { maintenance: 'manual', maintenanceReason: 'oops' })
  await eventually('moves to begin', async () =>
    fake.world.migrations.some(({ source, status }) => source === 'hv2' && status === 'running')
  )
  await set('hv2', { maintenance: '' })
  await eventually('the host to be enabled', async () => fake.host('hv2').status === 'enabled', 60_000)
  t.equal(await admin.find(Eviction, 'hv2'), undefined)
  t.notOk(
    fake.world.migrations.some(({ source, status }) => source === 'hv2' && ['queued', 'preparing', 'running'].includes(status)),
    'nothing goes on behind it'
  )
  t.not(on('hv2').length, 0)
})

t.test(
  'HV-32: what somebody else disabled stays disabled, and is told; what somebody enables in maintenance is disabled again',
  async t => {
    await make('hv3')
    Object.assign(fake.host('hv3'), { status: 'disabled', disabledReason: 'kernel bug, ask Jane' })
    t.equal(await running.hypervisorChanged('maintenance', 'hv3'), 204)
    t.match(fake.host('hv3'), { status: 'disabled', disabledReason: 'kernel bug, ask Jane' })
    t.match((await stored('hv3')).status, { drift: [{ kind: 'service', expected: 'enabled', action: 'reported' }] })
    for (let time = 1; time <= 2; time++) {
      Object.assign(fake.host('dotted.example.com'), { status: 'enabled', disabledReason: null })
      await eventually('the host to be disabled again', async () => {
        await running.hypervisorChanged('maintenance', 'dotted.example.com')
        return fake.host('dotted.example.com').status === 'disabled'
      })
    }
    await toldTwice('dotted.example.com', 'Drift')
    t.match(
      (await stored('dotted.example.com')).status?.drift?.find(({ kind }) => kind === 'service'),
      { expected: 'disabled', action: 'repaired' }
    )
  }
)

t.test('NA-21: a host that is about to shut down is drained at once; called off, it is enabled again', async t => {
  await make('spare')
  fake.addServer({ name: 'last', host: 'spare' })
  const begun = Date.now()
  const told = (what: 'requested' | 'cancelled', second: number) => {
    const facts = { host: 'spare', at: new Date(begun + second * 1000).toISOString(), bootId: 'boot-1', epoch: 1 }
    return running.post('maintenance', `sap.cloud.kvm.shutdown.${what}.v1`, {
      ...facts,
      ...(what === 'requested' && { budgetSeconds: 60 })
    })
  }
  t.equal(await told('requested', 0), 204)
  await eventually('the host to be empty', async () => on('spare').length === 0, 60_000)
  t.equal(fake.host('spare').status, 'disabled')
  t.equal(await told('cancelled', 1), 204)
  await eventually('the host to be enabled', async () => fake.host('spare').status === 'enabled', 60_000)
  await eventually('the Eviction to go', async () => (await admin.find(Eviction, 'spare')) === undefined, 60_000)
  for (const [what, second] of [
    ['requested', 0],
    ['cancelled', 3],
    ['requested', 2]
  ] as const)
    t.equal(await told(what, second), 204)
  t.equal(
    await admin.find(Eviction, 'spare'),
    undefined,
    'a request that was called off comes once more, and another after its end'
  )
  t.equal(await told('requested', 4), 204)
  t.match((await admin.find(Eviction, 'spare'))?.spec, { reason: /shutdown/ }, 'a new one counts')
  t.equal(await told('cancelled', 5), 204)
  await eventually('the host to be enabled', async () => fake.host('spare').status === 'enabled', 60_000)
})

t.test('HV-44: not while onboarding runs, and not in mode ha', async t => {
  fake.addHost({ name: 'young' })
  await make('young')
  await admin.applyStatus(Hypervisor, {
    metadata: { name: 'young' },
    status: { conditions: [condition('Onboarding', 'True', 'Testing')], serviceId: fake.host('young').serviceId ?? '' }
  })
  await set('young', { maintenance: 'auto' })
  t.equal(await running.hypervisorChanged('maintenance', 'young'), 204)
  t.equal(await admin.find(Eviction, 'young'), undefined)
  t.equal(fake.host('young').status, 'enabled')

  fake.addHost({ name: 'failed-over' })
  await make('failed-over')
  await set('failed-over', { maintenance: 'ha' })
  t.equal(await running.hypervisorChanged('maintenance', 'failed-over'), 204)
  t.equal(await admin.find(Eviction, 'failed-over'), undefined)
  t.equal(fake.host('failed-over').status, 'enabled')
})

t.test('an outage of Nova: acknowledged, told, and made good', async t => {
  const lift = fake.faults.add({ service: 'compute', effect: { answer: { status: 503 } } })
  t.equal(await running.hypervisorChanged('maintenance', 'hv1'), 204)
  await set('hv1', { maintenance: 'manual', maintenanceReason: 'in an outage' })
  await eventually('the Eviction', () => admin.find(Eviction, 'hv1'), 60_000)
  lift()
  await says('the drain', 'hv1', 'Evicting', 'False', 'Succeeded')
})

t.test('EV-2, retryToken: a hand-made Eviction works alone, and a changed token begins anew', async t => {
  fake.addHost({ name: 'manual' })
  await make('manual')
  const broken = fake.addServer({ name: 'broken', host: 'manual' })
  Object.assign(broken, { vmState: 'error', fault: { message: 'its disk is gone', createdMs: Date.now() } })
  await admin.create(Eviction, {
    metadata: { name: 'by-hand' },
    spec: { hypervisor: 'manual', reason: 'by hand', reenable: true, requireCapacity: true }
  })
  const verdict = (retryToken?: string) =>
    eventually('the verdict', async () => {
      const { status } = (await admin.find(Eviction, 'by-hand')) ?? {}
      return status?.verdict === 'Incomplete' && status.retryToken === retryToken && status
    })
  const { instances } = await verdict()
  t.match(instances, [{ id: broken.id, state: 'Blocked', reason: 'ServerError', message: 'its disk is gone' }])
  t.match(fake.host('manual'), { status: 'disabled', disabledReason: /^drover: eviction=by-hand: by hand/ })
  await admin.patch(Eviction, { name: 'by-hand' }, { spec: { retryToken: 'once more' } })
  await verdict('once more')
  await toldTwice('by-hand', 'ServerError')
  broken.vmState = 'active'
  await running.tick('slow', 'evict')
  await eventually('the success', async () => (await admin.find(Eviction, 'by-hand'))?.status?.verdict === 'Succeeded')
  t.equal(fake.host('manual').status, 'enabled', 'reenable')
})

t.test('EV-2: a hand-made Eviction of the name of its host is neither deleted nor undone by maintenance', async t => {
  fake.addHost({ name: 'by-name' })
  await make('by-name')
  fake.host('by-name').liveMoveMs = 1000
  for (let at = 0; at < 3; at++) fake.addServer({ name: `h${at}`, host: 'by-name' })
  const spec = { hypervisor: 'by-name', reason: 'by hand', maxParallel: 1 }
  const made = await admin.create(Eviction, { metadata: { name: 'by-name' }, spec })
  await eventually('the drain to begin', async () => fake.host('by-name').status === 'disabled')
  for (const tick of ['fast', 'slow'] as const) t.strictSame(await running.tick(tick, 'maintenance'), [204])
  t.equal(await running.hypervisorChanged('maintenance', 'by-name'), 204)
  t.match(fake.host('by-name'), { status: 'disabled', disabledReason: /^drover: eviction=by-name: by hand/ })
  const ended = await eventually('the end', async () => {
    await running.hypervisorChanged('maintenance', 'by-name')
    const found = await admin.find(Eviction, 'by-name')
    return found?.status?.verdict && found
  })
  t.equal(ended.metadata.uid, made.metadata.uid)
  t.equal(ended.status?.verdict, 'Succeeded')
  t.strictSame(on('by-name'), [])
  t.equal(await running.hypervisorChanged('maintenance', 'by-name'), 204)
  t.equal(fake.host('by-name').status, 'disabled', 'nobody asked to enable it')
  t.match(
    (await stored('by-name')).status?.conditions?.find(({ type }) => type === 'HypervisorDisabled'),
    { status: 'True', reason: 'Succeeded', message: /by hand/ }
  )
})

t.test('their roles are the smallest that work', async t => {
  await running.tick('slow')
  for (const name of ['maintenance', 'evict']) {
    const { unused, refused } = await rightsOf(api, `${name}.yaml`, name)
    t.strictSame(refused, [])
    t.strictSame(unused, [], name)
  }
})
