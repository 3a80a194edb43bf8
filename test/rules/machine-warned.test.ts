// W1–W9 (spec/machine.md §9): what is warned of and where, and its mended form, which is not.
import t from 'tap'
import { type Row, machine, proves, running, small } from './machine-fixtures.ts'

const warned: Row[] = [
  [
    'W1',
    'spec.cloudInit.secretRef',
    'is not used: userData wins over it; remove one of the two',
    'spec: {template: small, cloudInit: {userData: a, secretRef: {name: init}}}',
    'spec: {template: small, cloudInit: {secretRef: {name: init}}}'
  ],
  [
    'W2',
    'spec.evictionStrategy',
    'a node cannot be drained: the disk root is ReadWriteOnce, so that the machine cannot migrate; use ReadWriteMany or LiveMigrateIfPossible',
    'spec: {template: small, evictionStrategy: LiveMigrate}',
    'spec: {template: small, evictionStrategy: LiveMigrate, disks: [{name: root, accessMode: ReadWriteMany}]}'
  ],
  [
    'W3',
    'spec.resources.memory.size',
    'below 1Gi or not a multiple of 2Mi: it cannot be changed while the machine runs',
    'spec: {template: small, resources: {memory: {size: 1025Mi}}}',
    'spec: {template: small, resources: {memory: {size: 1026Mi}}}'
  ],
  [
    'W4',
    'spec.resources.cpu',
    'cores and threads change at the next restart; only sockets and memory can change live',
    'spec: {template: small, resources: {cpu: {threads: 2}}}',
    'spec: {template: small, resources: {cpu: {sockets: 2}}}',
    machine(small, running)
  ],
  [
    'W5',
    'spec.disks[0].storageClass',
    'the StorageClass slow does not exist yet: create it, or the machine will wait for it',
    'spec: {template: small, disks: [{name: root, storageClass: slow}]}',
    'spec: {template: small, disks: [{name: root, storageClass: fast}]}'
  ],
  [
    'W5',
    'spec.cloudInit.secretRef.name',
    'the Secret none does not exist yet: create it, or the machine will wait for it',
    'spec: {template: small, cloudInit: {secretRef: {name: none}}}',
    'spec: {template: small, cloudInit: {secretRef: {name: init}}}'
  ],
  [
    'W6',
    'metadata.labels[vitistack.io/machine-template]',
    'says template large, the spec small: the spec counts, correct the label',
    '{metadata: {labels: {vitistack.io/machine-template: large}}, spec: {template: small}}',
    '{metadata: {labels: {vitistack.io/machine-template: small}}, spec: {template: small}}'
  ],
  [
    'W7',
    'spec.cloudInit',
    'changed after the first start: most guests ignore that',
    'spec: {template: small, cloudInit: {userData: b}}',
    'spec: {template: small, powerState: Running}',
    machine(small, running)
  ],
  [
    'W8',
    'spec.networks[0].macAddress',
    '52:54:00:00:00:01 is used by the Machine other on prod too',
    'spec: {template: small, networks: [{name: a, networkName: prod, macAddress: "52:54:00:00:00:01"}]}',
    'spec: {template: small, networks: [{name: a, networkName: prod, macAddress: "52:54:00:00:00:02"}]}'
  ],
  [
    'W9',
    'spec.disks[0].source.containerDisk',
    'what is written to the disk c is lost at power-off: use a registry source to keep it',
    'spec: {template: small, disks: [{name: c, source: {containerDisk: {image: i}}}]}',
    small
  ]
]
proves(t, warned)
