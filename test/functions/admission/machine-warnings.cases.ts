// For each rule that warns of Machines and NetworkConfigurations an object that trips it and it alone, and a neighbour that passes; and what
// a cluster of other nodes refuses.
import { type Case, nic, root, iso } from './machine.case.ts'

const secret = (name: string) => ({ template: 'small', cloudInit: { secretRef: { name } } })

export const warnings: Case[] = [
  {
    id: 'W1',
    bad: { template: 'small', cloudInit: { userData: '#cloud-config', secretRef: { name: 'init' } } },
    good: secret('init')
  },
  {
    id: 'W2',
    bad: { template: 'small', evictionStrategy: 'LiveMigrate' },
    good: { ...root({ accessMode: 'ReadWriteMany' }), evictionStrategy: 'LiveMigrate' }
  },
  {
    id: 'W3',
    bad: { template: 'small', resources: { memory: { size: '512Mi' } } },
    good: { template: 'small', resources: { memory: { size: '1Gi' } } }
  },
  {
    id: 'W3',
    bad: { template: 'small', resources: { memory: { size: '2049Mi' } } },
    good: { template: 'small', resources: { memory: { size: '2050Mi' } } }
  },
  {
    id: 'W4',
    was: { template: 'small' },
    status: { phase: 'Running' },
    bad: { template: 'small', resources: { cpu: { cores: 2 } } },
    good: { template: 'small', resources: { cpu: { sockets: 2 } } }
  },
  {
    id: 'W5',
    bad: { template: 'small', networks: [nic('a', 'missing')] },
    good: { template: 'small', networks: [nic('a', 'n1')] }
  },
  { id: 'W5', bad: root({ storageClass: 'missing' }), good: root({ storageClass: 'fast' }) },
  { id: 'W5', bad: secret('missing'), good: secret('init') },
  {
    id: 'W6',
    metadata: { labels: { 'vitistack.io/machine-template': 'large' } },
    bad: { template: 'small' },
    good: { template: 'large' }
  },
  {
    id: 'W7',
    was: { template: 'small' },
    status: { firstRunningAt: '2026-11-01T00:00:00Z' },
    bad: { template: 'small', cloudInit: { userData: '#cloud-config' } },
    good: { template: 'small', powerState: 'Stopped' }
  },
  {
    id: 'W8',
    bad: { template: 'small', networks: [nic('a', 'n1', '52:54:00:00:00:01')] },
    good: { template: 'small', networks: [nic('a', 'n1', '52:54:00:00:00:02')] }
  },
  {
    id: 'W9',
    bad: { template: 'small', disks: [{ name: 'scratch', source: iso }] },
    good: { template: 'small', disks: [{ name: 'scratch', size: '1Gi' }] }
  },
  {
    id: 'W10',
    kind: 'NetworkConfiguration',
    was: { bridge: 'br0' },
    status: { machineCount: 2 },
    bad: { bridge: 'br0', mtu: 9000 },
    good: { bridge: 'br0', ipam: { type: 'dhcp' } }
  }
]

/** For a cluster of other nodes: arm64, and KubeVirt told to take i440fx. */
export const elsewhere: Case[] = [
  {
    id: 'A5',
    bad: { template: 'small', resources: { cpu: { threads: 2 } } },
    good: { template: 'small', resources: { cpu: { threads: 1 } } }
  },
  {
    id: 'A9',
    bad: { template: 'small', domain: { features: { acpi: false } } },
    good: { template: 'small', domain: { features: { apic: false } } }
  },
  {
    id: 'A10',
    bad: { template: 'small', domain: { machine: { type: 'pc-i440fx' } } },
    good: { template: 'small', domain: { machine: { type: 'pc-i440fx-9.0' } } }
  }
]
