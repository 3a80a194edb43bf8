// Disks, their claims and sources, and the order in which they are booted: the rules S and B.
import t from 'tap'
import { canonicalQuantity } from '../../../functions/machine/canonical-quantity.ts'
import type { RenderOptions } from '../../../functions/machine/render.ts'
import { type Spec, guest, made } from './fixtures.ts'

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
      { name: 'far', size: '3Gi', source: { pvc: { name: 'golden', namespace: 'images' } } },
      { name: 'near', size: '4Gi', source: { dataSource: { name: 'debian' } } },
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
      ['m-far', { pvc: { name: 'golden', namespace: 'images' } }],
      ['m-near', { kind: 'DataSource', name: 'debian', namespace: 'default' }],
      ['m-iso', { http: { url: 'https://x/y.iso' } }]
    ]
  )
  t.strictSame(dataVolumes.at(-1)?.spec.storage, { resources: { requests: { storage: '1Gi' } } }, 'S3: no class at all')
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
