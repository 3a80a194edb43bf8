// What the cluster's own admission says of a claim: that its class cannot grow, that a quota is used up.
import t from 'tap'
import { StorageClass, VirtualMachine } from '../../../functions/machine/kubevirt.ts'
import { Machine } from '../../../shared/schema/machine.ts'
import { eventually } from '../../servers/eventually.ts'
import { installMachineCrds } from '../../servers/machine-crds.ts'
import { ownKubernetes } from '../../servers/real-kubernetes.ts'
import { request } from '../../servers/request.ts'
import { bindClaims, openWorld } from './world.ts'

t.setTimeout(120_000)
const api = await ownKubernetes(t)
await installMachineCrds(api)
const world = await openWorld(t, api)
const { admin, poke, find } = world
const ns = api.namespace
await admin.create(StorageClass, { metadata: { name: 'shared' }, provisioner: 'none.example' } as unknown as StorageClass)

const make = (name: string): Promise<Machine> =>
  admin.create(Machine, { metadata: { name, namespace: ns }, spec: { template: 'small' } })
const conditionOf = async (name: string, type: string) =>
  (await find(ns, name)).status?.conditions?.find(condition => condition.type === type)

t.test('S5: a class that cannot grow is told, and holds up nothing else', async t => {
  await make('stiff')
  await poke(ns, 'stiff')
  await bindClaims(world, ns, ['stiff-root'])
  await admin.patch(
    Machine,
    { name: 'stiff', namespace: ns },
    { spec: { resources: { cpu: { cores: 2 } }, disks: [{ name: 'root', size: '30Gi' }] } }
  )
  await eventually('the refusal', async () => {
    t.equal(await poke(ns, 'stiff'), 204)
    return /growth of the claim stiff-root/.test((await conditionOf('stiff', 'StorageReady'))?.message ?? '')
  })
  t.match((await admin.find(VirtualMachine, 'stiff', ns))?.spec.template.spec.domain, { cpu: { cores: 2 } })
  t.equal((await find(ns, 'stiff')).status?.phase, 'Creating', 'not Failed')
})

t.test('E4: a quota that is used up is told, and left when it is gone (P3)', async t => {
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'few' },
    spec: { hard: { persistentvolumeclaims: '0' } }
  }
  await request(api, 'POST', `/api/v1/namespaces/${ns}/resourcequotas`, quota)
  await eventually('the quota to count', async () =>
    (await request<{ status?: { used?: object } }>(api, 'GET', `/api/v1/namespaces/${ns}/resourcequotas/few`)).body.status?.used
      ? true
      : undefined
  )
  await make('e4')
  const ready = async () => {
    t.equal(await poke(ns, 'e4'), 204, 'a wait is acknowledged')
    return conditionOf('e4', 'Ready')
  }
  t.match(await ready(), { reason: 'InsufficientResources', message: /quota/ })
  await request(api, 'DELETE', `/api/v1/namespaces/${ns}/resourcequotas/few`)
  await eventually('no quota', async () => (await ready())?.reason === 'Provisioning')
})
