// One host through its whole life, on any OpenStack: Node labelled → … → Offboarded. The timeline is what the docs show.
import type { Test } from 'tap'
import aggregates from '../../../functions/aggregates/handler.ts'
import evict from '../../../functions/evict/handler.ts'
import hypervisor from '../../../functions/hypervisor/handler.ts'
import maintenance from '../../../functions/maintenance/handler.ts'
import nodeRelease from '../../../functions/node-release/handler.ts'
import offboarding from '../../../functions/offboarding/handler.ts'
import onboarding from '../../../functions/onboarding/handler.ts'
import traits from '../../../functions/traits/handler.ts'
import { timestamp } from '../../../shared/kube/conditions.ts'
import { connect as connectKube, Node, type Kube } from '../../../shared/kube/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { connect } from 'openstack-sdk-lite'
import { eventually } from '../../servers/eventually.ts'
import type { ControlPlane } from '../../servers/access.ts'
import type { OpenStack } from '../../servers/openstack.ts'
import { openRaw } from '../../servers/openstack/raw.ts'
import { makeServers, present } from '../evict/nova.ts'
import { run } from './platform.ts'

export function environmentOf({ options: { auth, region } }: Pick<OpenStack, 'options'>): Record<string, string> {
  return {
    OS_AUTH_URL: auth.url,
    OS_USERNAME: 'name' in auth.user ? auth.user.name : '',
    OS_PASSWORD: auth.password,
    OS_PROJECT_NAME: 'admin',
    OS_USER_DOMAIN_NAME: 'Default',
    OS_PROJECT_DOMAIN_NAME: 'Default',
    OS_REGION_NAME: region,
    TEST_OS_PROJECT_NAME: 'admin',
    TEST_OS_PROJECT_DOMAIN_NAME: 'Default',
    TEST_IMAGE: 'fake',
    TEST_NETWORK: 'none',
    TEST_VOLUME_SIZE_GIB: '0'
  }
}

/** Aggregates are made by people, not by Drover. */
export async function addAggregate(target: Pick<OpenStack, 'options'>, name: string, zone?: string): Promise<void> {
  const raw = await openRaw(target)
  const { status, body } = await raw('compute', 'POST', '/os-aggregates', {
    aggregate: { name, ...(zone && { availability_zone: zone }) }
  })
  if (status !== 200) throw new Error(`no aggregate ${name}: ${status} ${JSON.stringify(body)}`)
}

export const nodeLabels = (zone: string) => ({
  'nova.openstack.cloud.sap/virt-driver': 'kvm',
  'cobaltcore.cloud.sap/node-hypervisor-lifecycle': 'true',
  'topology.kubernetes.io/zone': zone
})

export async function life(t: Test, api: ControlPlane, target: OpenStack): Promise<void> {
  const [host] = target.hosts
  const admin = await connectKube({ manager: 'test', kubeconfig: api.kubeconfig })
  t.teardown(() => admin.close())
  const cloud = await connect(target.options)
  t.teardown(() => cloud.close())
  await addAggregate(target, 'zone-a', 'zone-a')
  await addAggregate(target, 'tenant_filter_tests')
  await addAggregate(target, 'general')

  const functions = [hypervisor, onboarding, aggregates, traits, maintenance, evict, offboarding, nodeRelease]
  const running = await run(t, api, functions, { ...environmentOf(target), LISTING_AGE: '1s' })
  await running.watch()
  const kubelet = await connectKube({ manager: 'kubelet', kubeconfig: api.kubeconfig })
  t.teardown(() => kubelet.close())
  const ticking = new AbortController()
  const ticks = (async () => {
    while (!ticking.signal.aborted) {
      await running.tick('fast')
      await beat(kubelet, host)
      await new Promise(resolve => setTimeout(resolve, 500))
    }
  })()
  t.teardown(async () => {
    ticking.abort()
    await ticks
  })

  const begun = Date.now()
  const mark = (text: string): void => t.comment(`${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${text}`)
  const find = async (): Promise<Hypervisor | undefined> => admin.find(Hypervisor, host)
  const reached = (what: string, is: (hypervisor: Hypervisor) => unknown, deadlineMs = 240_000): Promise<Hypervisor> =>
    eventually(
      what,
      async () => {
        const found = await find()
        return found && is(found) ? found : undefined
      },
      deadlineMs
    )
      .then(found => (mark(what), found))
      .catch(async (err: unknown) => {
        t.comment(JSON.stringify((await find())?.status, undefined, 1))
        throw err
      })
  const condition = ({ status }: Hypervisor, type: string) => status?.conditions?.find(known => known.type === type)
  // a stage may be over before it is seen
  const stages = ['Initial', 'Testing', 'Handover', 'Succeeded']
  const isPast = (hypervisor: Hypervisor, stage: string): boolean =>
    stages.indexOf(condition(hypervisor, 'Onboarding')?.reason ?? '') >= stages.indexOf(stage)
  const memberships = async (): Promise<string[]> =>
    (await cloud.aggregates.list())
      .filter(({ hosts }) => hosts.includes(host))
      .map(({ name }) => name)
      .sort()

  mark('Node labelled')
  const annotations = {
    'nova.openstack.cloud.sap/aggregates': 'general',
    'nova.openstack.cloud.sap/custom-traits': 'CUSTOM_LIFE'
  }
  await admin.create(Node, { metadata: { name: host, labels: nodeLabels('zone-a'), annotations } })
  const registered = await reached('registered: ids known', ({ status }) => status?.hypervisorId && status.serviceId)
  t.equal(registered.status?.nova?.host, host)
  await reached('in the aggregates of its test', ({ status }) => (status?.aggregates?.length ?? 0) >= 2)
  await reached('service enabled, test begun', hypervisor => isPast(hypervisor, 'Testing'))
  await reached('test passed, its server gone', hypervisor => isPast(hypervisor, 'Handover'))
  t.strictSame(await present(cloud, host), [])
  const done = await reached('handed over', hypervisor => condition(hypervisor, 'Onboarding')?.status === 'False')
  t.match(done.status?.onboarding?.tests?.[0], { result: 'Passed' })
  t.strictSame(await memberships(), ['general', 'zone-a'])
  t.ok((await cloud.resourceProviders.traits(done.status?.hypervisorId ?? '')).traits.includes('CUSTOM_LIFE'))
  await reached('Ready', hypervisor => condition(hypervisor, 'Ready')?.status === 'True')

  await t.test('drift made by hand is repaired within one slow tick', async t => {
    const general = (await cloud.aggregates.list()).find(({ name }) => name === 'general')
    await cloud.aggregates.removeHost(general?.id ?? 0, host)
    const { generation, traits } = await cloud.resourceProviders.traits(done.status?.hypervisorId ?? '')
    const without = traits.filter(trait => trait !== 'CUSTOM_LIFE')
    await cloud.resourceProviders.setTraits(done.status?.hypervisorId ?? '', { generation, traits: without })
    await eventually('the shared listing to grow old', async () => {
      await running.tick('slow', 'aggregates', 'traits')
      return (await memberships()).includes('general')
    })
    t.ok((await cloud.resourceProviders.traits(done.status?.hypervisorId ?? '')).traits.includes('CUSTOM_LIFE'))
    const drift = await eventually('the drift to be written down', async () => {
      const { drift = [] } = (await find())?.status ?? {}
      return drift.length >= 2 && drift
    })
    t.strictSame(drift.map(({ kind, name, action }) => `${kind} ${name} ${action}`).sort(), [
      'aggregate general repaired',
      'trait CUSTOM_LIFE repaired'
    ])
    mark('drift repaired: aggregate and trait')
  })

  const service = async () => (await cloud.services.list({ host, binary: 'nova-compute' }))[0]
  await target.setLiveMove(host, 0.5)
  const occupy = async (...names: string[]): Promise<string[]> => {
    const made = await makeServers(
      cloud,
      target,
      names.map(name => ({ name, host }))
    )
    mark(`${names.length} servers run on it`)
    return [...made.values()]
  }
  const leftAlive = async (ids: readonly string[]): Promise<void> => {
    t.strictSame(await present(cloud, host), [], 'nobody is left on it')
    for (const id of ids) {
      const moved = await cloud.servers.get(id)
      t.match(moved, { status: 'ACTIVE', taskState: null, powerState: 1 }, 'and each runs')
      t.ok(moved?.host !== host && target.hosts.some(other => other === moved?.host), `on ${moved?.host}`)
    }
  }
  const first = await occupy('vm-1', 'vm-2', 'vm-3')
  const ask = { maintenance: 'manual', maintenanceReason: 'new fans' } as const
  await admin.patch(Hypervisor, { name: host }, { spec: ask })
  await eventually('the service to be disabled', async () => (await service())?.status === 'disabled')
  t.match(await service(), { disabledReason: /^drover: .*new fans/ }, 'with mode, words and writer (HV-32)')
  mark('maintenance: disabled with the reason')
  await reached('drained', hypervisor => condition(hypervisor, 'Evicting')?.status === 'False' && hypervisor.status?.evicted)
  await leftAlive(first)
  await cloud.services.update((await service())?.id ?? '', { status: 'enabled' })
  await eventually('the service, enabled by hand, to be disabled again', async () => {
    await running.tick('slow', 'maintenance') // the shared listing may be a second old
    return (await service())?.status === 'disabled'
  })
  const repaired = ({ kind, expected, actual, action }: { kind: string; expected?: string; actual?: string; action?: string }) =>
    kind === 'service' && expected === 'disabled' && actual === 'enabled' && action === 'repaired'
  await reached('drift repaired: service enabled by hand', ({ status }) => status?.drift?.some(repaired))
  await admin.patch(Hypervisor, { name: host }, { spec: { maintenance: '', maintenanceReason: '' } })
  await eventually('the service to be enabled', async () => (await service())?.status === 'enabled', 240_000)
  await reached('cleared: enabled and Ready', hypervisor => condition(hypervisor, 'Ready')?.status === 'True')

  const second = await occupy('vm-4')
  await admin.applyStatus(Node, { metadata: { name: host }, status: { conditions: terminating } })
  await reached('Terminating', ({ spec }) => spec.maintenance === 'termination')
  await reached('drained for good', hypervisor => condition(hypervisor, 'Evicting')?.status === 'False')
  await leftAlive(second)
  await eventually('the taint', async () =>
    (await admin.find(Node, host))?.spec?.taints?.some(({ key }) => key === 'kvm.cloud.sap/offboarding')
  )
  mark('tainted: the agents are asked to go')
  await target.stopAgent(host)
  await reached('no agent pods', hypervisor => condition(hypervisor, 'AgentPodsEvicted')?.status === 'True')
  await reached('Offboarded', hypervisor => condition(hypervisor, 'Offboarded')?.status === 'True')
  t.strictSame(await memberships(), [])
  t.strictSame(await cloud.hypervisors.search(host), [], 'Nova knows it no more')
  t.equal(await cloud.resourceProviders.get(done.status?.hypervisorId ?? ''), undefined, 'nor does Placement')
  t.strictSame(await cloud.services.list({ host }), [])
}

/** A node whose kubelet never speaks is not ready after a minute, however well its host is: on a slow machine the life takes longer. */
async function beat(kubelet: Kube, name: string): Promise<void> {
  if (!(await kubelet.find(Node, name))) return
  const now = timestamp(new Date())
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    message: '',
    lastHeartbeatTime: now,
    lastTransitionTime: now
  }
  await kubelet.applyStatus(Node, { metadata: { name }, status: { conditions: [ready] } })
}

const terminating = [
  { type: 'Terminating', status: 'True', reason: 'Gone', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
]
