// functions/rolling on the real API server, under exactly the role of knative/rolling.yaml; the test plays maintenance, agents and people.
import t from 'tap'
import handler from '../../../functions/rolling/handler.ts'
import { settleRolls, statusAnnotation } from '../../../functions/rolling/act.ts'
import { rollMark } from '../../../functions/rolling/decide.ts'
import { connect as connectKube } from '../../../shared/kube/index.ts'
import { ConfigMap } from '../../../shared/kube/kinds.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { rightsOf } from '../../servers/rights.ts'
import { testPlatform } from '../../runtime/platform.ts'
import { condition } from '../host-life/fixtures.ts'
import { run } from '../host-life/platform.ts'

t.setTimeout(300_000)
const api = await ownKubernetes(t)
const admin = await connectKube({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const running = await run(t, api, [handler], {})
const zone = { 'topology.kubernetes.io/zone': 'z1' }

const tell = (name: string, status: object): Promise<Hypervisor> => admin.applyStatus(Hypervisor, { metadata: { name }, status })
const ready = condition('Ready', 'True', 'Ready')
async function make(name: string, labels: Record<string, string> = {}): Promise<void> {
  await admin.create(Hypervisor, { metadata: { name, labels: { ...zone, ...labels } }, spec: {} })
  await tell(name, { numInstances: 0, conditions: [ready] })
}
const modes = async (): Promise<string[]> =>
  (await admin.list(Hypervisor)).items
    .filter(({ spec }) => spec.maintenance)
    .map(({ metadata, spec }) => `${metadata.name} ${spec.maintenance} ${spec.maintenanceReason}`)
const roll = (name: string, data: Record<string, string>): Promise<ConfigMap> =>
  admin.create(ConfigMap, { metadata: { name, namespace: 'drover', labels: { [rollMark]: 'true' } }, data })
const said = async (name: string) => (await admin.find(ConfigMap, name, 'drover'))?.metadata?.annotations?.[statusAnnotation]
const tick = async (): Promise<boolean> => t.strictSame(await running.tick('fast'), [204])

t.test('HV-48: through a fleet, one host after the other, and stopped by the first that fails', async t => {
  for (const name of ['a', 'b', 'c']) await make(name, { rack: '1' })
  await make('other')
  await tick()
  t.strictSame(await modes(), [], 'nobody asked')
  await roll('kernel', { selector: 'rack=1', reason: 'new kernel', version: '2' })
  await tick()
  await tick()
  t.strictSame(await modes(), ['a auto rolling kernel: new kernel'], 'one, however often it looks')
  t.equal((await admin.find(Hypervisor, 'a'))?.spec.version, '2')
  t.equal(await said('kernel'), '0 of 3 done, under way: a')
  const drained = [condition('Ready', 'False', 'Evicted'), condition('Evicting', 'False')]
  await tell('a', { numInstances: 0, evicted: true, conditions: drained, operatingSystem: { version: '1' } })
  await tick()
  t.strictSame(await modes(), ['a auto rolling kernel: new kernel'], 'it still runs the old one')
  await tell('a', { numInstances: 0, evicted: true, conditions: drained, operatingSystem: { version: '2' } })
  await tick()
  await tick()
  t.strictSame(await modes(), [], 'cleared, and the next waits until it is Ready')
  await tell('a', { numInstances: 0, conditions: [ready], operatingSystem: { version: '2' } })
  await tick()
  t.strictSame(await modes(), ['b auto rolling kernel: new kernel'])
  await tell('b', { numInstances: 1, conditions: [condition('Evicting', 'True', 'Blocked', { message: 'vm1 cannot be moved' })] })
  const before = await admin.find(ConfigMap, 'kernel', 'drover')
  await tick()
  t.match(await said('kernel'), /^stopped by b: .*vm1 cannot be moved; 1 of 3 done/)
  await admin.patch(Hypervisor, { name: 'b' }, { spec: { maintenance: '', maintenanceReason: '' } })
  await tell('b', { numInstances: 1, conditions: [ready] })
  await tick()
  t.strictSame(await modes(), ['c auto rolling kernel: new kernel'], 'a person saw to it')
  t.not((await admin.find(ConfigMap, 'kernel', 'drover'))?.metadata?.resourceVersion, before?.metadata?.resourceVersion)
  const quiet = (await admin.find(ConfigMap, 'kernel', 'drover'))?.metadata?.resourceVersion
  await tick()
  t.equal((await admin.find(ConfigMap, 'kernel', 'drover'))?.metadata?.resourceVersion, quiet, 'HV-7')
})

t.test('HV-48: a roll that cannot be read says so and touches nothing', async t => {
  const before = await modes()
  await roll('everything', {})
  await roll('odd', { selector: '((' })
  await tick()
  t.match(await said('everything'), /selector is missing/)
  t.match(await said('odd'), /^selector: /)
  t.strictSame(await modes(), before)
})

t.test('HV-48: two rolls that begin together take no more hosts of a zone than each of them allows', async t => {
  for (const name of ['two-a', 'two-b']) {
    await admin.create(Hypervisor, { metadata: { name, labels: { 'topology.kubernetes.io/zone': 'z2', pair: name } }, spec: {} })
    await tell(name, { numInstances: 0, conditions: [ready] })
  }
  await roll('first', { selector: 'pair=two-a' })
  await roll('second', { selector: 'pair=two-b' })
  await tick()
  const ofPair = async () => (await modes()).filter(mode => mode.startsWith('two-'))
  t.strictSame(await ofPair(), ['two-a auto rolling first'])
  t.equal(await said('second'), '0 of 1 done')
  await tick()
  t.strictSame(await ofPair(), ['two-a auto rolling first'])
})

t.test('HV-8: a host that is only observed is no part of a roll', async t => {
  const annotations = { 'kvm.cloud.sap/drover-observe': 'true' }
  const labels = { 'topology.kubernetes.io/zone': 'z3', watched: 'yes' }
  await admin.create(Hypervisor, { metadata: { name: 'watched', labels, annotations }, spec: {} })
  await tell('watched', { numInstances: 0, conditions: [ready] })
  await roll('watching', { selector: 'watched' })
  await tick()
  t.equal((await admin.find(Hypervisor, 'watched'))?.spec.maintenance, undefined)
  t.equal(await said('watching'), '0 of 0 done')
})

t.test('HV-48: a mode that a person sets at the same moment is not overwritten', async t => {
  const labels = { 'topology.kubernetes.io/zone': 'z4', quick: 'yes' }
  await admin.create(Hypervisor, { metadata: { name: 'quick', labels }, spec: {} })
  await tell('quick', { numInstances: 0, conditions: [ready] })
  await roll('slow', { selector: 'quick' })
  const kube = await connectKube({ manager: 'drover-rolling', kubeconfig: api.kubeconfig })
  t.teardown(() => kube.close())
  const slow: typeof kube = {
    ...kube,
    async list(kind, options) {
      const found = await kube.list(kind, options)
      // between the look at the selected hosts and the write
      if (options?.labelSelector === 'quick')
        await admin.patch(Hypervisor, { name: 'quick' }, { spec: { maintenance: 'manual', maintenanceReason: 'smoke' } })
      return found
    }
  }
  await settleRolls({ kube: slow, log: testPlatform().log, namespace: 'drover', observe: false })
  t.match((await admin.find(Hypervisor, 'quick'))?.spec, { maintenance: 'manual', maintenanceReason: 'smoke' })
  await tick()
  t.match((await admin.find(Hypervisor, 'quick'))?.spec, { maintenance: 'manual', maintenanceReason: 'smoke' })
})

t.test('its role is the smallest that works', async t => {
  t.strictSame(await rightsOf(api, 'rolling.yaml', 'rolling'), { unused: [], refused: [] })
})
