// W1–W9 (spec/machine.md §9): what is warned of and where, and its mended form, which is not.
import t from 'tap'
import { type Row, machine, proves, running, small } from './machine-fixtures.ts'

const warned: Row[] = [
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
proves(t, warned)
