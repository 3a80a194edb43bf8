// The golden example of §12, the seed’s four of §13, and the rules T and M.
import t from 'tap'
import { render, sorted } from '../../../functions/machine/render.ts'
import type { Machine } from '../../../shared/schema/machine.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { goldenMachine, goldenVm, machine, networkOf, options, seedMachines, seedVms, guest, made } from './fixtures.ts'

const owner = (name: string) => [
  { apiVersion: 'vitistack.io/v1alpha1', kind: 'Machine', name, uid: 'UID', controller: true, blockOwnerDeletion: true }
]
const labels = (name: string) => ({ 'vitistack.io/machine': name, 'vitistack.io/managed-by': 'kubevirt-operator' })

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

t.test('T5: keys in order at every depth, lists as they are, and no key without a value', async t => {
  const given = { b: 1, a: { d: undefined, c: [{ f: 2, e: null }, 1] } }
  t.equal(JSON.stringify(sorted(given)), '{"a":{"c":[{"e":null,"f":2},1]},"b":1}')
  t.notOk('d' in sorted(given).a)
})
