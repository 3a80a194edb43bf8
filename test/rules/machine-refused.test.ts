// A1–A16 (spec/machine.md §9): what is refused and where, and its mended form, which is not.
import t from 'tap'
import { type Row, before, machine, proves, small } from './machine-fixtures.ts'

const refused: Row[] = [
  [
    'A1',
    'spec.resources.memory.size',
    'is required without a template, such as 4Gi',
    'spec: {resources: {cpu: {cores: 1}}, disks: [{name: a, size: 1Gi}]}',
    'spec: {resources: {cpu: {cores: 1}, memory: {size: 1Gi}}, disks: [{name: a, size: 1Gi}]}'
  ],
  [
    'A1',
    'spec.resources.cpu.cores',
    'is required without a template: say cores or choose a template',
    'spec: {resources: {memory: {size: 1Gi}}, disks: [{name: a, size: 1Gi}]}',
    small
  ],
  [
    'A1',
    'spec.disks',
    'without a template a disk with a size is required',
    'spec: {resources: {cpu: {cores: 1}, memory: {size: 1Gi}}}',
    small
  ],
  [
    'A2',
    'metadata.name',
    'must be a DNS label of at most 63 characters, since the virtual machine is called the same',
    '{metadata: {name: a.b}, spec: {template: small}}',
    '{metadata: {name: a-b}, spec: {template: small}}'
  ],
  [
    'A2',
    'spec.disks[0].name',
    'must be a DNS label: lower-case letters, digits and -, at most 63 of them',
    'spec: {template: small, disks: [{name: Data, size: 1Gi}]}',
    'spec: {template: small, disks: [{name: data, size: 1Gi}]}'
  ],
  [
    'A2',
    'spec.networks[0].name',
    'must be a DNS label: lower-case letters, digits and -, at most 63 of them',
    'spec: {template: small, networks: [{name: Eth0, networkName: prod}]}',
    'spec: {template: small, networks: [{name: eth0, networkName: prod}]}'
  ],
  [
    'A3',
    'spec.disks[1]',
    'the disk a occurs twice: each must be given once',
    'spec: {template: small, disks: [{name: a, size: 1Gi}, {name: a, size: 1Gi}]}',
    'spec: {template: small, disks: [{name: a, size: 1Gi}, {name: b, size: 1Gi}]}'
  ],
  [
    'A3',
    'spec.networks[1].macAddress',
    'the MAC address 52:54:00:00:00:0a occurs twice: each must be given once',
    'spec: {template: small, networks: [{name: a, networkName: n, macAddress: "52:54:00:00:00:0a"}, {name: b, networkName: n, macAddress: "52:54:00:00:00:0A"}]}',
    small
  ],
  [
    'A3',
    'spec.bootOrder[1]',
    'the boot class disk occurs twice: each must be given once',
    'spec: {template: small, bootOrder: [disk, disk]}',
    'spec: {template: small, bootOrder: [disk, network]}'
  ],
  [
    'A4',
    'spec.disks[0].size',
    'the disk data needs a size, such as 20Gi',
    'spec: {template: small, disks: [{name: data}]}',
    'spec: {template: small, disks: [{name: root}]}'
  ],
  [
    'A4',
    'spec.disks[0].size',
    'must be greater than zero, such as 20Gi',
    'spec: {template: small, disks: [{name: data, size: "0"}]}',
    'spec: {template: small, disks: [{name: c, source: {containerDisk: {image: i}}}]}'
  ],
  [
    'A4',
    'spec.disks[0].accessMode',
    'must be one of "ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod"',
    'spec: {template: small, disks: [{name: root, accessMode: Once}]}',
    'spec: {template: small, disks: [{name: root, accessMode: ReadWriteOncePod}]}'
  ],
  [
    'A4',
    'spec.resources.cpu.cores',
    'must be <= 256',
    'spec: {template: small, resources: {cpu: {cores: 257}}}',
    'spec: {template: small, resources: {cpu: {cores: 256}}}'
  ],
  [
    'A4',
    'spec.resources.memory.size',
    'must be greater than zero, such as 4Gi',
    'spec: {template: small, resources: {memory: {size: lots}}}',
    'spec: {template: small, resources: {memory: {size: 1.5Gi}}}'
  ],
  [
    'A5',
    'spec.resources.cpu',
    'cores x threads x sockets is 768 and must not exceed 512',
    'spec: {template: large, resources: {cpu: {cores: 256, threads: 3}}}',
    'spec: {template: small, resources: {cpu: {cores: 32, threads: 1, sockets: 16}}}'
  ],
  [
    'A6',
    'spec.disks[0].accessMode',
    'a disk that is filled from a source must be writable: use ReadWriteOnce or ReadWriteMany',
    'spec: {template: small, disks: [{name: d, size: 1Gi, accessMode: ReadOnlyMany, source: {http: {url: "http://x/y"}}}]}',
    'spec: {template: small, disks: [{name: d, size: 1Gi, accessMode: ReadOnlyMany}]}'
  ],
  [
    'A7',
    'spec.bootOrder[0]',
    'there is no cdrom to boot from: add one or leave the class out',
    'spec: {template: small, bootOrder: [cdrom]}',
    'spec: {template: small, bootOrder: [network, disk]}'
  ],
  [
    'A8',
    'spec.cloudInit.networkData',
    'is neither YAML nor JSON: write network-config version 1 or 2',
    'spec: {template: small, cloudInit: {networkData: "{"}}',
    'spec: {template: small, cloudInit: {networkData: "version: 2"}}'
  ],
  [
    'A8',
    'spec.cloudInit.userData',
    'must not exceed 512 KiB: let the guest fetch large files at boot',
    `spec: {template: small, cloudInit: {userData: ${'x'.repeat(512 * 1024 + 1)}}}`,
    `spec: {template: small, cloudInit: {userData: ${'x'.repeat(512 * 1024)}}}`
  ],
  [
    'A9',
    'spec.domain.firmware.bootloader.secureBoot',
    'needs a machine type of the q35 family: use q35 or leave secureBoot out',
    'spec: {template: small, domain: {machine: {type: virt}, firmware: {bootloader: {secureBoot: true}}}}',
    'spec: {template: small, domain: {machine: {type: pc-q35-9.0}, firmware: {bootloader: {secureBoot: true}}}}'
  ],
  [
    'A9',
    'spec.domain.features.acpi',
    'EFI needs ACPI: do not switch it off',
    'spec: {template: small, domain: {features: {acpi: false}, firmware: {bootloader: {efi: true}}}}',
    'spec: {template: small, domain: {features: {acpi: false}}}'
  ],
  [
    'A10',
    'spec.domain.machine.type',
    'pc is not allowed here: use q35',
    'spec: {template: small, domain: {machine: {type: pc}}}',
    'spec: {template: small, domain: {machine: {type: pc-q35}}}'
  ],
  [
    'A11',
    'spec.networks[0].macAddress',
    '02:00:00:00:00:00 cannot be used: KubeVirt keeps it for itself',
    'spec: {template: small, networks: [{name: a, networkName: n, macAddress: "02:00:00:00:00:00"}]}',
    'spec: {template: small, networks: [{name: a, networkName: n, macAddress: "02:00:00:00:00:01"}]}'
  ],
  [
    'A11',
    'spec.networks[0].macAddress',
    'must be six octets, such as 52:54:00:12:34:56',
    'spec: {template: small, networks: [{name: a, networkName: n, macAddress: "52-54-00-12-34-56"}]}',
    small
  ],
  [
    'A12',
    'spec.networks[1].networkName',
    'another card is on the pod network already: KubeVirt allows one',
    'spec: {template: small, networks: [{name: a, networkName: pods}, {name: b, networkName: pods}]}',
    'spec: {template: small, networks: [{name: a, networkName: pods}, {name: b, networkName: prod}]}'
  ],
  [
    'A13',
    'spec.disks[0].source',
    'exactly one of blank, http, registry, pvc, dataSource, containerDisk must be given, not 0',
    'spec: {template: small, disks: [{name: root, source: {}}]}',
    'spec: {template: small, disks: [{name: root, source: {blank: {}}}]}'
  ],
  [
    'A13',
    'spec.cdroms[0].size',
    'is needed for a source of http, registry or dataSource, such as 1Gi',
    'spec: {template: small, cdroms: [{name: c, source: {http: {url: "http://x/y"}}}]}',
    'spec: {template: small, cdroms: [{name: c, size: 1Gi, source: {http: {url: "http://x/y"}}}]}'
  ],
  [
    'A13',
    'spec.cdroms[0].source.pvc.namespace',
    'a CD-ROM can only show a claim of its own namespace: leave namespace out',
    'spec: {template: small, cdroms: [{name: c, source: {pvc: {name: p, namespace: allowed}}}]}',
    'spec: {template: small, cdroms: [{name: c, source: {pvc: {name: p}}}]}'
  ],
  [
    'A14',
    'spec.disks[0].source.dataSource.namespace',
    'you may not clone from other: create on datavolumes/source is needed there',
    'spec: {template: small, disks: [{name: root, source: {dataSource: {name: p, namespace: other}}}]}',
    'spec: {template: small, disks: [{name: root, source: {dataSource: {name: p, namespace: allowed}}}]}'
  ],
  [
    'A15',
    'spec.disks[0].storageClass',
    'must stay default: a claim cannot change it; add a new disk instead',
    'spec: {template: small, disks: [{name: root, storageClass: fast}]}',
    'spec: {template: small, disks: [{name: root, size: 21Gi}]}',
    machine(small)
  ],
  [
    'A15',
    'spec.disks[0].source',
    'cannot change once the disk exists: add a new disk instead',
    'spec: {template: small, disks: [{name: root, source: {http: {url: "http://x/y"}}}]}',
    'spec: {template: small, disks: [{name: root, source: {blank: {}}}]}',
    machine(small)
  ],
  [
    'A16',
    'spec.disks',
    'the disk data and its data would be lost: name it in the annotation vitistack.io/confirm-disk-removal',
    small,
    '{metadata: {annotations: {vitistack.io/confirm-disk-removal: "x, data"}}, spec: {template: small}}',
    before['A16']
  ]
]
proves(t, refused)
