// A1–A16 and W1–W9 (spec/machine.md §9): each row's own example breaks it, and its mended form does not.
import t from 'tap'
import { parse } from 'yaml'
import { noFacts, type MachineFacts } from '../../shared/rules/machine-facts.ts'
import { checkMachine, machineRules } from '../../shared/rules/machine.ts'
import { inWords } from '../../shared/rules/rule.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import { matchWhole } from '../assert/match-whole.ts'

const machine = (text: string, more: Partial<Machine> = {}): Machine => {
  const given = parse(text) as Partial<Machine>
  return { spec: {}, ...more, ...given, metadata: { name: 'm', namespace: 'default', ...more.metadata, ...given.metadata } }
}
const network = (name: string, spec: NetworkConfiguration['spec'], status = {}): NetworkConfiguration => ({
  metadata: { name },
  spec,
  status
})
const networks: Record<string, NetworkConfiguration> = {
  pods: network('pods', { podNetwork: true }),
  prod: network('prod', { bridge: 'br0' }, { machines: [{ name: 'other', nic: 'eth0', macAddress: '52:54:00:00:00:01' }] })
}
const facts: MachineFacts = {
  ...noFacts,
  network: name => ({ known: true, value: networks[name] }),
  storageClass: name => ({ known: true, value: name === 'fast' ? true : undefined }),
  secret: name => ({ known: true, value: name === 'init' ? true : undefined }),
  mayCloneFrom: new Set(['allowed'])
}
const running = { status: { phase: 'Running' as const, firstRunningAt: '2026-01-01T00:00:00Z' } }
const small = 'spec: {template: small}'

/** What the example is an update of, for the rules about updates. */
const before: Record<string, Machine> = {
  A15: machine('spec: {template: medium}'),
  A16: machine('spec: {template: small, disks: [{name: data, size: 1Gi}]}'),
  W4: machine(small, running),
  W7: machine(small, running)
}

t.test('every rule of the specification is there once', async t => {
  const wanted = [...Array.from({ length: 16 }, (_, i) => `A${i + 1}`), ...Array.from({ length: 9 }, (_, i) => `W${i + 1}`)]
  t.strictSame(
    machineRules.map(({ id }) => id),
    wanted
  )
})

for (const { id, weight, example, what } of machineRules) {
  t.test(`${id}: ${what}`, async t => {
    const { violations, warnings } = checkMachine(machine(example), before[id], facts)
    const found = [...(weight === 'refused' ? violations : warnings)].filter(finding => finding.id === id)
    t.not(found.length, 0, 'its own example breaks it')
    for (const finding of found) t.match(inWords(finding), /^(spec|metadata)[\w.[\]/-]*: .+ \([AW]\d+\)$/, inWords(finding))
  })
}

// [rule, refused or warned about, accepted, the update's former state]
const cases: Array<[id: string, path: string, bad: string, good: string, old?: Machine | undefined]> = [
  [
    'A1',
    'spec.resources.memory.size',
    'spec: {resources: {cpu: {cores: 1}}, disks: [{name: a, size: 1Gi}]}',
    'spec: {resources: {cpu: {cores: 1}, memory: {size: 1Gi}}, disks: [{name: a, size: 1Gi}]}'
  ],
  ['A1', 'spec.resources.cpu.cores', 'spec: {resources: {memory: {size: 1Gi}}, disks: [{name: a, size: 1Gi}]}', small],
  ['A1', 'spec.disks', 'spec: {resources: {cpu: {cores: 1}, memory: {size: 1Gi}}}', small],
  ['A2', 'metadata.name', '{metadata: {name: a.b}, spec: {template: small}}', '{metadata: {name: a-b}, spec: {template: small}}'],
  [
    'A2',
    'spec.disks[0].name',
    'spec: {template: small, disks: [{name: Data, size: 1Gi}]}',
    'spec: {template: small, disks: [{name: data, size: 1Gi}]}'
  ],
  [
    'A2',
    'spec.networks[0].name',
    'spec: {template: small, networks: [{name: Eth0, networkName: prod}]}',
    'spec: {template: small, networks: [{name: eth0, networkName: prod}]}'
  ],
  [
    'A3',
    'spec.disks[1]',
    'spec: {template: small, disks: [{name: a, size: 1Gi}, {name: a, size: 1Gi}]}',
    'spec: {template: small, disks: [{name: a, size: 1Gi}, {name: b, size: 1Gi}]}'
  ],
  [
    'A3',
    'spec.networks[1].macAddress',
    'spec: {template: small, networks: [{name: a, networkName: n, macAddress: "52:54:00:00:00:0a"}, {name: b, networkName: n, macAddress: "52:54:00:00:00:0A"}]}',
    small
  ],
  [
    'A3',
    'spec.bootOrder[1]',
    'spec: {template: small, bootOrder: [disk, disk]}',
    'spec: {template: small, bootOrder: [disk, network]}'
  ],
  [
    'A4',
    'spec.disks[0].size',
    'spec: {template: small, disks: [{name: data}]}',
    'spec: {template: small, disks: [{name: root}]}'
  ],
  [
    'A4',
    'spec.disks[0].size',
    'spec: {template: small, disks: [{name: data, size: "0"}]}',
    'spec: {template: small, disks: [{name: c, source: {containerDisk: {image: i}}}]}'
  ],
  [
    'A4',
    'spec.disks[0].accessMode',
    'spec: {template: small, disks: [{name: root, accessMode: Once}]}',
    'spec: {template: small, disks: [{name: root, accessMode: ReadWriteOncePod}]}'
  ],
  [
    'A4',
    'spec.resources.cpu.cores',
    'spec: {template: small, resources: {cpu: {cores: 257}}}',
    'spec: {template: small, resources: {cpu: {cores: 256}}}'
  ],
  [
    'A4',
    'spec.resources.memory.size',
    'spec: {template: small, resources: {memory: {size: lots}}}',
    'spec: {template: small, resources: {memory: {size: 1.5Gi}}}'
  ],
  [
    'A5',
    'spec.resources.cpu',
    'spec: {template: large, resources: {cpu: {cores: 256, threads: 3}}}',
    'spec: {template: small, resources: {cpu: {cores: 32, threads: 1, sockets: 16}}}'
  ],
  [
    'A6',
    'spec.disks[0].accessMode',
    'spec: {template: small, disks: [{name: d, size: 1Gi, accessMode: ReadOnlyMany, source: {http: {url: "http://x/y"}}}]}',
    'spec: {template: small, disks: [{name: d, size: 1Gi, accessMode: ReadOnlyMany}]}'
  ],
  [
    'A7',
    'spec.bootOrder[0]',
    'spec: {template: small, bootOrder: [cdrom]}',
    'spec: {template: small, bootOrder: [network, disk]}'
  ],
  [
    'A8',
    'spec.cloudInit.networkData',
    'spec: {template: small, cloudInit: {networkData: "{"}}',
    'spec: {template: small, cloudInit: {networkData: "version: 2"}}'
  ],
  [
    'A8',
    'spec.cloudInit.userData',
    `spec: {template: small, cloudInit: {userData: ${'x'.repeat(512 * 1024 + 1)}}}`,
    `spec: {template: small, cloudInit: {userData: ${'x'.repeat(512 * 1024)}}}`
  ],
  [
    'A9',
    'spec.domain.firmware.bootloader.secureBoot',
    'spec: {template: small, domain: {machine: {type: virt}, firmware: {bootloader: {secureBoot: true}}}}',
    'spec: {template: small, domain: {machine: {type: pc-q35-9.0}, firmware: {bootloader: {secureBoot: true}}}}'
  ],
  [
    'A9',
    'spec.domain.features.acpi',
    'spec: {template: small, domain: {features: {acpi: false}, firmware: {bootloader: {efi: true}}}}',
    'spec: {template: small, domain: {features: {acpi: false}}}'
  ],
  [
    'A10',
    'spec.domain.machine.type',
    'spec: {template: small, domain: {machine: {type: pc}}}',
    'spec: {template: small, domain: {machine: {type: pc-q35}}}'
  ],
  [
    'A11',
    'spec.networks[0].macAddress',
    'spec: {template: small, networks: [{name: a, networkName: n, macAddress: "02:00:00:00:00:00"}]}',
    'spec: {template: small, networks: [{name: a, networkName: n, macAddress: "02:00:00:00:00:01"}]}'
  ],
  [
    'A11',
    'spec.networks[0].macAddress',
    'spec: {template: small, networks: [{name: a, networkName: n, macAddress: "52-54-00-12-34-56"}]}',
    small
  ],
  [
    'A12',
    'spec.networks[1].networkName',
    'spec: {template: small, networks: [{name: a, networkName: pods}, {name: b, networkName: pods}]}',
    'spec: {template: small, networks: [{name: a, networkName: pods}, {name: b, networkName: prod}]}'
  ],
  [
    'A13',
    'spec.disks[0].source',
    'spec: {template: small, disks: [{name: root, source: {}}]}',
    'spec: {template: small, disks: [{name: root, source: {blank: {}}}]}'
  ],
  [
    'A13',
    'spec.cdroms[0].size',
    'spec: {template: small, cdroms: [{name: c, source: {http: {url: "http://x/y"}}}]}',
    'spec: {template: small, cdroms: [{name: c, size: 1Gi, source: {http: {url: "http://x/y"}}}]}'
  ],
  [
    'A13',
    'spec.cdroms[0].source.pvc.namespace',
    'spec: {template: small, cdroms: [{name: c, source: {pvc: {name: p, namespace: allowed}}}]}',
    'spec: {template: small, cdroms: [{name: c, source: {pvc: {name: p}}}]}'
  ],
  [
    'A14',
    'spec.disks[0].source.dataSource.namespace',
    'spec: {template: small, disks: [{name: root, source: {dataSource: {name: p, namespace: other}}}]}',
    'spec: {template: small, disks: [{name: root, source: {dataSource: {name: p, namespace: allowed}}}]}'
  ],
  [
    'A15',
    'spec.disks[0].storageClass',
    'spec: {template: small, disks: [{name: root, storageClass: fast}]}',
    'spec: {template: small, disks: [{name: root, size: 21Gi}]}',
    machine(small)
  ],
  [
    'A15',
    'spec.disks[0].source',
    'spec: {template: small, disks: [{name: root, source: {http: {url: "http://x/y"}}}]}',
    'spec: {template: small, disks: [{name: root, source: {blank: {}}}]}',
    machine(small)
  ],
  [
    'A16',
    'spec.disks',
    small,
    '{metadata: {annotations: {vitistack.io/confirm-disk-removal: "x, data"}}, spec: {template: small}}',
    before['A16']
  ],
  [
    'W1',
    'spec.cloudInit.secretRef',
    'spec: {template: small, cloudInit: {userData: a, secretRef: {name: init}}}',
    'spec: {template: small, cloudInit: {secretRef: {name: init}}}'
  ],
  [
    'W2',
    'spec.evictionStrategy',
    'spec: {template: small, evictionStrategy: LiveMigrate}',
    'spec: {template: small, evictionStrategy: LiveMigrate, disks: [{name: root, accessMode: ReadWriteMany}]}'
  ],
  [
    'W3',
    'spec.resources.memory.size',
    'spec: {template: small, resources: {memory: {size: 1025Mi}}}',
    'spec: {template: small, resources: {memory: {size: 1026Mi}}}'
  ],
  [
    'W4',
    'spec.resources.cpu',
    'spec: {template: small, resources: {cpu: {threads: 2}}}',
    'spec: {template: small, resources: {cpu: {sockets: 2}}}',
    machine(small, running)
  ],
  [
    'W5',
    'spec.disks[0].storageClass',
    'spec: {template: small, disks: [{name: root, storageClass: slow}]}',
    'spec: {template: small, disks: [{name: root, storageClass: fast}]}'
  ],
  [
    'W5',
    'spec.cloudInit.secretRef.name',
    'spec: {template: small, cloudInit: {secretRef: {name: none}}}',
    'spec: {template: small, cloudInit: {secretRef: {name: init}}}'
  ],
  [
    'W6',
    'metadata.labels[vitistack.io/machine-template]',
    '{metadata: {labels: {vitistack.io/machine-template: large}}, spec: {template: small}}',
    '{metadata: {labels: {vitistack.io/machine-template: small}}, spec: {template: small}}'
  ],
  [
    'W7',
    'spec.cloudInit',
    'spec: {template: small, cloudInit: {userData: b}}',
    'spec: {template: small, powerState: Running}',
    machine(small, running)
  ],
  [
    'W8',
    'spec.networks[0].macAddress',
    'spec: {template: small, networks: [{name: a, networkName: prod, macAddress: "52:54:00:00:00:01"}]}',
    'spec: {template: small, networks: [{name: a, networkName: prod, macAddress: "52:54:00:00:00:02"}]}'
  ],
  [
    'W9',
    'spec.disks[0].source.containerDisk',
    'spec: {template: small, disks: [{name: c, source: {containerDisk: {image: i}}}]}',
    small
  ]
]
for (const [id, path, bad, good, old] of cases) {
  t.test(`${id} at ${path}`, async t => {
    const kind = id.startsWith('A') ? 'violations' : 'warnings'
    matchWhole(
      t,
      checkMachine(machine(bad), old, facts)[kind].filter(finding => finding.id === id),
      [{ path }]
    )
    const after = checkMachine(machine(good), old, facts)
    t.strictSame(after.violations, [])
    t.notOk(after.warnings.some(finding => finding.id === id))
  })
}

t.test('what depends on the cluster', async t => {
  const arm = { ...facts, architecture: 'arm64' as const }
  const ids = (text: string, on: MachineFacts) => checkMachine(machine(text), undefined, on).violations.map(({ id }) => id)
  t.strictSame(ids('spec: {template: small, resources: {cpu: {threads: 2}}}', arm), ['A5'])
  t.strictSame(ids('spec: {template: small, domain: {features: {acpi: false}}}', arm), ['A9'], 'arm64 has no BIOS')
  const old = { ...facts, allowI440fx: true }
  t.strictSame(ids('spec: {template: small, domain: {machine: {type: pc-i440fx}}}', old), ['A10'], 'a version is needed')
  t.strictSame(ids('spec: {template: small, domain: {machine: {type: pc-i440fx-9.0}}}', old), [])
})

t.test('A18: nothing is said of an object on its way out, or of a spec that stays', async t => {
  const broken = machine('spec: {template: huge}')
  const leaving = { ...broken, metadata: { ...broken.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  t.strictSame(checkMachine(leaving, undefined, facts), { violations: [], warnings: [] })
  t.strictSame(checkMachine({ ...broken, metadata: { ...broken.metadata, labels: { a: 'b' } } }, broken, facts), {
    violations: [],
    warnings: []
  })
})

t.test('A19: what cannot be read is said, and refuses nothing', async t => {
  const { violations, warnings } = checkMachine(
    machine('spec: {template: small, networks: [{name: a, networkName: x}]}'),
    undefined,
    noFacts
  )
  t.strictSame(violations, [])
  matchWhole(t, warnings, [{ id: 'W5', message: /was not checked/ }])
})

t.test('garbage is refused by its path and never throws', async t => {
  const garbage: Array<[string, string]> = [
    ['spec: {template: 5}', 'spec.template'],
    ['spec: {template: small, disks: {}}', 'spec.disks'],
    ['spec: {template: small, disks: [5]}', 'spec.disks[0]'],
    ['spec: {template: small, networks: [{name: a, networkName: b, macAddress: 5}]}', 'spec.networks[0].macAddress'],
    ['spec: {template: small, resources: {memory: {size: []}}}', 'spec.resources.memory.size'],
    ['spec: {template: small, cdroms: [{name: a}]}', 'spec.cdroms[0].source'],
    ['spec: []', 'spec']
  ]
  for (const [text, path] of garbage) {
    const { violations } = checkMachine(machine(text), undefined, facts)
    t.ok(
      violations.some(violation => violation.path === path),
      `${text}: ${violations.map(inWords).join('; ')}`
    )
  }
})

t.test('a list that no schema allows is told of, but not by each of its entries', async t => {
  const disks = Array.from({ length: 5000 }, (_, i) => ({ name: `d${i}`, storageClass: `c${i}` }))
  const { violations, warnings } = checkMachine({ ...machine(small), spec: { template: 'small', disks } }, undefined, facts)
  t.ok(violations.some(({ path }) => path === 'spec.disks'))
  t.equal(violations.filter(({ id, path }) => id === 'A4' && path.endsWith('.size')).length, 128, 'none has a size')
  t.equal(warnings.filter(({ id }) => id === 'W5').length, 128, 'no class exists')
})
