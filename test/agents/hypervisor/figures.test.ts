// NA-1…6: the figures are pure functions of libvirt's documents.
import { assert, bigInt, array, property } from 'fast-check'
import t from 'tap'
import { allocate, type Amounts } from '../../../agents/hypervisor/figures/allocation.ts'
import { domainCapabilities } from '../../../agents/hypervisor/figures/domain-capabilities.ts'
import { domainFigures } from '../../../agents/hypervisor/figures/domain.ts'
import { hostFigures } from '../../../agents/hypervisor/figures/host.ts'
import { memoryQuantity, numbers, scale, split, toBytes } from '../../../agents/hypervisor/figures/units.ts'

const units: Array<[value: string, unit: string | undefined, bytes: bigint]> = [
  ['4', undefined, 4096n],
  ['4', 'KiB', 4096n],
  ['4', 'k', 4096n],
  ['4', 'KB', 4000n],
  ['7', 'b', 7n],
  ['7', 'bytes', 7n],
  ['2', 'M', 2n << 20n],
  ['2', 'MiB', 2n << 20n],
  ['2', 'MB', 2_000_000n],
  ['3', 'GiB', 3n << 30n],
  ['3', 'G', 3n << 30n],
  ['3', 'GB', 3_000_000_000n],
  ['1', 'TiB', 1n << 40n],
  ['1', 'PiB', 1n << 50n],
  ['1', 'EiB', 1n << 60n]
]
for (const [value, unit, bytes] of units) t.equal(toBytes(value, unit), bytes, `NA-1: ${value} ${unit ?? ''}`)
for (const bad of ['x', '-1', '1.5']) t.throws(() => toBytes(bad, 'KiB'))
t.throws(() => toBytes('1', 'parsec'))

t.strictSame(numbers('0-3,^2,8'), [0, 1, 3, 8])
t.throws(() => numbers('a-b'))
t.throws(() => numbers('0-99999999'), 'no memory for a typing error')
t.equal(memoryQuantity(64n << 30n), '64Gi')
t.equal(memoryQuantity((64n << 30n) + 1024n), '67108865Ki')
t.equal(memoryQuantity(0n), '0')
t.equal(memoryQuantity(5n), '5')

t.test('NA-5: exact decimals', async t => {
  t.equal(scale(10n, 1.1), 11n)
  t.equal(scale(3n, 2.3), 6n)
  t.equal(scale(100n, 1.15), 115n, 'a double would say 114')
  t.equal(scale(10n ** 18n, 1.000_000_000_1), 10n ** 18n + 10n ** 8n)
  t.equal(scale(10n ** 7n, 1e-7), 1n)
})

t.test('NA-4: a split adds up', async t => {
  assert(
    property(
      bigInt({ min: 0n, max: 1n << 60n }),
      array(bigInt({ min: 0n, max: 1000n }), { minLength: 1, maxLength: 9 }),
      (amount, weights) => {
        const parts = split(amount, weights)
        const sum = parts.reduce((a, b) => a + b, 0n)
        return sum === (weights.every(weight => weight === 0n) ? 0n : amount) && parts.every(part => part >= 0n)
      }
    ),
    { numRuns: 2000 }
  )
  t.strictSame(split(10n, [1n, 1n, 1n]), [4n, 3n, 3n])
})

const host = hostFigures(`<capabilities><host><cpu><arch>x86_64</arch></cpu><topology><cells num='2'>
  <cell id='1'><memory unit='KiB'>2097152</memory><cpus num='2'><cpu id='2'/><cpu id='3'/></cpus></cell>
  <cell id='0'><memory unit='GiB'>1</memory><cpus num='2'><cpu id='0'/><cpu id='1'/></cpus></cell>
</cells></topology></host></capabilities>`)

t.test('NA-1: capacity by cell, in the order of their ids', async t => {
  t.strictSame(host, {
    arch: 'x86_64',
    cells: [
      { id: 0, memory: 1n << 30n, cpus: [0, 1] },
      { id: 1, memory: 2n << 30n, cpus: [2, 3] }
    ]
  })
})

const MiB = 1n << 20n
const domain = (inner: string, { memory = 100, vcpu = `<vcpu>2</vcpu>` } = {}) =>
  domainFigures(`<domain><memory unit='MiB'>${memory}</memory>${vcpu}${inner}</domain>`)
const pin = (...sets: string[]) =>
  `<cputune>${sets.map((set, at) => `<vcpupin vcpu='${at}' cpuset='${set}'/>`).join('')}</cputune>`
const cellsOf = (xml: ReturnType<typeof domain>) => {
  const { cells, total, unplaced } = allocate(host, [xml])
  const show = ({ cpu, memory }: Amounts) => [Number(cpu), Number(memory) / Number(MiB)]
  return { cells: [...cells.values()].map(show), total: show(total), unplaced: show(unplaced) }
}

const placed: Array<[name: string, xml: ReturnType<typeof domain>, cells: number[][], unplaced?: number[]]> = [
  [
    'nothing said: in the total, in no cell',
    domain(''),
    [
      [0, 0],
      [0, 0]
    ],
    [2, 100]
  ],
  [
    'numatune: memory by its nodeset, CPUs with it',
    domain(`<numatune><memory nodeset='1'/></numatune>`),
    [
      [0, 0],
      [2, 100]
    ]
  ],
  [
    'pins alone: memory with the CPUs',
    domain(pin('0', '1')),
    [
      [2, 100],
      [0, 0]
    ]
  ],
  [
    'pins over both cells: by the cells that own the CPUs',
    domain(pin('0', '2')),
    [
      [1, 50],
      [1, 50]
    ]
  ],
  [
    'a pin that floats over both',
    domain(pin('0-3', '0-3')),
    [
      [1, 50],
      [1, 50]
    ]
  ],
  [
    'NA-3: guest cell 0 on host node 1 is charged to host cell 1',
    domain(
      `<cpu><numa><cell id='0' cpus='0-1' memory='100' unit='MiB'/></numa></cpu><numatune><memory nodeset='0-1'/><memnode cellid='0' nodeset='1'/></numatune>${pin('2', '3')}`
    ),
    [
      [0, 0],
      [2, 100]
    ]
  ],
  [
    'guest cells of different size',
    domain(
      `<cpu><numa><cell id='0' cpus='0' memory='70' unit='MiB'/><cell id='1' cpus='1' memory='30' unit='MiB'/></numa></cpu><numatune><memnode cellid='0' nodeset='1'/><memnode cellid='1' nodeset='0'/></numatune>${pin('2', '0')}`
    ),
    [
      [1, 30],
      [1, 70]
    ]
  ],
  [
    'a nodeset of both: evenly',
    domain(`<numatune><memory nodeset='0-1'/></numatune>`, { memory: 101 }),
    [
      [1, 50.5],
      [1, 50.5]
    ]
  ],
  [
    'a nodeset of cells that are not there',
    domain(`<numatune><memory nodeset='7'/></numatune>`),
    [
      [0, 0],
      [0, 0]
    ],
    [2, 100]
  ]
]
for (const [name, xml, cells, unplaced = [0, 0]] of placed) {
  t.test(name, async t => {
    const found = cellsOf(xml)
    t.strictSame(found.cells, cells)
    t.strictSame(found.unplaced, unplaced)
    t.strictSame(
      found.total,
      cells.reduce<number[]>((sum, cell) => sum.map((value, at) => value + (cell[at] ?? 0)), unplaced),
      'cells and the unplaced are the total'
    )
  })
}

t.test('NA-2: pinned vCPUs count, else the current number', async t => {
  t.equal(domain('', { vcpu: `<vcpu current='3'>8</vcpu>` }).vcpus, 3)
  t.equal(domain(pin('0'), { vcpu: `<vcpu current='3'>8</vcpu>` }).vcpus, 1)
})

t.test('a host with one cell leaves no question', async t => {
  const one = { arch: 'x', cells: [{ id: 0, memory: 1n, cpus: [0] }] }
  t.strictSame(allocate(one, [domain('')]).unplaced, { cpu: 0n, memory: 0n })
})

t.test('NA-6: domain capabilities, flattened', async t => {
  const found = domainCapabilities(`<domainCapabilities><domain>kvm</domain><arch>x86_64</arch>
    <cpu><mode name='host-model' supported='no'/><mode name='host-passthrough' supported='yes'><enum name='migratable'><value>on</value><value>off</value></enum></mode></cpu>
    <devices><disk supported='yes'><enum name='diskDevice'><value>disk</value><value>cdrom</value></enum></disk><video supported='no'><enum name='m'><value>vga</value></enum></video></devices>
    <features><vmcoreinfo supported='yes'/><gic supported='no'/><backup supported='yes'/></features></domainCapabilities>`)
  t.strictSame(found, {
    arch: 'x86_64',
    hypervisorType: 'kvm',
    supportedDevices: ['disk', 'disk/cdrom', 'disk/disk'],
    supportedCpuModes: ['mode/host-passthrough', 'mode/host-passthrough/off', 'mode/host-passthrough/on'],
    supportedFeatures: ['backup', 'vmcoreinfo']
  })
})
