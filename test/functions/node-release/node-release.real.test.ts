// functions/node-release on the real API server, under exactly the role of knative/node-release.yaml.
import t from 'tap'
import handler from '../../../functions/node-release/handler.ts'
import { connect as connectKube, Deployment, Event, Node, PodDisruptionBudget } from '../../../shared/kube/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { rightsOf } from '../../servers/rights.ts'
import { eventually } from '../../servers/eventually.ts'
import { request } from '../../servers/request.ts'
import { condition, type Status } from '../host-life/fixtures.ts'
import { nodeLabels } from '../host-life/life.ts'
import { run } from '../host-life/platform.ts'

t.setTimeout(300_000)
const api = await ownKubernetes(t)
const admin = await connectKube({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const running = await run(t, api, [handler], { HA_WAIT: '1h' })

const make = async (name: string, spec: Partial<Hypervisor['spec']> = {}, status?: Partial<Status>): Promise<void> => {
  const labels = { ...nodeLabels('z1'), 'kubernetes.io/hostname': name }
  const taints = [{ key: 'foreign', effect: 'NoSchedule' }]
  await admin.create(Node, { metadata: { name, labels }, spec: { taints } })
  await admin.create(Hypervisor, { metadata: { name }, spec })
  if (status) await admin.applyStatus(Hypervisor, { metadata: { name }, status })
}
const say = (name: string, ...conditions: ReturnType<typeof condition>[]) =>
  admin.applyStatus(Hypervisor, { metadata: { name }, status: { serviceId: 's', conditions } })
const objects = async (name: string) => ({
  budget: await admin.find(PodDisruptionBudget, `maint-${name}`, 'kube-system'),
  deployment: await admin.find(Deployment, `maint-${name}`, 'kube-system')
})
const probe = ({ deployment }: Awaited<ReturnType<typeof objects>>) =>
  deployment?.spec?.template.spec?.containers[0]?.startupProbe?.exec?.command
// without Kubernetes' own, which come when the node controller gets to it
const taints = async (name: string) => {
  const keys = (await admin.find(Node, name))?.spec?.taints?.map(({ key }) => key) ?? []
  return keys.filter(key => !key.startsWith('node.kubernetes.io/'))
}
const event = (name: string) => running.hypervisorChanged('node-release', name)

t.test('HV-58: a machine is held back from the first day, and started only when it is in service', async t => {
  await make('held')
  t.equal(await event('held'), 204)
  const first = await objects('held')
  t.match(first.budget, {
    spec: { minAvailable: 1, selector: { matchLabels: { 'cobaltcore-maintenance-controller': 'maint-held' } } }
  })
  t.match(first.deployment, {
    metadata: {
      labels: { 'cobaltcore-maintenance-controller': 'maint-held' },
      ownerReferences: [{ kind: 'Node', name: 'held' }]
    },
    spec: {
      replicas: 1,
      template: {
        metadata: { labels: { 'node.gardener.cloud/critical-component': 'true' } },
        spec: { hostNetwork: true, nodeSelector: { 'kubernetes.io/hostname': 'held' }, tolerations: [{ operator: 'Exists' }] }
      }
    }
  })
  t.strictSame(probe(first), ['/bin/false'])
  await say('held', condition('Onboarding', 'False'))
  t.equal(await event('held'), 204)
  const second = await objects('held')
  t.strictSame(probe(second), ['/bin/true'])
  t.equal(await event('held'), 204)
  t.strictSame(await running.tick('slow'), [204])
  t.equal((await objects('held')).deployment?.metadata?.generation, second.deployment?.metadata?.generation, 'HV-7: written once')
})

t.test('HV-50: the taint comes when the host is empty, beside those of others', async t => {
  await make('leaving', { maintenance: 'termination' })
  await say('leaving', condition('Evicting', 'True', 'Failed'))
  await event('leaving')
  t.strictSame(await taints('leaving'), ['foreign'], 'HV-45: not while servers are left')
  await say('leaving', condition('Evicting', 'False'))
  // the node controller may write its own taint at the same moment: then the event of that change comes
  const become = (wanted: string) =>
    eventually(wanted, async () => {
      t.equal(await event('leaving'), 204)
      return (await taints('leaving')).join() === wanted
    })
  await become('foreign,kvm.cloud.sap/offboarding')
  await admin.patch(Node, { name: 'leaving' }, { spec: { taints: [{ key: 'foreign', effect: 'NoSchedule' }] } })
  await eventually('HV-9: the taint again, by the tick alone', async () => {
    t.strictSame(await running.tick('fast'), [204])
    return (await taints('leaving')).length === 2
  })
  await admin.patch(Hypervisor, { name: 'leaving' }, { spec: { maintenance: 'ha' } })
  await become('foreign') // and goes when it no longer leaves
  await admin.patch(Hypervisor, { name: 'leaving' }, { spec: { maintenance: 'termination' } })
  await become('foreign,kvm.cloud.sap/offboarding') // told as the same once more
})

t.test('HV-8: a host that is only observed is neither held back nor tainted', async t => {
  await make('watched', { maintenance: 'termination' })
  await admin.patch(Hypervisor, { name: 'watched' }, { metadata: { annotations: { 'kvm.cloud.sap/drover-observe': 'true' } } })
  await say('watched', condition('Evicting', 'False'))
  t.equal(await event('watched'), 204)
  t.strictSame(await running.tick('slow'), [204])
  t.strictSame(await taints('watched'), ['foreign'])
  t.strictSame(await objects('watched'), { budget: undefined, deployment: undefined })
})

t.test('HV-58, HV-59: released when offboarded, but not while high availability is on', async t => {
  await make('gone', { maintenance: 'termination' })
  const now = { lastTransitionTime: new Date().toISOString() }
  await say('gone', condition('Offboarded', 'True', 'Offboarded', now), condition('HaEnabled', 'True'))
  await event('gone')
  t.match(await objects('gone'), { budget: { spec: { minAvailable: 1 } }, deployment: { spec: { replicas: 1 } } })
  await say('gone', condition('Offboarded', 'True', 'Offboarded', now), condition('HaEnabled', 'False', 'Evicted'))
  t.equal(await event('gone'), 204)
  t.match(await objects('gone'), { budget: { spec: { minAvailable: 0 } }, deployment: { spec: { replicas: 0 } } })

  await make('stubborn', { maintenance: 'termination' })
  const longAgo = { lastTransitionTime: '2026-01-01T00:00:00Z' }
  await say('stubborn', condition('Offboarded', 'True', 'Offboarded', longAgo), condition('HaEnabled', 'True'))
  t.strictSame(await running.tick('fast'), [204], 'by time alone')
  t.match(await objects('stubborn'), { deployment: { spec: { replicas: 0 } } })
  const { body } = await request<{ items: { reason: string; note: string; regarding: { name: string } }[] }>(
    api,
    'GET',
    '/apis/events.k8s.io/v1/events'
  )
  t.ok(body.items.some(({ reason, regarding }) => reason === 'ReleasedWithHa' && regarding.name === 'stubborn'))
  const told = body.items.filter(({ reason }) => reason === 'Acted').map(({ regarding, note }) => `${regarding.name}: ${note}`)
  const acted = new Set(told)
  t.ok(acted.has('gone: machine: held → released (the host has left OpenStack)'), 'HV-67')
  t.ok(acted.has('leaving: taint kvm.cloud.sap/offboarding: absent → present (the host is empty)'))
  const overdue = async () => {
    const { items } = await admin.list(Event, { namespace: 'default' })
    return items.filter(({ reason }) => reason === 'ReleasedWithHa').map(({ series }) => series?.count ?? 1)
  }
  t.strictSame(await overdue(), [1])
  t.strictSame(await running.tick('fast'), [204])
  t.strictSame(await overdue(), [1], 'HV-7: it is told when it is released, not with every tick')
})

t.test('a host whose lifecycle is off, one without a Hypervisor, and one that is gone', async t => {
  await make('off', { lifecycleEnabled: false })
  t.equal(await event('off'), 204)
  t.strictSame(await objects('off'), { budget: undefined, deployment: undefined })
  t.equal(await event('nobody'), 204)
})

t.test('its role is the smallest that works', async t => {
  t.strictSame(await rightsOf(api, 'node-release.yaml', 'node-release'), { unused: [], refused: [] })
})
