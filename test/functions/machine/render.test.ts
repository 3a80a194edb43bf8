// The golden example of §12, the seed's four of §13, and one case for each rule of T, S, M, B, N, C and K.
import t from 'tap'
import { canonicalQuantity } from '../../../functions/machine/canonical-quantity.ts'
import type { InstanceSpec } from '../../../functions/machine/kubevirt.ts'
import { attachmentName, macAddress } from '../../../functions/machine/names.ts'
import { render, type Rendered, type RenderOptions } from '../../../functions/machine/render.ts'
import type { Machine } from '../../../shared/schema/machine.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { goldenMachine, goldenVm, machine, network, networkOf, options, seedMachines, seedVms } from './fixtures.ts'

type Spec = Machine['spec']
const owner = (name: string) => [
  { apiVersion: 'vitistack.io/v1alpha1', kind: 'Machine', name, uid: 'UID', controller: true, blockOwnerDeletion: true }
]
const labels = (name: string) => ({ 'vitistack.io/machine': name, 'vitistack.io/managed-by': 'kubevirt-operator' })
const made = (spec: Spec, more: Partial<RenderOptions> = {}): Rendered =>
  render(machine(spec), networkOf, undefined, { ...options, ...more })
const guest = (spec: Spec, more?: Partial<RenderOptions>): InstanceSpec => made(spec, more).vm.spec.template.spec

t.test('§12: the golden example, byte by byte', async t => {
  const { attachments, secret, claims, dataVolumes, vm } = render(goldenMachine, networkOf, undefined, options)
  t.strictSame({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', ...vm }, goldenVm)
  const meta = (name: string) => ({ name, namespace: 'shop', labels: labels('web-7'), ownerReferences: owner('web-7') })
  t.strictSame(attachments, [
    {
      metadata: { name: 'br-prov-vlan310', namespace: 'shop', labels: { 'vitistack.io/managed-by': 'kubevirt-operator' } },
      spec: {
        config:
          '{"cniVersion":"1.0.0","name":"br-prov-vlan310","type":"bridge","bridge":"br-prov","vlan":310,"mtu":9000,"ipam":{}}'
      }
    }
  ])
  t.strictSame(secret, {
    metadata: meta('web-7-cloudinit'),
    data: {
      userdata: Buffer.from('#cloud-config\nfqdn: web-7.shop.example\n').toString('base64'),
      networkdata: Buffer.from('version: 2\n').toString('base64')
    }
  })
  t.strictSame(claims, [
    {
      metadata: meta('web-7-logs'),
      spec: {
        accessModes: ['ReadWriteMany'],
        volumeMode: 'Filesystem',
        storageClassName: 'shared',
        resources: { requests: { storage: '10Gi' } }
      }
    }
  ])
  t.strictSame(dataVolumes, [
    {
      metadata: meta('web-7-root'),
      spec: {
        source: { registry: { url: 'docker://images.example.org/debian:12' } },
        storage: {
          accessModes: ['ReadWriteMany'],
          volumeMode: 'Block',
          storageClassName: 'fast-ssd',
          resources: { requests: { storage: '60Gi' } }
        }
      }
    }
  ])
})

const claimsOf: Record<string, Array<[string, string, string?]>> = {
  'basic-vm': [['basic-vm-root', '40Gi']],
  'custom-vm': [
    ['custom-vm-root', '20Gi'],
    ['custom-vm-data', '100Gi', 'fast-ssd']
  ],
  'networked-vm': [['networked-vm-root', '40Gi']],
  'cloud-init-vm': [['cloud-init-vm-root', '80Gi']]
}
for (const given of seedMachines) {
  const { name } = given.metadata
  t.test(`§13: the seed's ${name}`, async t => {
    const { attachments, secret, claims, dataVolumes, vm } = render(given, networkOf, undefined, options)
    t.strictSame(vm.metadata, { name, namespace: 'default', labels: labels(name), ownerReferences: owner(name) })
    t.strictSame(vm.spec, { runStrategy: 'Always', template: { metadata: { labels: labels(name) }, spec: seedVms[name] } })
    t.strictSame(
      claims.map(({ metadata, spec }) => [
        metadata.name,
        spec.resources.requests.storage,
        ...(spec.storageClassName ? [spec.storageClassName] : [])
      ]),
      claimsOf[name]
    )
    for (const { spec } of claims) matchWhole(t, spec, { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' })
    t.strictSame(dataVolumes, [])
    t.strictSame(
      attachments.map(({ spec }) => JSON.parse(spec?.config ?? '') as unknown),
      name === 'networked-vm'
        ? [
            { cniVersion: '1.0.0', name: 'br0-vlan2101', type: 'bridge', bridge: 'br0', vlan: 2101, ipam: {} },
            { cniVersion: '1.0.0', name: 'br1-untagged', type: 'bridge', bridge: 'br1', ipam: {} }
          ]
        : []
    )
    if (name !== 'cloud-init-vm') return t.equal(secret, undefined, 'C1')
    t.equal(secret?.metadata?.name, 'cloud-init-vm-cloudinit')
    t.strictSame(Object.keys(secret?.data ?? {}), ['userdata'])
    return t.equal(
      Buffer.from(secret?.data?.['userdata'] ?? '', 'base64').toString(),
      given.spec.cloudInit?.userData,
      'bytes equal to the input'
    )
  })
}

t.test('T2, T4: overrides count field by field, disks by name and in place', async t => {
  const spec = guest({ template: 'medium', resources: { cpu: { cores: 4 }, memory: { size: '8Gi' } } })
  t.match(spec.domain, { cpu: { cores: 4, threads: 1, sockets: 1 }, memory: { guest: '8Gi' } })
  const { claims } = made({
    template: 'small',
    disks: [
      { name: 'data', size: '1Gi' },
      { name: 'root', accessMode: 'ReadWriteMany' }
    ]
  })
  t.strictSame(
    claims.map(({ metadata, spec }) => [metadata.name, spec.resources.requests.storage, spec.accessModes[0]]),
    [
      ['m-root', '20Gi', 'ReadWriteMany'],
      ['m-data', '1Gi', 'ReadWriteOnce']
    ]
  )
})

t.test('T5: rendered twice is the same bytes, whatever the order of keys', async t => {
  const other = JSON.parse(JSON.stringify(goldenMachine)) as Machine
  other.spec = Object.fromEntries(Object.entries(other.spec).toReversed())
  t.equal(
    JSON.stringify(render(other, networkOf, undefined, options)),
    JSON.stringify(render(goldenMachine, networkOf, undefined, options))
  )
})

t.test('S3: the word default, unless a class is called so', async t => {
  const storageClass = (more?: Partial<RenderOptions>) => made({ template: 'small' }, more).claims[0]?.spec.storageClassName
  t.equal(storageClass(), undefined)
  t.equal(storageClass({ hasClassDefault: true }), 'default')
})

t.test('S6, S7: read-only disks and every source', async t => {
  const { claims, dataVolumes, vm } = made({
    template: 'small',
    disks: [
      { name: 'ro', size: '1Gi', accessMode: 'ReadOnlyMany' },
      { name: 'web', size: '2Gi', source: { http: { url: 'https://x/y.qcow2' } } },
      { name: 'copy', size: '3Gi', source: { pvc: { name: 'golden' } } },
      { name: 'ref', size: '4Gi', source: { dataSource: { name: 'debian', namespace: 'images' } } },
      { name: 'box', source: { containerDisk: { image: 'img' } } },
      { name: 'empty', size: '5Gi', source: { blank: {} } }
    ],
    cdroms: [
      { name: 'iso', size: '1Gi', source: { http: { url: 'https://x/y.iso' } } },
      { name: 'own', source: { pvc: { name: 'isos' } } }
    ]
  })
  t.strictSame(
    claims.map(({ metadata }) => metadata.name),
    ['m-root', 'm-ro', 'm-empty']
  )
  t.strictSame(
    dataVolumes.map(({ metadata, spec }) => [metadata.name, spec.source ?? spec.sourceRef]),
    [
      ['m-web', { http: { url: 'https://x/y.qcow2' } }],
      ['m-copy', { pvc: { name: 'golden', namespace: 'default' } }],
      ['m-ref', { kind: 'DataSource', name: 'debian', namespace: 'images' }],
      ['m-iso', { http: { url: 'https://x/y.iso' } }]
    ]
  )
  const { domain, volumes } = vm.spec.template.spec
  t.strictSame(domain.devices.disks?.[1], { name: 'ro', disk: { bus: 'virtio', readonly: true } })
  t.strictSame(domain.devices.disks?.at(-1), { name: 'own', cdrom: { bus: 'sata', readonly: true } })
  t.strictSame(volumes?.slice(-4), [
    { name: 'box', containerDisk: { image: 'img' } },
    { name: 'empty', persistentVolumeClaim: { claimName: 'm-empty' } },
    { name: 'iso', dataVolume: { name: 'm-iso' } },
    { name: 'own', persistentVolumeClaim: { claimName: 'isos' } }
  ])
})

t.test('a claim has the quantity that the server will store', async t => {
  const cases: Array<[string, string]> = [
    ['20Gi', '20Gi'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['1000M', '1G'],
    ['2500k', '2500k'],
    ['1073741824', '1073741824'],
    ['3e3', '3k'],
    ['0.5Gi', '512Mi']
  ]
  for (const [given, stored] of cases) t.equal(canonicalQuantity(given), stored, given)
})

t.test('M3: the run strategy', async t => {
  t.equal(made({ template: 'small' }).vm.spec.runStrategy, 'Always')
  t.equal(made({ template: 'small', powerState: 'Running' }).vm.spec.runStrategy, 'Always')
  t.equal(made({ template: 'small', powerState: 'Stopped' }).vm.spec.runStrategy, 'Halted')
  t.notHas(made({ template: 'small' }).vm.spec, { running: true })
})

t.test('the label of the cluster goes to every child', async t => {
  const given = machine(
    { template: 'small', cloudInit: { userData: 'x' } },
    { labels: { 'cluster.vitistack.io/cluster-name': 'c1', other: 'no' } }
  )
  const { vm, claims, secret } = render(given, networkOf, undefined, options)
  for (const { metadata } of [vm, ...claims, secret ?? {}] as Array<{ metadata?: { labels?: object } }>)
    t.strictSame(metadata?.labels, { ...labels('m'), 'cluster.vitistack.io/cluster-name': 'c1' })
})

t.test('B1–B4: boot order', async t => {
  const numbers = (spec: Spec) => {
    const { disks = [], interfaces = [] } = guest(spec).domain.devices
    return Object.fromEntries([...disks, ...interfaces].flatMap(({ name, bootOrder }) => (bootOrder ? [[name, bootOrder]] : [])))
  }
  const cdroms: Spec['cdroms'] = [{ name: 'iso', source: { containerDisk: { image: 'i' } } }]
  const disks: Spec['disks'] = [{ name: 'data', size: '1Gi' }]
  const cloudInit = { userData: 'x' }
  t.strictSame(numbers({ template: 'small', disks, cloudInit }), { root: 1 }, 'B2')
  t.strictSame(numbers({ template: 'small', disks, cdroms, cloudInit, bootOrder: ['cdrom', 'network', 'disk'] }), {
    iso: 1,
    default: 2,
    root: 3,
    data: 4
  })
  t.strictSame(numbers({ template: 'small', disks, cdroms, bootOrder: ['network'] }), { default: 1 })
})

t.test('N3: names of attachments', async t => {
  t.equal(attachmentName({ bridge: 'br0' }), 'br0-untagged')
  t.equal(attachmentName({ bridge: 'br0', vlan: 0 }), 'br0-untagged')
  t.equal(attachmentName({ bridge: 'br.1', vlan: 5 }), 'br.1-vlan5')
  t.match(attachmentName({ bridge: 'Br_0', vlan: 5 }), /^br-0-vlan5-[0-9a-f]{8}$/)
  t.not(attachmentName({ bridge: 'Br_0' }), attachmentName({ bridge: 'br_0' }), 'two bridges, two names')
  const legal = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
  for (const bridge of ['-', '.', '..', '_', 'a..b', 'a.-b', '.a', 'A.', '-a-', 'a-.b'])
    t.match(attachmentName({ bridge, vlan: 1 }), legal, bridge)
})

t.test('N4: MAC addresses', async t => {
  const mac = (seed = '', nic = 'default') => macAddress({ name: 'basic-vm', namespace: 'default' }, nic, seed)
  t.equal(mac(), '02:c0:19:97:ef:da')
  t.match(mac('seed'), /^02(:[0-9a-f]{2}){5}$/)
  t.not(mac('seed'), mac())
  t.not(mac('', 'eth0'), mac())
  t.equal(
    guest({ template: 'small', networks: [{ name: 'a', networkName: 'mgmt-net', macAddress: '52:54:00:AB:CD:EF' }] }).domain
      .devices.interfaces?.[0]?.macAddress,
    '52:54:00:ab:cd:ef'
  )
})

t.test('N5: multiqueue exactly with virtio and more than one CPU', async t => {
  const queue = (spec: Spec) => guest(spec).domain.devices.networkInterfaceMultiqueue
  t.equal(queue({ template: 'small' }), undefined)
  t.equal(queue({ template: 'small', resources: { cpu: { threads: 2 } } }), true)
  t.equal(queue({ template: 'large', networks: [{ name: 'a', networkName: 'mgmt-net', model: 'e1000' }] }), undefined)
})

t.test('N6: pod network and nadRef', async t => {
  const { attachments, vm } = render(
    machine({
      template: 'small',
      networks: [
        { name: 'a', networkName: 'pod' },
        { name: 'b', networkName: 'nad' },
        { name: 'c', networkName: 'far' }
      ]
    }),
    name =>
      ({
        pod: network('pod', { podNetwork: true }),
        nad: network('nad', { nadRef: { name: 'ovs' } }),
        far: network('far', { nadRef: { name: 'ovs', namespace: 'net' } })
      })[name],
    undefined,
    options
  )
  t.strictSame(attachments, [], 'used as they are')
  t.strictSame(vm.spec.template.spec.networks, [
    { name: 'a', pod: {} },
    { name: 'b', multus: { networkName: 'ovs' } },
    { name: 'c', multus: { networkName: 'net/ovs' } }
  ])
  matchWhole(t, vm.spec.template.spec.domain.devices.interfaces, [{ masquerade: {} }, { bridge: {} }, { bridge: {} }])
})

t.test('C1–C6: cloud-init', async t => {
  const source = { userdata: 'dXNlcg==', mine: 'bWluZQ==' }
  const from = (cloudInit: Spec['cloudInit']) => {
    const { secret, vm } = render(machine({ template: 'small', ...(cloudInit && { cloudInit }) }), networkOf, source, options)
    return [secret?.data, vm.spec.template.spec.volumes?.find(({ name }) => name === 'cloudinitdisk')?.cloudInitNoCloud]
  }
  const own = { name: 'm-cloudinit' }
  t.strictSame(from(undefined), [undefined, undefined], 'C1')
  t.strictSame(from({}), [undefined, undefined])
  t.strictSame(from({ userData: 'a', secretRef: { name: 's' } }), [{ userdata: 'YQ==' }, { secretRef: own }], 'C2: inline wins')
  t.strictSame(from({ secretRef: { name: 's' } }), [undefined, { secretRef: { name: 's' } }], 'C4')
  t.strictSame(from({ secretRef: { name: 's', key: 'userData' } }), [undefined, { secretRef: { name: 's' } }], 'C4')
  t.strictSame(from({ secretRef: { name: 's', key: 'mine' } }), [{ userdata: 'bWluZQ==' }, { secretRef: own }], 'C3: copied')
  t.strictSame(from({ secretRef: { name: 's' }, networkData: 'n' }), [
    { networkdata: 'bg==', userdata: 'dXNlcg==' },
    { networkDataSecretRef: own, secretRef: own }
  ])
  t.strictSame(from({ networkData: 'n' }), [{ networkdata: 'bg==' }, { networkDataSecretRef: own }], 'C6')
})

t.test('K7–K9: features, machine type and firmware', async t => {
  const domain = (given: Spec['domain'], more?: Partial<RenderOptions>) => {
    const {
      cpu: _cpu,
      memory: _memory,
      devices: _devices,
      ...rest
    } = guest({ template: 'small', ...(given && { domain: given }) }, more).domain
    return rest
  }
  t.strictSame(domain(undefined), {})
  t.strictSame(domain({ features: { acpi: false, apic: true, hyperv: false } }), {
    features: { acpi: { enabled: false }, apic: { enabled: true } }
  })
  t.strictSame(domain({ machine: { type: 'pc-q35' } }), { machine: { type: 'q35' } })
  t.strictSame(domain({ machine: { type: 'pc-q35-9.0' } }), { machine: { type: 'pc-q35-9.0' } })
  t.strictSame(domain({ firmware: { bootloader: { efi: true } } }), { firmware: { bootloader: { efi: { secureBoot: false } } } })
  t.strictSame(domain({ firmware: { bootloader: { secureBoot: true } } }), {
    features: { smm: { enabled: true } },
    firmware: { bootloader: { efi: { secureBoot: true } } }
  })
  t.strictSame(domain({ firmware: { bootloader: { efi: false } } }), {})
  t.strictSame(
    domain(undefined, { architecture: 'arm64' }),
    { firmware: { bootloader: { efi: { secureBoot: false } } } },
    'arm64 has no BIOS'
  )
  t.strictSame(
    guest({ template: 'small', cdroms: [{ name: 'c', source: { containerDisk: { image: 'i' } } }] }, { architecture: 'arm64' })
      .domain.devices.disks?.[1]?.cdrom?.bus,
    'scsi'
  )
})
