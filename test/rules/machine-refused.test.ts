// A1–A16 (spec/machine.md §9): what is refused and where, and its mended form, which is not.
import t from 'tap'
import { type Row, before, machine, proves, small } from './machine-fixtures.ts'

const refused: Row[] = [
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
  ]
]
proves(t, refused)
