// Random Machines: valid ones of every shape, and valid ones with one thing broken.
import * as fc from 'fast-check'
import type { Machine } from '../../../shared/schema/machine.ts'
import { network } from './fixtures.ts'

type Spec = Machine['spec']

export const arbitraryNetworks = Object.fromEntries(
  [
    network('pods', { podNetwork: true }),
    network('tagged', { bridge: 'br0', vlan: 100, mtu: 9000 }),
    network('plain', { bridge: 'br_EXT.1' }),
    network('nad', { nadRef: { name: 'ovs' } }),
    network('far', { nadRef: { name: 'ovs', namespace: 'networks' } })
  ].map(item => [item.metadata.name, item])
)

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,14}[a-z0-9]$/).filter(text => text !== 'cloudinitdisk')
const size = fc.oneof(
  fc.integer({ min: 1, max: 500 }).map(n => `${n}Gi`),
  fc.integer({ min: 1, max: 4000 }).map(n => `${n}Mi`),
  fc.constantFrom('1.5Gi', '10G', '1073741824', '0.5Ti')
)
const source = fc.oneof(
  fc.constant({ blank: {} }),
  fc.constant({ http: { url: 'https://images.example.org/a.qcow2' } }),
  fc.constant({ registry: { url: 'docker://images.example.org/debian:12' } }),
  fc.record({ pvc: fc.constantFrom({ name: 'golden' }, { name: 'golden', namespace: 'images' }) }),
  fc.constant({ dataSource: { name: 'debian' } }),
  fc.constant({ containerDisk: { image: 'images.example.org/box:1' } })
)
const classes = fc.constantFrom('default', 'fast-ssd', 'shared')
const disk = fc.record({
  name,
  size,
  storageClass: optional(classes),
  accessMode: optional(fc.constantFrom('ReadWriteOnce' as const, 'ReadWriteMany' as const, 'ReadWriteOncePod' as const)),
  volumeMode: optional(fc.constantFrom('Filesystem' as const, 'Block' as const)),
  source: optional(source)
})
const cdrom = fc.record({
  name,
  size,
  source: fc.oneof(
    fc.constant({ http: { url: 'https://images.example.org/a.iso' } }),
    fc.constant({ containerDisk: { image: 'images.example.org/tools:4' } }),
    fc.constant({ pvc: { name: 'isos' } })
  )
})
const octet = fc.integer({ min: 0, max: 255 }).map(n => n.toString(16).padStart(2, '0'))
const mac = fc.array(octet, { minLength: 5, maxLength: 5 }).map(octets => `52:${octets.join(':')}`.toUpperCase())
const nic = fc.record({
  name,
  networkName: fc.constantFrom(...Object.keys(arbitraryNetworks)),
  model: optional(fc.constantFrom('virtio' as const, 'e1000' as const, 'rtl8139' as const)),
  macAddress: optional(mac)
})
const unique = <T extends { name: string }>(items: readonly T[], taken: readonly string[] = []): T[] =>
  items.filter((item, i) => !taken.includes(item.name) && items.findIndex(other => other.name === item.name) === i)

const raw = fc.record({
  template: optional(fc.constantFrom('small', 'medium', 'large')),
  cores: fc.integer({ min: 1, max: 16 }),
  threads: optional(fc.integer({ min: 1, max: 2 })),
  sockets: optional(fc.integer({ min: 1, max: 4 })),
  memory: fc.integer({ min: 64, max: 65536 }).map(n => `${n}Mi`),
  disks: fc.array(disk, { maxLength: 4 }),
  cdroms: fc.array(cdrom, { maxLength: 2 }),
  networks: fc.array(nic, { maxLength: 4 }),
  bootOrder: optional(
    fc.uniqueArray(fc.constantFrom('disk' as const, 'network' as const, 'cdrom' as const), { minLength: 1, maxLength: 3 })
  ),
  cloudInit: optional(
    fc.record({
      userData: optional(fc.string({ minLength: 1, maxLength: 40 })),
      networkData: optional(fc.constant('version: 2\n'))
    })
  ),
  acpi: optional(fc.boolean()),
  apic: optional(fc.boolean()),
  hyperv: optional(fc.boolean()),
  efi: optional(fc.boolean()),
  secureBoot: optional(fc.boolean()),
  type: optional(fc.constantFrom('q35', 'pc-q35', 'pc-q35-9.0')),
  powerState: optional(fc.constantFrom('Running' as const, 'Stopped' as const)),
  evictionStrategy: optional(
    fc.constantFrom('None' as const, 'LiveMigrate' as const, 'LiveMigrateIfPossible' as const, 'External' as const)
  )
})

/** What is not given is absent, as it is on the wire. */
const bare = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

export const validSpec: fc.Arbitrary<Spec> = raw.map(given => {
  const own = unique(given.disks)
  const disks =
    given.template || own.some(({ source: from }) => !from || !('containerDisk' in from))
      ? own
      : [{ name: 'base', size: '1Gi' }, ...unique(own, ['base'])]
  const cdroms = unique(given.cdroms, [...disks.map(item => item.name), 'root'])
  const macs = new Set<string>()
  let onPods = false
  const networks = unique(given.networks).filter(({ networkName, macAddress }) => {
    const second = networkName === 'pods' && onPods
    const twin = macAddress !== undefined && macs.has(macAddress)
    onPods ||= networkName === 'pods'
    if (macAddress !== undefined) macs.add(macAddress)
    return !second && !twin
  })
  const bootOrder = given.bootOrder?.filter(entry => entry !== 'cdrom' || cdroms.length > 0)
  const efi = given.secureBoot ? true : given.efi
  return bare({
    template: given.template,
    resources: { cpu: { cores: given.cores, threads: given.threads, sockets: given.sockets }, memory: { size: given.memory } },
    disks,
    cdroms,
    networks,
    bootOrder: bootOrder?.length ? bootOrder : undefined,
    cloudInit: given.cloudInit,
    domain: {
      machine: given.type === undefined ? undefined : { type: given.type },
      features: { acpi: efi ? undefined : given.acpi, apic: given.apic, hyperv: given.hyperv },
      firmware: { bootloader: { efi, secureBoot: given.secureBoot } }
    },
    powerState: given.powerState,
    evictionStrategy: given.evictionStrategy
  }) as Spec
})

type Loose = Record<string, never>
/** One thing broken, and where that is told. */
const breakages: Array<[path: string, broken: (spec: Spec) => object]> = [
  ['spec.template', () => ({ template: 'huge' })],
  ['spec.resources.cpu.cores', () => ({ resources: { cpu: { cores: 0 }, memory: { size: '1Gi' } } })],
  ['spec.resources.cpu.sockets', () => ({ resources: { cpu: { cores: 1, sockets: 17 }, memory: { size: '1Gi' } } })],
  ['spec.resources.cpu', () => ({ resources: { cpu: { cores: 200, threads: 8 }, memory: { size: '1Gi' } } })],
  ['spec.resources.memory.size', () => ({ resources: { cpu: { cores: 1 }, memory: { size: '1000001' } } })],
  ['spec.resources.memory.size', () => ({ resources: { cpu: { cores: 1 }, memory: { size: 'much' } } })],
  ['spec.disks[0].name', () => ({ disks: [{ name: 'Upper_Case', size: '1Gi' }] })],
  ['spec.disks[0].name', () => ({ disks: [{ name: 'cloudinitdisk', size: '1Gi' }] })],
  [
    'spec.disks[1]',
    () => ({
      disks: [
        { name: 'twice', size: '1Gi' },
        { name: 'twice', size: '1Gi' }
      ]
    })
  ],
  ['spec.disks[0].size', () => ({ disks: [{ name: 'none', size: '0' }] })],
  ['spec.disks[0].accessMode', () => ({ disks: [{ name: 'root', size: '1Gi', accessMode: 'Sometimes' }] })],
  ['spec.disks[0].accessMode', () => ({ disks: [{ name: 'root', size: '1Gi', accessMode: 'ReadOnlyMany' }] })],
  ['spec.disks[0].source', () => ({ disks: [{ name: 'root', size: '1Gi', source: { blank: {}, http: { url: 'http://x' } } }] })],
  ['spec.disks[0].source.http.url', () => ({ disks: [{ name: 'root', size: '1Gi', source: { http: { url: 'ftp://x' } } }] })],
  ['spec.cdroms[0].source.blank', () => ({ cdroms: [{ name: 'iso', source: { blank: {} } }] })],
  ['spec.cdroms[0].size', () => ({ cdroms: [{ name: 'iso', source: { registry: { url: 'docker://x' } } }] })],
  ['spec.networks[0].macAddress', () => ({ networks: [{ name: 'a', networkName: 'tagged', macAddress: '01:00:00:00:00:01' }] })],
  [
    'spec.networks[1].networkName',
    () => ({
      networks: [
        { name: 'a', networkName: 'pods' },
        { name: 'b', networkName: 'pods' }
      ]
    })
  ],
  ['spec.networks[0].model', () => ({ networks: [{ name: 'a', networkName: 'tagged', model: 'ne2000' }] })],
  ['spec.bootOrder[0]', () => ({ bootOrder: ['cdrom'], cdroms: [] })],
  ['spec.cloudInit.networkData', () => ({ cloudInit: { networkData: '{"a": [' } })],
  ['spec.domain.firmware.bootloader', () => ({ domain: { firmware: { bootloader: { efi: false, secureBoot: true } } } })],
  ['spec.domain.machine.type', () => ({ domain: { machine: { type: 'pc-i440fx-9.0' } } })],
  ['spec.powerState', () => ({ powerState: 'Sleeping' })],
  ['spec.evictionStrategy', () => ({ evictionStrategy: 'Never' })]
]
export const brokenSpec: fc.Arbitrary<{ spec: Spec; path: string }> = fc
  .tuple(validSpec, fc.constantFrom(...breakages))
  .map(([spec, [path, broken]]) => ({ spec: { ...spec, ...broken(spec) } as Spec & Loose, path }))
