// Long: API server and functions are started once for all rows. What goes wrong on a host's way (the "F" rows): the real API server, each function under its own role, and an OpenStack that misbehaves on order.
import t, { type Test } from 'tap'
import aggregates from '../../../functions/aggregates/handler.ts'
import offboarding from '../../../functions/offboarding/handler.ts'
import onboarding from '../../../functions/onboarding/handler.ts'
import traits from '../../../functions/traits/handler.ts'
import { connect as connectKube } from '../../../shared/kube/index.ts'
import { Event } from '../../../shared/kube/kinds.ts'
import type { FakeOpenStack } from '../../../shared/local/openstack/index.ts'
import { settleAll } from '../../../shared/runtime/settle-all.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { fakeOpenStack, passwordOf } from '../../openstack-sdk-lite/fake.ts'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { rightsOf } from '../../servers/rights.ts'
import { environmentOf } from './life.ts'
import { condition, type Status } from './fixtures.ts'
import { run, type Running } from './platform.ts'

t.setTimeout(600_000)
const api = await ownKubernetes(t)
const admin = await connectKube({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const fake = await fakeOpenStack(t)
fake.world.images.push({ id: '11111111-2222-3333-4444-555555555555', name: 'fake' })
for (const [name, zone] of [['z1', 'z1'], ['z2', 'z2'], ['tenant_filter_tests'], ['general']] as const)
  fake.addAggregate(name, zone)
const env = environmentOf({ options: passwordOf(fake) })
const quick = { LISTING_AGE: '0s', TEST_FIRST_WAIT: '1ms', TEST_ATTEMPTS: '2', FIRST_WAIT: '1ms', LONGEST_WAIT: '1ms' }
const functions = [onboarding, aggregates, traits, offboarding]
const running = await run(t, api, functions, { ...env, ...quick })

const stored = async (name: string): Promise<Hypervisor> => {
  const found = await admin.find(Hypervisor, name)
  if (!found) throw new Error(`no Hypervisor ${name}`)
  return found
}
const conditionOf = async (name: string, type: string) =>
  (await stored(name)).status?.conditions?.find(known => known.type === type)
const memberships = (host: string): string[] =>
  fake.world.aggregates.filter(({ hosts }) => hosts.includes(host)).map(({ name }) => name)
async function make(name: string, spec: Partial<Hypervisor['spec']> = {}, status?: Partial<Status>, zone = 'z1'): Promise<void> {
  const metadata = { name, labels: { 'topology.kubernetes.io/zone': zone } }
  await admin.create(Hypervisor, { metadata, spec: { skipTests: true, ...spec } })
  if (status) await admin.applyStatus(Hypervisor, { metadata: { name }, status })
}

/** Events in the order in which they would come; every one must be answered with 204, whatever OpenStack does. */
async function step(t: Test, name: string, by: Running = running): Promise<void> {
  for (const { name: fn } of functions) t.equal(await by.hypervisorChanged(fn, name), 204, `${fn} acknowledges`)
}

async function onboard(t: Test, name: string): Promise<void> {
  for (let pass = 0; pass < 12 && (await conditionOf(name, 'Onboarding'))?.status !== 'False'; pass++) await step(t, name)
  t.match(await conditionOf(name, 'Onboarding'), { status: 'False', reason: 'Succeeded' })
}
const onboarded = (host: string, more: ReturnType<typeof condition>[] = []): Partial<Status> => {
  const { id, serviceId } = fake.host(host)
  return {
    hypervisorId: id,
    serviceId: serviceId ?? '',
    nova: { host, hypervisorHostname: host },
    conditions: [condition('Onboarding', 'False'), ...more]
  }
}

t.test('HV-28: two hosts whose names contain each other, and one with dots', async t => {
  for (const name of ['node1', 'node10', 'my-node1', 'dotted.example.com']) fake.addHost({ name })
  for (const name of ['node1', 'dotted.example.com']) {
    await make(name)
    await onboard(t, name)
    t.equal((await stored(name)).status?.hypervisorId, fake.host(name).id)
    t.strictSame(memberships(name), ['z1'])
  }
  t.strictSame(memberships('node10'), [])
  t.strictSame(memberships('my-node1'), [])
  t.strictSame(memberships('dotted'), [], 'HV-29: never cut at the dot')
})

t.test('a host that is not registered yet, then is', async t => {
  await make('late')
  await step(t, 'late')
  t.match((await stored('late')).status?.onboarding, { waitingFor: /not registered/ })
  t.equal(await conditionOf('late', 'Onboarding'), undefined)
  fake.addHost({ name: 'late' })
  fake.forget()
  await onboard(t, 'late')
})

t.test('Nova is away in the middle of each step: written down, acknowledged, and gone on with', async t => {
  fake.addHost({ name: 'shaky' })
  const down = (): (() => void) => {
    const lifts = (['compute', 'placement'] as const).map(service =>
      fake.faults.add({ service, effect: { answer: { status: 503, body: {} } } })
    )
    return () => lifts.forEach(lift => lift())
  }
  await make('shaky', { aggregates: ['general'], customTraits: ['CUSTOM_SHAKY'] })
  for (let pass = 0; pass < 14 && (await conditionOf('shaky', 'Onboarding'))?.status !== 'False'; pass++) {
    for (const { name: fn } of functions) {
      const before = await conditionOf('shaky', 'Onboarding')
      const lift = down()
      t.equal(await running.hypervisorChanged(fn, 'shaky'), 204, `${fn} acknowledges although Nova is away`)
      lift()
      if (fn === 'onboarding') t.equal((await conditionOf('shaky', 'Onboarding'))?.reason, before?.reason, 'stays where it was')
      t.equal(await running.hypervisorChanged(fn, 'shaky'), 204)
    }
  }
  t.match(await conditionOf('shaky', 'Onboarding'), { status: 'False', reason: 'Succeeded' })
  t.strictSame(memberships('shaky').sort(), ['general', 'z1'])
})

t.test('HV-51: a host whose cell does not answer is not taken out of OpenStack, though Nova lists nothing of it', async t => {
  fake.addHost({ name: 'cut-off' })
  const gone = [condition('Evicting', 'False'), condition('AgentPodsEvicted', 'True', 'NoAgentPods')]
  await make('cut-off', { maintenance: 'termination' }, onboarded('cut-off', gone))
  const { id } = fake.host('cut-off')
  const bodies: Array<[path: RegExp, body: object]> = [
    [/os-services/, { services: [{ binary: 'nova-compute', host: 'cut-off', status: 'UNKNOWN' }] }],
    [/os-hypervisors/, { hypervisors: [] }]
  ]
  const lifts = bodies.map(([path, body]) => fake.faults.add({ path, effect: { answer: { status: 200, body } } }))
  t.equal(await running.hypervisorChanged('offboarding', 'cut-off'), 204)
  t.match((await stored('cut-off')).status?.offboarding, { lastError: /the cell of cut-off does not answer/ })
  t.ok(fake.world.providers.has(id), 'its resource provider is still there')
  for (const lift of lifts) lift()
  await admin.delete(Hypervisor, { name: 'cut-off' })
})

t.test('HV-56: OpenStack is away in the middle of each step of the way out', async t => {
  fake.addHost({ name: 'parting' })
  const gone = [condition('Evicting', 'False'), condition('AgentPodsEvicted', 'True', 'NoAgentPods')]
  await make('parting', { maintenance: 'termination' }, onboarded('parting', gone))
  fake.world.aggregates.find(({ name }) => name === 'z1')?.hosts.push('parting')
  fake.stopAgent('parting')
  const pass = async () => {
    for (const fn of ['aggregates', 'offboarding']) t.equal(await running.hypervisorChanged(fn, 'parting'), 204)
  }
  /** What is still to be done of it in OpenStack. */
  const left = (): string => {
    const { id, serviceId } = fake.host('parting')
    return [memberships('parting').length > 0, serviceId !== null, fake.world.providers.has(id)].join()
  }
  const steps = new Set<string>()
  await eventually(
    'it to be gone', // a circuit that the outages opened closes after some seconds
    async () => {
      const isNew = !steps.has(left())
      steps.add(left())
      for (const service of ['compute', 'placement'] as const) {
        for (const method of isNew ? ['GET', 'POST', 'DELETE'] : []) {
          const lift = fake.faults.add({ service, method, effect: { answer: { status: 503, body: {} } } })
          await pass()
          lift()
        }
      }
      await pass()
      return (await conditionOf('parting', 'Offboarded'))?.status === 'True'
    },
    120_000
  )
  t.ok(steps.size >= 2, [...steps].join('; '))
  t.match(await conditionOf('parting', 'Offboarded'), { status: 'True', reason: 'Offboarded' })
  t.equal(fake.host('parting').serviceId, null)
  t.equal(fake.world.providers.has(fake.host('parting').id), false)
  t.strictSame(memberships('parting'), [])
})

t.test('a token revoked in flight is no failure', async t => {
  fake.addHost({ name: 'revoked' })
  await make('revoked')
  for (let pass = 0; pass < 8; pass++) {
    fake.tokens.revokeAll()
    await step(t, 'revoked')
  }
  t.match(await conditionOf('revoked', 'Onboarding'), { status: 'False', reason: 'Succeeded' })
})

t.test('HV-41, AG-9: no traits at all', async t => {
  fake.addHost({ name: 'plain' })
  await make('plain')
  await onboard(t, 'plain')
  t.match(await conditionOf('plain', 'TraitsUpdated'), { status: 'True', reason: 'Succeeded' })
})

t.test('AG-5: an aggregate that does not exist: named, and the test aggregate is kept', async t => {
  fake.addHost({ name: 'wanting' })
  await make('wanting', { aggregates: ['general', 'no-such', 'nor-this'] })
  for (let pass = 0; pass < 6; pass++) await step(t, 'wanting')
  t.match(await conditionOf('wanting', 'AggregatesUpdated'), { status: 'False', reason: 'Failed', message: /no-such.*nor-this/ })
  t.match(await conditionOf('wanting', 'Onboarding'), { status: 'True', reason: 'Handover' })
  t.ok(memberships('wanting').includes('tenant_filter_tests'))
  fake.addAggregate('no-such')
  fake.addAggregate('nor-this')
  t.strictSame(new Set(await running.tick('fast', 'aggregates', 'onboarding')), new Set([204]), 'HV-9: by the tick alone')
  await running.tick('fast', 'onboarding')
  t.match(await conditionOf('wanting', 'Onboarding'), { status: 'False', reason: 'Succeeded' })
  t.strictSame(memberships('wanting').sort(), ['general', 'no-such', 'nor-this', 'z1'])
})

t.test('AG-5: the policy may have it made; an aggregate of the name of the zone is that zone', async t => {
  const making = await run(t, api, [aggregates], { ...env, ...quick, MISSING_AGGREGATES: 'create' })
  fake.addHost({ name: 'maker' })
  await make('maker', { aggregates: ['made-here'] }, onboarded('maker'), 'z-new')
  t.equal(await making.hypervisorChanged('aggregates', 'maker'), 204)
  t.match(await conditionOf('maker', 'AggregatesUpdated'), { status: 'True', reason: 'Succeeded' })
  t.strictSame(memberships('maker').sort(), ['made-here', 'z-new'])
  const made = (name: string) => fake.world.aggregates.filter(aggregate => aggregate.name === name)
  t.match(made('z-new'), [{ metadata: { availability_zone: 'z-new' } }])
  t.strictSame(made('made-here')[0]?.metadata, {})
  t.equal(made('made-here').length, 1)
})

t.test('HV-67: one trace from the event to the calls, and every change on the record', async t => {
  fake.addHost({ name: 'traced', status: 'disabled', disabledReason: 'drover: new' })
  await make('traced', { aggregates: ['general'], customTraits: ['CUSTOM_TRACED'] })
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const traced = async (fn: string): Promise<number> =>
    running.post(
      fn,
      'sap.cloud.kvm.hypervisor.changed.v1',
      { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name: 'traced' },
      { partitionkey: 'traced', traceparent: `00-${trace}-b7ad6b7169203331-01` }
    )
  fake.forget()
  for (let pass = 0; pass < 12 && (await conditionOf('traced', 'Onboarding'))?.status !== 'False'; pass++)
    for (const { name: fn } of functions) t.equal(await traced(fn), 204)
  const changes = fake.requests.filter(({ method, service }) => method !== 'GET' && service !== 'identity')
  t.ok(changes.length >= 5)
  t.strictSame([...new Set(changes.map(({ globalRequestId }) => globalRequestId))], ['req-0af76519-16cd-43dd-8448-eb211c80319c'])
  const idOf = (name: string) => fake.world.aggregates.find(aggregate => aggregate.name === name)?.id
  const joins = changes.filter(({ path }) => path.startsWith('/os-aggregates')).map(({ path }) => path)
  t.strictSame(
    joins.slice(-2),
    [idOf('general'), idOf('tenant_filter_tests')].map(id => `/os-aggregates/${id}/action`),
    'AG-1: adds first'
  )
  const { history = [] } = (await stored('traced')).status ?? {}
  const told = new Set(history.map(({ kind, from, to, actor }) => `${actor}: ${kind}: ${from} → ${to}`))
  for (const line of [
    'drover-onboarding: compute service: disabled → enabled',
    'drover-onboarding: onboarding: Handover → Succeeded',
    'drover-aggregates: aggregate general: not a member → member',
    'drover-aggregates: aggregate tenant_filter_tests: member → not a member',
    'drover-traits: trait CUSTOM_TRACED: absent → present'
  ])
    t.ok(told.has(line), line)
  t.ok(history.length <= 20)
  const { items } = await admin.list(Event, { namespace: 'default' })
  const notes = items.filter(({ regarding }) => regarding?.name === 'traced').map(({ note }) => note)
  t.ok(notes.includes('compute service: disabled → enabled (the host is to be tested)'))
})

t.test('HV-36, HV-39: a test server in ERROR; after the last attempt no more are made', async t => {
  fake.addHost({ name: 'broken' })
  await make('broken', { skipTests: false })
  while ((await conditionOf('broken', 'Onboarding'))?.reason !== 'Testing') await step(t, 'broken')
  const memory = fake.world.providers.get(fake.host('broken').id)?.inventories.get('MEMORY_MB')
  Object.assign(memory ?? {}, { reserved: memory?.total }) // no valid host
  await eventually(
    'the budget to be used up',
    async () => {
      await step(t, 'broken') // the fake needs its milliseconds to build and to delete
      return (await conditionOf('broken', 'Onboarding'))?.reason === 'Failed'
    },
    120_000
  )
  const { status } = await stored('broken')
  t.match(status?.onboarding, { attempts: 2, lastError: /No valid host/ })
  t.match(await conditionOf('broken', 'Onboarding'), { status: 'True', reason: 'Failed' })
  t.strictSame(
    [...fake.world.instances.values()].filter(({ name }) => name.includes('broken')),
    [],
    'HV-37: nothing is left'
  )
  fake.forget()
  await step(t, 'broken')
  t.strictSame(creations(fake), [])
  Object.assign(memory ?? {}, { reserved: 0 })
  await admin.patch(Hypervisor, { name: 'broken' }, { metadata: { annotations: { 'kvm.cloud.sap/retry-onboarding': '1' } } })
  await step(t, 'broken')
  t.match(await conditionOf('broken', 'Onboarding'), { reason: 'Initial' }, 'asked to try again')
})
const creations = ({ requests }: FakeOpenStack) => requests.filter(({ method, path }) => method === 'POST' && path === '/servers')

t.test('HV-36: a console that cannot be read is a failed test, not an endless wait', async t => {
  const hasty = await run(t, api, functions, { ...env, ...quick, TEST_ATTEMPTS: '1', TEST_TIMEOUT: '1s' })
  fake.addHost({ name: 'mute' })
  await make('mute', { skipTests: false })
  const body = { computeFault: { message: 'The hypervisor has no console.' } }
  const lift = fake.faults.add({ service: 'compute', path: /servers\/.*\/action$/, effect: { answer: { status: 404, body } } })
  await eventually(
    'the budget to be used up',
    async () => {
      await step(t, 'mute', hasty)
      return (await conditionOf('mute', 'Onboarding'))?.reason === 'Failed'
    },
    120_000
  )
  lift()
  t.match((await stored('mute')).status?.onboarding, { attempts: 1, lastError: /no console/ })
  t.strictSame(
    [...fake.world.instances.values()].filter(({ name }) => name.includes('mute')),
    [],
    'HV-37: nothing is left'
  )
})

t.test('HV-42, HV-43: checked first, then tested with a volume, the network, and a live migration away and back', async t => {
  const strict = await run(
    t,
    api,
    functions,
    { ...env, ...quick },
    {
      onboarding: {
        PRECHECKS: 'libvirt=fail,bridges=warn,storage=fail',
        MIN_LIBVIRT: '9.0',
        TEST_LIVE_MIGRATION: 'true',
        TEST_NETWORK_TEXT: 'LAST LINE',
        TEST_ATTACH_GIB: '1'
      }
    }
  )
  fake.addHost({ name: 'checked' })
  await make('checked', { skipTests: false })
  const until = (what: string, is: (hypervisor: Hypervisor) => unknown): Promise<Hypervisor> =>
    eventually(
      what,
      async () => {
        await step(t, 'checked', strict)
        const found = await stored('checked')
        return is(found) ? found : undefined
      },
      120_000
    )
  await until('the check to hold it back', ({ status }) => status?.onboarding?.waitingFor?.includes('check libvirt'))
  const connected = condition('LibVirtConnection', 'True', 'Connected')
  const agent = { libVirtVersion: '10.0.0', conditions: [connected] }
  await admin.applyStatus(Hypervisor, { metadata: { name: 'checked' }, status: agent })
  const done = await until('the end', ({ status }) =>
    status?.conditions?.some(({ type, status }) => type === 'Onboarding' && status === 'False')
  )
  const results = (done.status?.onboarding?.tests ?? []).map(
    ({ name, result }) => `${name.replace(/^ohooc\S+/, 'server')} ${result}`
  )
  t.strictSame(results.sort(), [
    'check bridges Warned',
    'check libvirt Passed',
    'check storage Passed',
    'server Passed',
    'server in Passed',
    'server out Passed'
  ])
  t.strictSame(
    [...fake.world.instances.values()].filter(({ name }) => name.includes('checked')),
    [],
    'HV-37: nothing is left'
  )
})

t.test('HV-32: what somebody else disabled is left disabled', async t => {
  fake.addHost({ name: 'foreign', status: 'disabled', disabledReason: 'bad fans' })
  await make('foreign')
  for (let pass = 0; pass < 4; pass++) await step(t, 'foreign')
  t.match((await stored('foreign')).status?.onboarding, { waitingFor: /bad fans/ })
  t.equal(fake.host('foreign').status, 'disabled')
})

t.test('AG-13: a resource provider that is gone', async t => {
  fake.addHost({ name: 'lonely' })
  fake.world.providers.delete(fake.host('lonely').id)
  await make('lonely', { customTraits: ['CUSTOM_X'] }, onboarded('lonely'))
  t.equal(await running.hypervisorChanged('traits', 'lonely'), 204)
  t.match(await conditionOf('lonely', 'TraitsUpdated'), { status: 'False', reason: 'ProviderMissing' })
})

t.test('AG-10: a trait outside CUSTOM_ that Placement does not know is named, the rest is set', async t => {
  fake.addHost({ name: 'choosy' })
  await make('choosy', { customTraits: ['CUSTOM_NEW', 'HW_CPU_X86_VMX', 'HW_NO_SUCH', 'CUSTOM_lower'] }, onboarded('choosy'))
  t.equal(await running.hypervisorChanged('traits', 'choosy'), 204)
  t.match(await conditionOf('choosy', 'TraitsUpdated'), {
    status: 'False',
    reason: 'Failed',
    message: /CUSTOM_lower.*HW_NO_SUCH/
  })
  const { traits } = fake.world.providers.get(fake.host('choosy').id) ?? {}
  t.ok(traits?.has('CUSTOM_NEW') && traits.has('HW_CPU_X86_VMX') && traits.has('COMPUTE_NODE'))
})

t.test('AG-7: with the policy `report` drift is left and told; what the spec asks for is done all the same', async t => {
  const reporting = await run(t, api, [aggregates, traits], { ...env, ...quick, DRIFT: 'report' })
  fake.addHost({ name: 'left' })
  fake.addAggregate('extra')
  fake.addAggregate('later')
  await make('left', { aggregates: ['general', 'extra'], customTraits: ['CUSTOM_LEFT', 'CUSTOM_KEPT'] }, onboarded('left'))
  const pass = async () => {
    for (const fn of ['traits', 'aggregates']) t.equal(await reporting.hypervisorChanged(fn, 'left'), 204)
  }
  const leave = (name: string) => {
    const found = fake.world.aggregates.find(aggregate => aggregate.name === name)
    if (found) found.hosts = found.hosts.filter(host => host !== 'left')
  }
  const told = async () =>
    (await stored('left')).status?.drift?.map(({ kind, name, action }) => `${kind} ${name} ${action}`).sort() ?? []
  await pass()
  t.strictSame(memberships('left').sort(), ['extra', 'general', 'z1'])
  leave('general')
  fake.world.providers.get(fake.host('left').id)?.traits.delete('CUSTOM_LEFT')
  await pass()
  t.strictSame(memberships('left').sort(), ['extra', 'z1'])
  t.strictSame(await told(), ['aggregate general reported', 'trait CUSTOM_LEFT reported'])
  t.match(await conditionOf('left', 'AggregatesUpdated'), { status: 'False', reason: 'Failed', message: /general: not a member/ })
  t.match(await conditionOf('left', 'TraitsUpdated'), { status: 'False', reason: 'Failed', message: /CUSTOM_LEFT: absent/ })
  const spec = { aggregates: ['general', 'extra', 'later'], customTraits: ['CUSTOM_LEFT', 'CUSTOM_KEPT', 'CUSTOM_LATER'] }
  await admin.patch(Hypervisor, { name: 'left' }, { spec })
  await pass()
  t.strictSame(memberships('left').sort(), ['extra', 'later', 'z1'])
  leave('extra') // somebody goes on
  await pass()
  t.strictSame(memberships('left').sort(), ['later', 'z1'])
  t.strictSame(await told(), ['aggregate extra reported', 'aggregate general reported', 'trait CUSTOM_LEFT reported'])
  const has = (trait: string) => fake.world.providers.get(fake.host('left').id)?.traits.has(trait)
  t.ok(has('CUSTOM_LATER') && has('CUSTOM_KEPT') && !has('CUSTOM_LEFT'))
  await admin.patch(Hypervisor, { name: 'left' }, { spec: { aggregates: ['later'], customTraits: ['CUSTOM_LATER'] } })
  await pass()
  t.strictSame(await told(), [], 'what is wanted no more is no drift')
  t.match(await conditionOf('left', 'AggregatesUpdated'), { status: 'True', reason: 'Succeeded' })
  t.match(await conditionOf('left', 'TraitsUpdated'), { status: 'True', reason: 'Succeeded' })
  t.strictSame(memberships('left').sort(), ['later', 'z1'])
  t.notOk(has('CUSTOM_KEPT'))
})

t.test('AG-3: another zone only for a disabled and empty host, and back when the new one refuses', async t => {
  fake.addHost({ name: 'mover' })
  fake.world.aggregates.find(({ name }) => name === 'z1')?.hosts.push('mover')
  await make('mover', {}, onboarded('mover'), 'z2')
  await running.hypervisorChanged('aggregates', 'mover')
  t.match(await conditionOf('mover', 'AggregatesUpdated'), { reason: 'Failed', message: /only when it is disabled and empty/ })
  t.strictSame(memberships('mover'), ['z1'])
  fake.host('mover').status = 'disabled'
  const servers = ['one', 'two', 'three'].map(name => fake.addServer({ name, host: 'mover' }))
  fake.forget()
  await running.hypervisorChanged('aggregates', 'mover')
  t.match(await conditionOf('mover', 'AggregatesUpdated'), { reason: 'Failed', message: /only when it is disabled and empty/ })
  t.equal(fake.requests.filter(({ path }) => path === '/servers/detail').length, 1, 'one server is enough to know')
  for (const { id } of servers) fake.world.instances.delete(id)
  const lift = fake.faults.add({
    method: 'POST',
    path: /aggregates\/2\/action/,
    times: 1,
    effect: { answer: { status: 409, body: { conflictingRequest: { message: 'no' } } } }
  })
  await running.hypervisorChanged('aggregates', 'mover')
  lift()
  t.strictSame(memberships('mover'), ['z1'], 'rolled back')
  await running.hypervisorChanged('aggregates', 'mover')
  t.strictSame(memberships('mover'), ['z2'])
})

t.test('HV-8: observe mode records and writes nothing to OpenStack', async t => {
  fake.addHost({ name: 'watched' })
  await make('watched', { customTraits: ['CUSTOM_W'] }, onboarded('watched'))
  await admin.patch(Hypervisor, { name: 'watched' }, { metadata: { annotations: { 'kvm.cloud.sap/drover-observe': 'true' } } })
  fake.forget()
  await step(t, 'watched')
  t.strictSame(
    fake.requests.filter(({ method, service }) => method !== 'GET' && service !== 'identity'),
    []
  )
  const { status } = await stored('watched')
  t.strictSame(status?.drift?.map(({ kind, name, action }) => `${kind} ${name} ${action}`).sort(), [
    'aggregate z1 reported',
    'trait CUSTOM_W reported'
  ])
  t.strictSame(
    status?.conditions?.map(({ type }) => type),
    ['Onboarding'],
    "the other operator's conditions are its own"
  )
})

t.test('offboarding: a host that still has a server is not touched; its service id may not be another host by now', async t => {
  fake.addHost({ name: 'leaver' })
  const server = fake.addServer({ name: 'vm', host: 'leaver' })
  const gone = [condition('Evicting', 'False'), condition('AgentPodsEvicted', 'True', 'NoAgentPods')]
  await make('leaver', { maintenance: 'termination' }, onboarded('leaver', gone))
  t.equal(await running.hypervisorChanged('offboarding', 'leaver'), 204)
  t.match(await conditionOf('leaver', 'Offboarded'), { status: 'False', reason: 'Blocked', message: new RegExp(server.id) })
  t.ok(fake.host('leaver').serviceId)
  fake.world.instances.delete(server.id)
  for (const status of [409, 503]) {
    fake.faults.add({
      service: 'compute',
      method: 'DELETE',
      path: /os-services/,
      times: 1,
      effect: { answer: { status, body: {} } }
    })
    t.equal(await running.hypervisorChanged('offboarding', 'leaver'), 204)
    t.match(await conditionOf('leaver', 'Offboarded'), { status: 'False', reason: 'Blocked' }, String(status))
  }
  fake.stopAgent('leaver')
  for (let pass = 0; pass < 4; pass++) t.equal(await running.hypervisorChanged('offboarding', 'leaver'), 204)
  t.match(await conditionOf('leaver', 'Offboarded'), { status: 'True', reason: 'Offboarded' })
  t.equal(fake.host('leaver').serviceId, null)
  t.equal(fake.world.providers.has(fake.host('leaver').id), false, 'HV-55')
})

t.test('HV-51: a server that the listing by host leaves out, as in a cell that does not answer, is seen by id', async t => {
  fake.addHost({ name: 'hidden' })
  const server = fake.addServer({ name: 'vm', host: 'hidden' })
  const gone = [condition('Evicting', 'False'), condition('AgentPodsEvicted', 'True', 'NoAgentPods')]
  await make('hidden', { maintenance: 'termination' }, onboarded('hidden', gone))
  const lift = fake.faults.add({ path: /^\/servers\/detail/, effect: { answer: { status: 200, body: { servers: [] } } } })
  t.equal(await running.hypervisorChanged('offboarding', 'hidden'), 204)
  t.match(await conditionOf('hidden', 'Offboarded'), { status: 'False', reason: 'Blocked', message: new RegExp(server.id) })
  lift()
  t.ok(fake.host('hidden').serviceId)
})

t.test('HV-53: a provider that Nova left behind, with an allocation that nobody has elsewhere', async t => {
  fake.addHost({ name: 'orphaned' })
  const status = onboarded('orphaned', [condition('Evicting', 'False'), condition('AgentPodsEvicted', 'True', 'NoAgentPods')])
  const { id } = fake.host('orphaned')
  const provider = fake.world.providers.get(id)
  const server = fake.addServer({ name: 'ghost', host: 'orphaned' })
  fake.world.instances.delete(server.id)
  Object.assign(fake.host('orphaned'), { serviceId: null, alive: false })
  t.ok(provider)
  await make('orphaned', { maintenance: 'termination' }, status)
  for (let pass = 0; pass < 3; pass++) await running.hypervisorChanged('offboarding', 'orphaned')
  t.equal(fake.world.providers.has(id), false)
  t.equal(fake.world.consumers.get(server.id)?.allocations.size ?? 0, 0)
  t.match(await conditionOf('orphaned', 'Offboarded'), { status: 'True' })
})

t.test('500 hosts in one listing: each tick asks for it once, and nothing is written twice', async t => {
  const names = Array.from({ length: 500 }, (_, index) => `fleet${index}`)
  for (const name of names) fake.addHost({ name })
  const zone = fake.world.aggregates.find(({ name }) => name === 'z1')
  zone?.hosts.push(...names)
  const ours = names.slice(0, 100) // the bench has a thousand of them
  await settleAll(ours, name => make(name, {}, onboarded(name)))
  const sharing = await run(t, api, functions, env)
  await sharing.tick('slow')
  const versions = async () => {
    const { items } = await admin.list(Hypervisor)
    return items.filter(({ metadata }) => metadata.name.startsWith('fleet')).map(({ metadata }) => metadata.resourceVersion)
  }
  const before = await versions()
  fake.forget()
  t.strictSame(new Set(await sharing.tick('slow')), new Set([204]))
  t.strictSame(await versions(), before, 'HV-7')
  const asked = fake.requests.filter(({ path }) => !path.endsWith('/')).map(({ method, path }) => `${method} ${path}`)
  t.ok(asked.length <= 25, `${asked.length} calls for ${ours.length} hosts of ${names.length}: ${[...new Set(asked)].join(', ')}`)
})

t.test('their roles are the smallest that work, also when the same is told twice', async t => {
  const provider = fake.world.providers.get(fake.host('traced').id)
  const general = fake.world.aggregates.find(({ name }) => name === 'general')
  t.strictSame(new Set(await running.tick('fast')), new Set([204]), 'from the first one on they follow the hosts')
  for (let time = 0; time < 2; time++) {
    provider?.traits.delete('CUSTOM_TRACED')
    if (general) general.hosts = general.hosts.filter(host => host !== 'traced')
    t.equal(await running.hypervisorChanged('traits', 'traced'), 204)
    t.equal(await running.hypervisorChanged('aggregates', 'traced'), 204)
    // off and on again: Registering, Initial, Aborted
    await admin.patch(Hypervisor, { name: 'foreign' }, { spec: { lifecycleEnabled: time % 2 === 1 } })
    t.equal(await running.hypervisorChanged('onboarding', 'foreign'), 204)
    const { status } = await stored('leaver')
    const conditions = (status?.conditions ?? []).filter(({ type }) => type !== 'Offboarded')
    await admin.patch(Hypervisor, { name: 'leaver' }, { status: { conditions } }, { subresource: 'status' })
    t.equal(await running.hypervisorChanged('offboarding', 'leaver'), 204)
  }
  await admin.patch(Hypervisor, { name: 'foreign' }, { spec: { lifecycleEnabled: false } })
  t.equal(await running.hypervisorChanged('onboarding', 'foreign'), 204, 'aborted once more')
  const watches = async (name: string) =>
    !(await rightsOf(api, `${name}.yaml`, name)).unused.some(one => one.startsWith('watch '))
  for (const { name } of functions) await eventually(`the watch of ${name}`, () => watches(name))
  for (const { name } of functions) t.strictSame(await rightsOf(api, `${name}.yaml`, name), { unused: [], refused: [] }, name)
})
