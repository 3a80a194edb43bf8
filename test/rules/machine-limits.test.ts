// A1–A16, W1–W9 (spec/machine.md §9): the limits of the rules on both of their sides, and where each thing is told.
import t from 'tap'
import type { MachineFacts } from '../../shared/rules/machine-facts.ts'
import { checkMachine } from '../../shared/rules/machine.ts'
import { confirmedRemovals } from '../../shared/rules/machine-update-rules.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import { facts, machine, running, small } from './machine-fixtures.ts'

const found = (given: Machine, old?: Machine, on: MachineFacts = facts) => {
  const { violations, warnings } = checkMachine(given, old, on)
  return [...violations, ...warnings].map(({ id, path }) => `${id} ${path}`)
}
const spec = (more: string) => `spec: {template: small, ${more}}`
const size = 'spec.resources.memory.size'
const memory = (text: string) => spec(`resources: {memory: {size: ${text}}}`)
const disks = (...given: string[]) => spec(`disks: [${given.map(one => `{${one}}`).join(', ')}]`)
const cdrom = (more: string) => spec(`cdroms: [{name: c, ${more}}]`)
const nics = (...given: string[]) => spec(`networks: [${given.map((one, n) => `{name: n${n}, networkName: ${one}}`).join(', ')}]`)
const mac = (address: string) => nics(`prod, macAddress: "${address}"`)
const userData = (bytes: number) => spec(`cloudInit: {userData: ${'x'.repeat(bytes)}}`)
const networkData = (bytes: number) => spec(`cloudInit: {networkData: ${'x'.repeat(bytes)}}`)
const mebibyte = 1024 * 1024

const rows: Array<[name: string, text: string, wanted: string[]]> = [
  ['a disk that is reserved', disks('name: cloudinitdisk, size: 1Gi'), ['A2 spec.disks[0].name']],
  [
    'a CD-ROM that is reserved',
    spec('cdroms: [{name: cloudinitdisk, source: {containerDisk: {image: i}}}]'),
    ['A2 spec.cdroms[0].name']
  ],
  [
    'a CD-ROM of the name of a disk',
    spec('cdroms: [{name: root, source: {containerDisk: {image: i}}}]'),
    ['A3 spec.cdroms[0].name']
  ],
  [
    'two CD-ROMs of one name',
    spec('cdroms: [{name: c, source: {containerDisk: {image: i}}}, {name: c, source: {containerDisk: {image: i}}}]'),
    ['A3 spec.cdroms[1]']
  ],
  [
    'two cards of one name',
    spec('networks: [{name: a, networkName: prod}, {name: a, networkName: prod}]'),
    ['A3 spec.networks[1]']
  ],
  ['memory of zero', memory('"0"'), [`A4 ${size}`, `W3 ${size}`]],
  ['memory of less than a MiB', memory('1500k'), [`A4 ${size}`, `W3 ${size}`]],
  ['a gibibyte', memory('1Gi'), []],
  ['a bit less', memory('1022Mi'), [`W3 ${size}`]],
  ['an odd number of MiB', memory('1025Mi'), [`W3 ${size}`]],
  ['as much as can be counted', memory('8589934590Mi'), []],
  ['more than can be counted', memory('8589934592Mi'), [`A4 ${size}`]],
  ['a CD-ROM of no size', cdrom('size: "0", source: {http: {url: "http://x/y"}}'), ['A4 spec.cdroms[0].size']],
  ['a CD-ROM of a size', cdrom('size: 1Gi, source: {http: {url: "http://x/y"}}'), []],
  ['512 CPUs', spec('resources: {cpu: {cores: 64, threads: 4, sockets: 2}}'), []],
  ['513 CPUs', spec('resources: {cpu: {cores: 57, threads: 3, sockets: 3}}'), ['A5 spec.resources.cpu']],
  ['the first disk is read-only', disks('name: root, accessMode: ReadOnlyMany'), ['A6 spec.disks[0].accessMode']],
  ['to boot from a network that was not named', spec('bootOrder: [network]'), []],
  ['1 MiB of user data', userData(mebibyte), ['A8 spec.cloudInit.userData']],
  ['more than 1 MiB', userData(mebibyte + 1), ['A8 spec.cloudInit.userData', 'A8 spec.cloudInit']],
  ['512 KiB of network data', networkData(mebibyte / 2), []],
  ['more network data', networkData(mebibyte / 2 + 1), ['A8 spec.cloudInit.networkData']],
  [
    'too much network data is not read as well',
    spec(`cloudInit: {networkData: "{${'x'.repeat(mebibyte / 2)}"}`),
    ['A8 spec.cloudInit.networkData']
  ],
  ['network data that says nothing', spec('cloudInit: {networkData: ""}'), []],
  [
    'secure boot without EFI',
    spec('domain: {firmware: {bootloader: {efi: false, secureBoot: true}}}'),
    ['A9 spec.domain.firmware.bootloader']
  ],
  [
    'secure boot without ACPI',
    spec('domain: {features: {acpi: false}, firmware: {bootloader: {secureBoot: true}}}'),
    ['A9 spec.domain.features.acpi']
  ],
  ['a multicast address', mac('53:54:00:00:00:02'), ['A11 spec.networks[0].macAddress']],
  ['another one', mac('01:00:5e:00:00:02'), ['A11 spec.networks[0].macAddress']],
  ['only the first octet counts', mac('52:55:01:03:05:07'), []],
  ['seven octets', mac('52:54:00:00:00:02:03'), ['A11 spec.networks[0].macAddress']],
  ['a CD-ROM of a DataSource without a size', cdrom('source: {dataSource: {name: d}}'), ['A13 spec.cdroms[0].size']],
  ['a CD-ROM of a registry without a size', cdrom('source: {registry: {url: "docker://i"}}'), ['A13 spec.cdroms[0].size']],
  ['a CD-ROM of a claim needs none', cdrom('source: {pvc: {name: p, namespace: default}}'), []],
  ['a source of the own namespace', disks('name: root, source: {pvc: {name: p, namespace: default}}'), []],
  ['inline user data alone', spec('cloudInit: {userData: a}'), []],
  [
    'W2: of two disks the first',
    disks('name: a, size: 1Gi').replace('small,', 'small, evictionStrategy: LiveMigrate,'),
    ['W2 spec.evictionStrategy']
  ],
  [
    'W2: a container disk moves with it',
    disks('name: root, accessMode: ReadWriteMany', 'name: c, source: {containerDisk: {image: i}}').replace(
      'small,',
      'small, evictionStrategy: LiveMigrate,'
    ),
    ['W9 spec.disks[1].source.containerDisk']
  ],
  [
    'W5: no class for a container disk',
    disks('name: c, storageClass: slow, source: {containerDisk: {image: i}}'),
    ['W9 spec.disks[0].source.containerDisk']
  ],
  [
    'W5: the class of a CD-ROM',
    cdrom('storageClass: slow, size: 1Gi, source: {http: {url: "http://x/y"}}'),
    ['W5 spec.cdroms[0].storageClass']
  ],
  ['W5: a class that is there', cdrom('storageClass: fast, size: 1Gi, source: {http: {url: "http://x/y"}}'), []],
  ['W5: the word default', cdrom('storageClass: default, size: 1Gi, source: {http: {url: "http://x/y"}}'), []],
  ['W5: a CD-ROM of a claim has no class', cdrom('storageClass: slow, source: {pvc: {name: p}}'), []],
  ['W5: a CD-ROM of a container has none', cdrom('storageClass: slow, source: {containerDisk: {image: i}}'), []],
  ['W5: a network', nics('nowhere'), ['W5 spec.networks[0].networkName']],
  ['W5: a Secret that is not read', spec('cloudInit: {userData: a, secretRef: {name: none}}'), ['W1 spec.cloudInit.secretRef']],
  ['W8: whatever its letters', mac('52:54:00:00:00:01'), ['W8 spec.networks[0].macAddress']]
]
for (const [name, text, wanted] of rows) t.test(name, async t => t.strictSame(found(machine(text)), wanted))

t.test('A9, A10: by what the cluster allows', async t => {
  const type = (text: string) => machine(spec(`domain: {machine: {type: ${text}}}`))
  const on = { ...facts, allowI440fx: true }
  t.strictSame(found(type('pc'), undefined, on), [])
  t.strictSame(found(type('pc-i440fx-'), undefined, on), ['A10 spec.domain.machine.type'])
  t.strictSame(checkMachine(type('pc-i440fx'), undefined, on).violations, [
    { id: 'A10', path: 'spec.domain.machine.type', message: 'pc-i440fx needs a version, such as pc-i440fx-9.0' }
  ])
  const threads = checkMachine(machine(spec('resources: {cpu: {threads: 2}}')), undefined, { ...facts, architecture: 'arm64' })
  t.strictSame(threads.violations, [{ id: 'A5', path: 'spec.resources.cpu.threads', message: 'must be 1 on arm64' }])
})

t.test('A15, A16: updates', async t => {
  const two = machine(disks('name: root, size: 30Gi', 'name: data, size: 1Gi'))
  t.strictSame(found(machine(disks('name: root, size: 29Gi', 'name: data, size: 1Gi')), two), ['A15 spec.disks[0].size'])
  t.strictSame(
    found(machine(disks('name: data, size: 1Gi')), two),
    ['A15 spec.disks'],
    'what only the template has is told at the list'
  )
  const box = machine(disks('name: c, source: {containerDisk: {image: i}}'))
  t.strictSame(found(machine(small), box), [], 'a container disk holds nothing')
  const annotated = (text: string) =>
    confirmedRemovals({ metadata: { name: 'm', annotations: { 'vitistack.io/confirm-disk-removal': text } } })
  t.strictSame([annotated('a, b,,c '), annotated('')], [['a', 'b', 'c'], []])
  t.strictSame(confirmedRemovals({ metadata: { name: 'm' } }), [])
})

t.test('what the schema refuses has the number of its rule', async t => {
  const wrong = (text: string) => found(machine(text))
  t.strictSame(wrong(spec('networks: [{name: a, networkName: prod, macAddress: 5}]')), ['A11 spec.networks[0].macAddress'])
  t.strictSame(wrong(spec('disks: [{name: 5, size: 1Gi}]')), ['A2 spec.disks[0].name'])
  t.strictSame(wrong(spec('disks: [{name: a, size: 1Gi, source: {http: {url: 5}}}]')), ['A13 spec.disks[0].source.http.url'])
  t.strictSame(wrong(spec('resources: {cpu: {cores: many}}')), ['A4 spec.resources.cpu.cores'])
})

t.test('W4, W7: only of a machine that runs, W8: not of itself', async t => {
  t.strictSame(found(machine(spec('resources: {cpu: {threads: 2}}')), machine(small)), [])
  t.strictSame(found(machine(spec('cloudInit: {userData: b}')), machine(small, running)), ['W7 spec.cloudInit'])
  const other = machine(mac('52:54:00:00:00:01'))
  t.strictSame(found({ ...other, metadata: { ...other.metadata, name: 'other' } }), [])
})

t.test('A2: the name of a claim, as long as it may be', async t => {
  const named = (length: number) => {
    const given = machine(disks(`name: ${'d'.repeat(63)}, size: 1Gi`))
    return checkMachine({ ...given, metadata: { ...given.metadata, name: 'm'.repeat(length) } }, undefined, facts).violations
  }
  t.strictSame(
    named(189).map(({ path }) => path),
    ['metadata.name']
  )
  t.strictSame(named(190).slice(1), [
    {
      id: 'A2',
      path: 'spec.disks[0].name',
      message: 'makes the name of the claim longer than 253: choose a shorter one'
    }
  ])
})
