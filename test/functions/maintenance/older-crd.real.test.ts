// HV-4: beside the CRDs of the operator before us a host is drained all the same; what Drover adds is not written.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import evict from '../../../functions/evict/handler.ts'
import maintenance from '../../../functions/maintenance/handler.ts'
import { connect } from '../../../shared/kube/index.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { fakeOpenStack, passwordOf } from '../../openstack-sdk-lite/fake.ts'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { request } from '../../servers/request.ts'
import { watchMoves } from '../evict/agents.ts'
import { condition } from '../host-life/fixtures.ts'
import { environmentOf } from '../host-life/life.ts'
import { run } from '../host-life/platform.ts'

interface Schema {
  properties: Record<string, Schema>
  'x-kubernetes-validations'?: unknown
}
interface Crd {
  metadata: { name: string; resourceVersion?: string }
  spec: { versions: Array<{ schema: { openAPIV3Schema: Schema } }> }
}

const added = {
  spec: ['eviction', 'ha'],
  status:
    'observedGeneration phase agent internalIps nova onboarding offboarding maintenance managedTraits drift ha history'.split(' ')
}
const compatible = {
  spec: ['hypervisor', 'reason'],
  status: ['hypervisorServiceId', 'outstandingRamMb', 'outstandingInstances', 'conditions']
}

t.setTimeout(600_000)
const api = await ownKubernetes(t)
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())

/** As it was before Drover: the same CRD without what Drover added. */
async function strip(name: string, keeps: (part: 'spec' | 'status', field: string) => boolean): Promise<void> {
  const text = await readFile(join(import.meta.dirname, '..', '..', '..', 'crds', `${name}.yaml`), 'utf8')
  const crd = parse(text) as Crd
  for (const { schema } of crd.spec.versions) {
    for (const part of ['spec', 'status'] as const) {
      const { [part]: own } = schema.openAPIV3Schema.properties
      if (!own) continue
      own.properties = Object.fromEntries(Object.entries(own.properties).filter(([field]) => keeps(part, field)))
      if (name.startsWith('evictions')) delete own['x-kubernetes-validations'] // of a field that is gone
    }
  }
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`
  const { body: live } = await request<Crd>(api, 'GET', path)
  const { resourceVersion } = live.metadata
  const { status, body } = await request(api, 'PUT', path, { ...crd, metadata: { ...crd.metadata, resourceVersion } })
  if (status !== 200) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`)
}
await strip('evictions.kvm.cloud.sap', (part, field) => compatible[part].includes(field))
await strip('hypervisors.kvm.cloud.sap', (part, field) => !added[part].includes(field))

const fake = await fakeOpenStack(t, { hosts: ['hv1', 'hv2', 'hv3'] })
const host = fake.host('hv1')
host.liveMoveMs = 300
const onHost = () => [...fake.world.instances.values()].filter(instance => instance.host === 'hv1')
await admin.create(Hypervisor, { metadata: { name: 'hv1' } })
await eventually('the stripped schema to hold', async () => {
  await admin.patch(Hypervisor, { name: 'hv1' }, { status: { phase: 'Active' } }, { subresource: 'status' })
  return (await admin.find(Hypervisor, 'hv1'))?.status?.phase === undefined
})
await admin.applyStatus(Hypervisor, {
  metadata: { name: 'hv1' },
  status: { hypervisorId: host.id, serviceId: host.serviceId ?? '', conditions: [condition('Onboarding', 'False')] as never }
})
const env = { ...environmentOf({ options: passwordOf(fake) }), VERIFY_GAP: '200ms', SETTLE_GAP: '50ms', LISTING_AGE: '0s' }
const running = await run(t, api, [maintenance, evict], env)
await running.watch()
watchMoves(
  t,
  async () => fake.world.migrations.map(({ id, instance, source, status }) => ({ id, server: instance.id, source, status })),
  (type, data) => running.post('evict', type, data)
)
const stored = async () => (await admin.find(Hypervisor, 'hv1'))?.status
const evicted = (what: string) =>
  eventually(
    what,
    async () => {
      await running.tick('fast')
      const status = await stored()
      const told = status?.conditions?.find(({ type }) => type === 'Evicting')
      return status?.evicted === true && told?.status === 'False' && told.reason === 'Succeeded'
    },
    120_000
  )

await t.test('HV-4, HV-45: drained and called evicted; compatible fields only', async t => {
  for (let at = 0; at < 5; at++) fake.addServer({ name: `s${at}`, host: 'hv1' })
  await admin.patch(Hypervisor, { name: 'hv1' }, { spec: { maintenance: 'manual', maintenanceReason: 'new fans' } })
  await evicted('the drain')
  t.strictSame(onHost(), [], 'nobody is left')
  const { status = {} } = (await admin.find(Eviction, 'hv1')) ?? {}
  t.match(status, { outstandingRamMb: 0, hypervisorServiceId: host.serviceId })
  t.strictSame(
    Object.keys(status).filter(field => !compatible.status.includes(field)),
    []
  )
  t.match(
    status.conditions?.find(({ type }) => type === 'Evicting'),
    { status: 'False', reason: 'Succeeded' }
  )
})

await t.test('HV-46: a server on the drained host: emptied again by a new Eviction', async t => {
  const late = fake.addServer({ name: 'late', host: 'hv1' })
  const instances = [{ id: late.id, name: 'late', active: true }]
  await admin.patch(Hypervisor, { name: 'hv1' }, { status: { instances, numInstances: 1 } }, { subresource: 'status' })
  await eventually(
    'the server to leave again',
    async () => {
      await running.tick('fast')
      return onHost().length === 0
    },
    120_000
  )
  await admin.patch(Hypervisor, { name: 'hv1' }, { status: { instances: [], numInstances: 0 } }, { subresource: 'status' })
  await evicted('the second success')
  t.pass()
})

await t.test('HV-47: cleared in the middle: the Eviction goes, running moves end, then the host is enabled', async t => {
  await admin.patch(Hypervisor, { name: 'hv1' }, { spec: { maintenance: '' } })
  await eventually('the host to be enabled', async () => {
    await running.tick('fast')
    return host.status === 'enabled'
  })
  await eventually('the Eviction to be gone', async () => (await admin.find(Eviction, 'hv1')) === undefined)
  t.match(await stored(), { evicted: false })
})
