// Long: the API server and its definitions are set up once for all of it. functions/machine on the real API server with the real definitions of KubeVirt, CDI and Multus, under the role of knative/machine.yaml.
import t from 'tap'
import {
  DataVolume,
  NetworkAttachment,
  StorageClass,
  VirtualMachine,
  VirtualMachineInstance
} from '../../../functions/machine/kubevirt.ts'
import { finalizer } from '../../../functions/machine/names.ts'
import { PersistentVolumeClaim, Secret } from '../../../shared/kube/index.ts'
import { Machine } from '../../../shared/schema/machine.ts'
import { NetworkConfiguration } from '../../../shared/schema/network-configuration.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { installMachineCrds } from '../../servers/machine-crds.ts'
import { request } from '../../servers/request.ts'
import { rightsOf } from '../../servers/rights.ts'
import { eventually } from '../../servers/eventually.ts'
import { goldenMachine, goldenVm, networks, seedMachines, seedVms } from './fixtures.ts'
import { bindClaims, gone, openWorld, playInstance, playVm } from './world.ts'

t.setTimeout(120_000)
const api = await ownKubernetes(t)
await installMachineCrds(api)
const world = await openWorld(t, api)
const { admin, poke, find, tick } = world
const ns = api.namespace

for (const name of ['fast-ssd', 'shared'])
  await admin.create(StorageClass, {
    metadata: { name },
    provisioner: 'none.example',
    allowVolumeExpansion: name === 'fast-ssd'
  } as unknown as StorageClass)

const make = (name: string, spec: Machine['spec'] = { template: 'small' }, more: object = {}): Promise<Machine> =>
  admin.create(Machine, { metadata: { name, namespace: ns, ...more }, spec })
const vmOf = async (name: string): Promise<VirtualMachine> => {
  const vm = await admin.find(VirtualMachine, name, ns)
  if (!vm) throw new Error(`no VM ${name}`)
  return vm
}
const conditionOf = async (name: string, type: string) =>
  (await find(ns, name)).status?.conditions?.find(condition => condition.type === type)
const eventsOf = async (name: string) => {
  const { body } = await request<{ items: Array<{ reason: string; type: string; regarding: { name: string } }> }>(
    api,
    'GET',
    `/apis/events.k8s.io/v1/namespaces/${ns}/events`
  )
  return body.items.filter(({ regarding }) => regarding.name === name).map(({ reason }) => reason)
}

t.test('§12, §13: the golden example and those of the seed, from Machine to Running and back to nothing', async t => {
  for (const { metadata, spec } of Object.values(networks))
    await admin.create(NetworkConfiguration, { metadata: { name: metadata.name, namespace: ns }, spec })
  for (const given of [goldenMachine, ...seedMachines]) {
    const { name } = given.metadata
    await make(name, given.spec)
    t.equal(await poke(ns, name), 204, name)
    const vm = await vmOf(name)
    const wanted = name === 'web-7' ? goldenVm.spec.template.spec : seedVms[name]
    // MAC addresses are derived from the namespace, which is the test's here
    const anyMac = (text: string) => text.replaceAll(/"02(:[0-9a-f]{2}){5}"/g, '"MAC"')
    t.strictSame(
      JSON.parse(anyMac(JSON.stringify(vm.spec.template.spec))),
      JSON.parse(anyMac(JSON.stringify(wanted))),
      `${name} as the specification has it`
    )
    const { metadata, status } = await find(ns, name)
    t.strictSame(metadata.finalizers, [finalizer], 'F1')
    t.match(status, { phase: 'Creating', vmName: name, observedGeneration: 1, resourceVersion: vm.metadata.resourceVersion })
    t.match(status?.conditions, [
      { type: 'Ready', status: 'False', reason: 'Provisioning' },
      { type: 'VirtualMachineReady', status: 'True', reason: 'VMCreated' },
      { type: 'StorageReady', status: 'False', reason: 'PVCPending' },
      { type: 'NetworkReady', status: 'True', reason: 'NetworkConfigured' }
    ])
    const claims = (
      await admin.list(PersistentVolumeClaim, { namespace: ns, labelSelector: `vitistack.io/machine=${name}` })
    ).items.map(claim => claim.metadata?.name ?? '')
    await bindClaims(world, ns, claims)
    if (name === 'web-7')
      await request(
        api,
        'PATCH',
        `/apis/cdi.kubevirt.io/v1beta1/namespaces/${ns}/datavolumes/web-7-root/status`,
        { status: { phase: 'Succeeded' } },
        { 'content-type': 'application/merge-patch+json' }
      )
    if (name === 'web-7')
      await admin.create(PersistentVolumeClaim, {
        metadata: {
          name: 'web-7-root',
          namespace: ns,
          labels: { 'vitistack.io/machine': name, 'vitistack.io/managed-by': 'kubevirt-operator' },
          ownerReferences: [
            {
              apiVersion: 'cdi.kubevirt.io/v1beta1',
              kind: 'DataVolume',
              name: 'web-7-root',
              uid: (await admin.find(DataVolume, 'web-7-root', ns))?.metadata.uid ?? '',
              controller: true
            }
          ]
        },
        spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '60Gi' } } }
      })
    if (name === 'web-7') await bindClaims(world, ns, ['web-7-root'])
    await playVm(world, ns, name, 'Running')
    await playInstance(world, ns, name, {
      phase: 'Running',
      nodeName: 'node-1',
      interfaces: [
        {
          name: vm.spec.template.spec.networks?.[0]?.name,
          mac: '02:00:00:00:00:01',
          ipAddress: '10.1.2.3',
          ipAddresses: ['10.1.2.3', 'fe80::1']
        }
      ]
    })
    await eventually('the watches to tell', async () => {
      t.equal(await poke(ns, name), 204)
      return (await conditionOf(name, 'Ready'))?.status === 'True'
    })
    const running = await find(ns, name)
    t.match(running.status, {
      phase: 'Running',
      nodeName: 'node-1',
      vmiName: name,
      ipAddresses: ['10.1.2.3'],
      firstRunningAt: /Z$/
    })
    t.equal(await poke(ns, name), 204)
    t.equal(
      (await find(ns, name)).metadata.resourceVersion,
      running.metadata.resourceVersion,
      'P6: nothing changed, nothing written'
    )
  }
  t.match((await admin.find(NetworkAttachment, 'br-prov-vlan310', ns))?.spec?.config, /"vlan":310/)
  t.match((await admin.find(NetworkConfiguration, 'data-net', ns))?.status, {
    machineCount: 1,
    nadName: 'br-prov-vlan310',
    machines: [{ name: 'web-7', nic: 'data', macAddress: '52:54:00:ab:cd:0e' }]
  })
  const told = await eventsOf('web-7')
  for (const reason of ['PVCCreated', 'VirtualMachineCreated', 'NetworkConfigured']) t.ok(told.includes(reason), reason)
  t.ok(world.told.some(({ type }) => type === 'io.vitistack.machine.started.v1'))
})

t.test('M5: updates of cpu, memory, disk, network and cloud-init reach the VM; what others own stays', async t => {
  await admin.create(NetworkConfiguration, {
    metadata: { name: 'second', namespace: ns },
    spec: { bridge: 'br9', vlan: 9 }
  })
  await make('updated', {
    template: 'small',
    disks: [{ name: 'root', storageClass: 'fast-ssd' }],
    cloudInit: { userData: '#cloud-config' }
  })
  await poke(ns, 'updated')
  await bindClaims(world, ns, ['updated-root'])
  // M7, M3: somebody plugs a volume in, adds a label and stops the machine
  const live = await vmOf('updated')
  const { volumes = [], domain } = live.spec.template.spec
  const plugged = { name: 'hot', persistentVolumeClaim: { claimName: 'hot', hotpluggable: true } }
  const foreign = { name: 'stray', persistentVolumeClaim: { claimName: 'stray' } }
  await admin.patch(
    VirtualMachine,
    { name: 'updated', namespace: ns },
    {
      metadata: { labels: { team: 'a' } },
      spec: {
        runStrategy: 'Halted',
        template: {
          spec: {
            volumes: [...volumes, plugged, foreign],
            domain: {
              devices: {
                disks: [
                  ...(domain.devices.disks ?? []),
                  { name: 'hot', disk: { bus: 'scsi' } },
                  { name: 'stray', disk: { bus: 'virtio' } }
                ]
              }
            }
          }
        }
      }
    }
  )
  await admin.patch(
    Machine,
    { name: 'updated', namespace: ns },
    {
      spec: {
        resources: { cpu: { cores: 3 }, memory: { size: '3Gi' } },
        disks: [
          { name: 'root', size: '30Gi', storageClass: 'fast-ssd' },
          { name: 'data', size: '5Gi' }
        ],
        networks: [{ name: 'eth0', networkName: 'second' }],
        cloudInit: { userData: '#cloud-config\nnew: true' }
      }
    }
  )
  await eventually('the growth of the claim', async () => {
    t.equal(await poke(ns, 'updated'), 204)
    return (await admin.find(PersistentVolumeClaim, 'updated-root', ns))?.spec?.resources?.requests?.['storage'] === '30Gi'
  })
  const vm = await vmOf('updated')
  t.match(vm.spec.template.spec.domain, { cpu: { cores: 3 }, memory: { guest: '3Gi' } })
  t.strictSame(vm.spec.template.spec.networks, [{ name: 'eth0', multus: { networkName: 'br9-vlan9' } }])
  t.strictSame(
    vm.spec.template.spec.volumes?.map(({ name }) => name),
    ['root', 'data', 'cloudinitdisk', 'hot'],
    'hot-plugged kept, drift repaired'
  )
  t.equal(vm.spec.runStrategy, 'Halted', 'M3: a stop is not undone')
  t.equal(vm.metadata.labels?.['team'], 'a')
  t.equal(
    Buffer.from((await admin.find(Secret, 'updated-cloudinit', ns))?.data?.['userdata'] ?? '', 'base64').toString(),
    '#cloud-config\nnew: true'
  )
  t.ok((await eventsOf('updated')).includes('VirtualMachineUpdated'))
  const { metadata } = await vmOf('updated')
  await poke(ns, 'updated')
  t.equal((await vmOf('updated')).metadata.resourceVersion, metadata.resourceVersion, 'M5: it converges')
})

t.test('M3: a powerState that is said is owned', async t => {
  await make('power', { template: 'small', powerState: 'Running' })
  await poke(ns, 'power')
  await admin.patch(VirtualMachine, { name: 'power', namespace: ns }, { spec: { runStrategy: 'Halted' } })
  await poke(ns, 'power')
  t.equal((await vmOf('power')).spec.runStrategy, 'Always')
  await admin.patch(Machine, { name: 'power', namespace: ns }, { spec: { powerState: 'Stopped' } })
  await poke(ns, 'power')
  t.equal((await vmOf('power')).spec.runStrategy, 'Halted')
})

t.test('P2, X8: a VM that somebody deletes is made again, with its data', async t => {
  await make('again')
  await poke(ns, 'again')
  const claim = await admin.find(PersistentVolumeClaim, 'again-root', ns)
  await admin.delete(VirtualMachine, { name: 'again', namespace: ns })
  await poke(ns, 'again')
  t.ok(await vmOf('again'))
  t.equal((await admin.find(PersistentVolumeClaim, 'again-root', ns))?.metadata?.uid, claim?.metadata?.uid)
})

t.test('E1–E3, E6, E7: each error is told, and left when its cause is gone (P3)', async t => {
  const ready = async (name: string) => {
    t.equal(await poke(ns, name), 204, 'a wait is acknowledged')
    return conditionOf(name, 'Ready')
  }
  await make('e1', { template: 'huge' })
  t.match(await ready('e1'), { status: 'False', reason: 'TemplateNotFound', message: /small, medium or large/ })
  t.equal((await find(ns, 'e1')).status?.phase, 'Failed')
  t.equal(await admin.find(VirtualMachine, 'e1', ns), undefined)
  await admin.patch(Machine, { name: 'e1', namespace: ns }, { spec: { template: 'small' } })
  t.match(await ready('e1'), { reason: 'Provisioning' }, 'recovered')
  t.ok(
    world.told.some(
      ({ type, body }) => type === 'io.vitistack.machine.failed.v1' && JSON.parse(body).reason === 'TemplateNotFound'
    )
  )
  t.ok(world.told.some(({ type }) => type === 'io.vitistack.machine.recovered.v1'))

  await make('e2', { template: 'small', networks: [{ name: 'eth0', networkName: 'later' }] })
  t.match(await ready('e2'), { reason: 'NetworkConfigurationNotFound', message: /later/ })
  t.match(await conditionOf('e2', 'NetworkReady'), { status: 'False', reason: 'NetworkFailed' })
  t.equal((await find(ns, 'e2')).status?.phase, 'Pending')
  await admin.create(NetworkConfiguration, {
    metadata: { name: 'later', namespace: ns },
    spec: { bridge: 'br5' }
  })
  t.equal(
    await world.post(world.service, 'io.vitistack.networkconfiguration.changed.v1', {
      apiVersion: 'vitistack.io/v1alpha1',
      kind: 'NetworkConfiguration',
      namespace: ns,
      name: 'later'
    }),
    204
  )
  t.match(await conditionOf('e2', 'NetworkReady'), { status: 'True' }, 'the event of the network wakes it')
  await admin.delete(NetworkConfiguration, { name: 'later', namespace: ns })
  await world.post(world.service, 'io.vitistack.networkconfiguration.deleted.v1', {
    apiVersion: 'vitistack.io/v1alpha1',
    kind: 'NetworkConfiguration',
    namespace: ns,
    name: 'later'
  })
  t.match(
    (await vmOf('e2')).spec.template.spec.networks,
    [{ multus: { networkName: 'br5-untagged' } }],
    'N2: present networks are kept'
  )
  t.match(await conditionOf('e2', 'NetworkReady'), { status: 'False' })

  await make('e3', { template: 'small', disks: [{ name: 'root', storageClass: 'gold' }] })
  t.match(await ready('e3'), { reason: 'StorageClassNotFound', message: /gold/ })
  t.match(await conditionOf('e3', 'StorageReady'), { reason: 'StorageClassNotFound' })
  await admin.create(StorageClass, { metadata: { name: 'gold' }, provisioner: 'none.example' } as unknown as StorageClass)
  t.match(await ready('e3'), { reason: 'Provisioning' })

  await make('e6', { template: 'small', bootOrder: ['cdrom'] })
  t.match(await ready('e6'), { reason: 'InvalidSpec', message: /spec\.bootOrder\[0\]/ })

  await admin.create(PersistentVolumeClaim, {
    metadata: { name: 'e7-root', namespace: ns },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Gi' } } }
  })
  await make('e7')
  t.match(await ready('e7'), { reason: 'NameConflict', message: /e7-root/ })
  t.equal(await admin.find(VirtualMachine, 'e7', ns), undefined, 'T6')
  const claim = await admin.find(PersistentVolumeClaim, 'e7-root', ns)
  t.strictSame([claim?.metadata?.labels, claim?.metadata?.ownerReferences], [undefined, undefined], 'S5: never adopted')

  await make('c5', { template: 'small', cloudInit: { secretRef: { name: 'init', key: 'mine' } } })
  t.match(await ready('c5'), { reason: 'CloudInitSecretNotFound' })
  t.equal((await find(ns, 'c5')).status?.phase, 'Pending')
  await admin.create(Secret, { metadata: { name: 'init', namespace: ns }, data: { mine: 'YQ==' } })
  t.match(await ready('c5'), { reason: 'Provisioning' })
  t.strictSame((await admin.find(Secret, 'c5-cloudinit', ns))?.data, { userdata: 'YQ==' })
})

t.test('N3: a foreign attachment is used when equal, and never changed', async t => {
  const config = '{"ipam":{},"bridge":"br7","type":"bridge","name":"br7-untagged","cniVersion":"1.0.0"}'
  await admin.create(NetworkAttachment, { metadata: { name: 'br7-untagged', namespace: ns }, spec: { config } })
  await admin.create(NetworkAttachment, { metadata: { name: 'br8-untagged', namespace: ns }, spec: { config: '{}' } })
  for (const n of ['7', '8'])
    await admin.create(NetworkConfiguration, {
      metadata: { name: `net${n}`, namespace: ns },
      spec: { bridge: `br${n}` }
    })
  await make('seven', { template: 'small', networks: [{ name: 'a', networkName: 'net7' }] })
  await make('eight', { template: 'small', networks: [{ name: 'a', networkName: 'net8' }] })
  await eventually('the watch to tell', async () => {
    await poke(ns, 'eight')
    return (await conditionOf('eight', 'NetworkReady'))?.reason === 'NameConflict'
  })
  await poke(ns, 'seven')
  t.match(await conditionOf('seven', 'NetworkReady'), { status: 'True' })
  t.equal((await admin.find(NetworkAttachment, 'br7-untagged', ns))?.spec?.config, config)
  t.equal((await admin.find(NetworkAttachment, 'br8-untagged', ns))?.spec?.config, '{}')
})

t.test('NC: a new mtu reaches the attachment; status follows', async t => {
  await admin.patch(NetworkConfiguration, { name: 'second', namespace: ns }, { spec: { mtu: 1400 } })
  await world.post(world.service, 'io.vitistack.networkconfiguration.changed.v1', {
    apiVersion: 'vitistack.io/v1alpha1',
    kind: 'NetworkConfiguration',
    namespace: ns,
    name: 'second'
  })
  t.match((await admin.find(NetworkAttachment, 'br9-vlan9', ns))?.spec?.config, /"mtu":1400/)
  t.match((await admin.find(NetworkConfiguration, 'second', ns))?.status, {
    machineCount: 1,
    nadName: 'br9-vlan9',
    observedGeneration: 2,
    conditions: [{ type: 'Ready', status: 'True', reason: 'Configured' }]
  })
})

t.test('F1–F8: deletion leaves nothing behind, and touches nothing of others', async t => {
  await make('leaving', {
    template: 'small',
    networks: [{ name: 'a', networkName: 'prod-network' }],
    cloudInit: { userData: 'x' }
  })
  await make('leaving-root', { template: 'small' }) // its names begin alike
  await poke(ns, 'leaving')
  await poke(ns, 'leaving-root')
  await admin.patch(
    VirtualMachine,
    { name: 'leaving', namespace: ns },
    { metadata: { finalizers: ['kubevirt.io/virtualMachineControllerFinalize'] } }
  )
  await admin.delete(Machine, { name: 'leaving', namespace: ns })
  await poke(ns, 'leaving')
  t.match(await conditionOf('leaving', 'Ready'), { status: 'False', reason: 'Deleting', message: /VirtualMachine leaving/ })
  t.ok(await admin.find(PersistentVolumeClaim, 'leaving-root', ns), 'F2: claims wait for the VM')
  await poke(ns, 'leaving')
  t.strictSame((await find(ns, 'leaving')).metadata.finalizers, [finalizer], 'F8')
  await admin.patch(VirtualMachine, { name: 'leaving', namespace: ns }, { metadata: { finalizers: null } })
  await gone('the Machine', async () => {
    await poke(ns, 'leaving')
    return admin.find(Machine, 'leaving', ns)
  })
  t.equal(await admin.find(VirtualMachine, 'leaving', ns), undefined)
  t.equal(await admin.find(PersistentVolumeClaim, 'leaving-root', ns), undefined)
  t.equal(await admin.find(Secret, 'leaving-cloudinit', ns), undefined)
  t.ok(await admin.find(VirtualMachine, 'leaving-root', ns))
  t.ok(await admin.find(PersistentVolumeClaim, 'leaving-root-root', ns))
  t.ok(await admin.find(NetworkAttachment, 'br0-vlan2101', ns), 'networked-vm still uses it')
  await admin.delete(Machine, { name: 'networked-vm', namespace: ns })
  await request(api, 'DELETE', `/apis/kubevirt.io/v1/namespaces/${ns}/virtualmachineinstances/networked-vm`)
  await gone('the second Machine', async () => {
    await poke(ns, 'networked-vm')
    return admin.find(Machine, 'networked-vm', ns)
  })
  t.equal(await admin.find(NetworkAttachment, 'br0-vlan2101', ns), undefined, 'F4: unused now')
  t.match((await admin.find(NetworkConfiguration, 'prod-network', ns))?.status, { machineCount: 0 })
  t.ok((await eventsOf('leaving')).includes('CleanupCompleted'))
  t.ok(world.told.some(({ type }) => type === 'io.vitistack.machine.deleted.v1'))
})

t.test('the tick alone, with every event lost, reaches the same state', async t => {
  await make('silent')
  await eventually('the watch to tell', async () => {
    t.equal(await tick('slow'), 204)
    return (await admin.find(VirtualMachine, 'silent', ns)) !== undefined
  })
  t.equal((await find(ns, 'silent')).status?.phase, 'Creating')
})

t.test('L1, MT: logs with the fields of the seed, metrics under its names', async t => {
  const line = world.logs.map(text => JSON.parse(text) as Record<string, unknown>).find(({ machine }) => machine === 'web-7')
  t.match(line, {
    timestamp: /^\d{4}-.*Z$/,
    level: 'info',
    controller: 'Machine',
    machine: 'web-7',
    namespace: ns,
    phase: 'Creating',
    generation: 1,
    duration_ms: Number,
    event_id: /^\d+$/,
    message: /./
  })
  const text = await world.service.metrics()
  for (const name of [
    'kubevirt_operator_machines_total{phase="Creating",template="small"}',
    'kubevirt_operator_reconciliation_duration_seconds_count{controller="Machine"}',
    'kubevirt_operator_reconciliation_errors_total{controller="Machine",error_type="TemplateNotFound"}',
    'kubevirt_operator_virtual_machines_total{status=',
    'kubevirt_operator_storage_provisioning_duration_seconds_count{storage_class=',
    'kubevirt_operator_network_configuration_errors_total{network_name="later"}'
  ])
    t.ok(text.includes(name), name)
})

t.test('R2: its role is the smallest that works', async t => {
  const replica = world.start({ NAMESPACE: 'kubevirt-operator-system', POD_NAME: 'replica' })
  await eventually('the lease', async () => {
    await poke(ns, 'silent', replica)
    return (await replica.metrics()).includes('kubevirt_operator_machines_total{')
  })
  await replica.close()
  await admin.delete(Machine, { name: 'web-7', namespace: ns })
  await admin.delete(VirtualMachineInstance, { name: 'web-7', namespace: ns })
  await gone('the Machine with a DataVolume', async () => {
    await poke(ns, 'web-7')
    return admin.find(Machine, 'web-7', ns)
  })
  const { unused, refused } = await rightsOf(api, 'machine.yaml', 'kubevirt-operator-controller-manager')
  // asked by others on its behalf: the owner references by the API server, a clone by CDI
  const asked = new Set(['update vitistack.io/machines/finalizers', 'create cdi.kubevirt.io/datavolumes/source'])
  t.strictSame(
    unused.filter(right => !asked.has(right)),
    []
  )
  t.strictSame(refused, [])
})
