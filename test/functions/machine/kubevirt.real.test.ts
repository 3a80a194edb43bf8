// The judgement of KubeVirt itself: its own webhooks and controller, with our function beside them under its own role.
import * as fc from 'fast-check'
import t from 'tap'
import { StorageClass, VirtualMachine, VirtualMachineInstance } from '../../../functions/machine/kubevirt.ts'
import { render } from '../../../functions/machine/render.ts'
import { Machine } from '../../../shared/schema/machine.ts'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/real-kubernetes.ts'
import { kubevirt } from '../../servers/kubevirt.ts'
import { request } from '../../servers/request.ts'
import { arbitraryNetworks, validSpec } from './arbitrary.ts'
import { goldenMachine, machine, networkOf, options, seedMachines } from './fixtures.ts'
import { bindClaims, gone, openWorld } from './world.ts'

t.setTimeout(300_000)
const api = await ownKubernetes(t)
const virt = await kubevirt(t, api)
const world = await openWorld(t, api)
const { admin, poke, find } = world
const ns = api.namespace
for (const name of ['fast-ssd', 'shared'])
  await admin.create(StorageClass, { metadata: { name }, provisioner: 'none.example' } as unknown as StorageClass)

async function judged(vm: VirtualMachine): Promise<string | undefined> {
  const body = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', ...vm, metadata: { ...vm.metadata, namespace: ns } }
  const path = `/apis/kubevirt.io/v1/namespaces/${ns}/virtualmachines?dryRun=All&fieldValidation=Strict`
  const answer = await request<{ message?: string }>(api, 'POST', path, body)
  return answer.status === 201 ? undefined : `${answer.status}: ${answer.body.message}`
}

t.test('virt-api is really asked: it refuses what the definition accepts', async t => {
  const { vm } = render(machine({ template: 'small' }), networkOf, undefined, options)
  t.equal(await judged(vm), undefined)
  const { domain } = vm.spec.template.spec
  const orphan = { ...domain, devices: { ...domain.devices, disks: [{ name: 'nosuch', disk: { bus: 'virtio' } }] } }
  t.match(
    await judged({
      ...vm,
      spec: { ...vm.spec, template: { ...vm.spec.template, spec: { ...vm.spec.template.spec, domain: orphan } } }
    }),
    /nosuch/
  )
})

t.test('none of the golden, the seed’s and 2,000 random VMs is refused by KubeVirt', async t => {
  for (const given of [goldenMachine, ...seedMachines])
    t.equal(await judged(render(given, networkOf, undefined, options).vm), undefined, given.metadata.name)
  const queue = fc.sample(validSpec, 2000)
  const refused: string[] = []
  const work = async (): Promise<void> => {
    for (let spec = queue.pop(); spec; spec = queue.pop()) {
      const why = await judged(render(machine(spec), name => arbitraryNetworks[name], undefined, options).vm)
      if (why !== undefined) refused.push(`${why} for ${JSON.stringify(spec)}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  t.strictSame(refused, [])
})

t.test('a Machine runs when its VM runs; stop and start by others are followed and not fought', async t => {
  await admin.create(Machine, { metadata: { name: 'real', namespace: ns }, spec: { template: 'small' } })
  t.equal(await poke(ns, 'real'), 204)
  await bindClaims(world, ns, ['real-root'])
  const follow = (phase: string) =>
    eventually(
      `the Machine to be ${phase}`,
      async () => {
        await poke(ns, 'real')
        return (await find(ns, 'real')).status?.phase === phase
      },
      60_000
    )
  await virt.playNode(ns, 'real')
  await follow('Running')
  await eventually('Ready', async () => {
    await poke(ns, 'real')
    return (await find(ns, 'real')).status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  })
  t.match((await find(ns, 'real')).status, { nodeName: 'played', vmiName: 'real', ipAddresses: ['10.9.8.7'] })
  const quiet = await admin.find(VirtualMachine, 'real', ns)
  await poke(ns, 'real')
  t.equal(
    (await admin.find(VirtualMachine, 'real', ns))?.metadata.generation,
    quiet?.metadata.generation,
    'M5: what KubeVirt fills in is not fought'
  )

  t.equal(await virt.subresource(ns, 'real', 'stop'), 202)
  await request(api, 'DELETE', `/api/v1/namespaces/${ns}/pods?labelSelector=vm.kubevirt.io%2Fname%3Dreal&gracePeriodSeconds=0`)
  await request(
    api,
    'PATCH',
    `/apis/kubevirt.io/v1/namespaces/${ns}/virtualmachineinstances/real`,
    { metadata: { finalizers: null } },
    { 'content-type': 'application/merge-patch+json' }
  )
  await follow('Stopped')
  t.equal((await admin.find(VirtualMachine, 'real', ns))?.spec.runStrategy, 'Halted', 'M3')
  t.equal(await virt.subresource(ns, 'real', 'start'), 202)
  await virt.playNode(ns, 'real')
  await follow('Running')
  t.equal((await admin.find(VirtualMachine, 'real', ns))?.spec.runStrategy, 'Always')
  const told = new Set(world.told.map(({ type }) => type))
  for (const verb of ['created', 'started', 'stopped']) t.ok(told.has(`io.vitistack.machine.${verb}.v1`), verb)
})

t.test('deletion waits for KubeVirt', async t => {
  await admin.delete(Machine, { name: 'real', namespace: ns })
  await poke(ns, 'real')
  t.match((await find(ns, 'real')).status?.conditions?.[0], { reason: 'Deleting' })
  await request(api, 'DELETE', `/api/v1/namespaces/${ns}/pods?labelSelector=vm.kubevirt.io%2Fname%3Dreal&gracePeriodSeconds=0`)
  await eventually(
    'the instance to be asked to go',
    async () =>
      (await admin.find(VirtualMachineInstance, 'real', ns))?.metadata.deletionTimestamp ??
      ((await admin.find(VirtualMachineInstance, 'real', ns)) === undefined ? 'gone' : undefined),
    60_000
  )
  await request(
    api,
    'PATCH',
    `/apis/kubevirt.io/v1/namespaces/${ns}/virtualmachineinstances/real`,
    { metadata: { finalizers: null } },
    { 'content-type': 'application/merge-patch+json' }
  )
  await gone('the Machine', async () => {
    await poke(ns, 'real')
    return admin.find(Machine, 'real', ns)
  })
  t.equal(await admin.find(VirtualMachine, 'real', ns), undefined)
})
