// For each rule about Machines and NetworkConfigurations an object that trips it and it alone, and a neighbour that passes.

export interface Case {
  id: string
  /** Defaults to Machine. */
  kind?: 'Machine' | 'NetworkConfiguration'
  name?: string
  /** Stored before, so that the write is an update; without the webhook's say. */
  was?: object
  status?: object
  metadata?: object
  bad: object
  good: object
  goodMetadata?: object
}

const nic = (name: string, networkName: string, macAddress?: string) => ({ name, networkName, ...(macAddress && { macAddress }) })
const efi = (bootloader: object) => ({ firmware: { bootloader } })
const root = (more: object) => ({ template: 'small', disks: [{ name: 'root', ...more }] })
const iso = { containerDisk: { image: 'images.example.org/tools:1' } }

export const refusals: Case[] = [
  { id: 'A1', bad: { template: 'huge' }, good: { template: 'large' } },
  {
    id: 'A1',
    bad: { resources: { cpu: { cores: 1 } }, disks: [{ name: 'root', size: '1Gi' }] },
    good: { resources: { cpu: { cores: 1 }, memory: { size: '2Gi' } }, disks: [{ name: 'root', size: '1Gi' }] }
  },
  { id: 'A2', name: 'a.b', bad: { template: 'small' }, good: { template: 'small' } },
  {
    id: 'A3',
    bad: { template: 'small', cdroms: [{ name: 'root', source: iso }] },
    good: { template: 'small', cdroms: [{ name: 'tools', source: iso }] }
  },
  {
    id: 'A3',
    bad: { template: 'small', networks: [nic('a', 'n1', '52:54:00:00:00:0a'), nic('b', 'n1', '52:54:00:00:00:0A')] },
    good: { template: 'small', networks: [nic('a', 'n1', '52:54:00:00:00:0a'), nic('b', 'n1', '52:54:00:00:00:0b')] }
  },
  {
    id: 'A4',
    bad: { template: 'small', resources: { memory: { size: '1500k' } } },
    good: { template: 'small', resources: { memory: { size: '1536Mi' } } }
  },
  {
    id: 'A5',
    bad: { template: 'small', resources: { cpu: { cores: 256, threads: 2, sockets: 2 } } },
    good: { template: 'small', resources: { cpu: { cores: 256, threads: 2, sockets: 1 } } }
  },
  { id: 'A6', bad: root({ accessMode: 'ReadOnlyMany' }), good: root({ accessMode: 'ReadWriteMany' }) },
  {
    id: 'A7',
    bad: { template: 'small', bootOrder: ['cdrom', 'disk'] },
    good: { template: 'small', bootOrder: ['network', 'disk'] }
  },
  {
    id: 'A8',
    bad: { template: 'small', cloudInit: { networkData: 'version: [2' } },
    good: { template: 'small', cloudInit: { networkData: 'version: 2' } }
  },
  {
    id: 'A9',
    bad: { template: 'small', domain: efi({ efi: false, secureBoot: true }) },
    good: { template: 'small', domain: efi({ efi: true, secureBoot: true }) }
  },
  {
    id: 'A9',
    bad: { template: 'small', domain: { ...efi({ efi: true }), features: { acpi: false } } },
    good: { template: 'small', domain: { ...efi({ efi: true }), features: { acpi: true } } }
  },
  {
    id: 'A10',
    bad: { template: 'small', domain: { machine: { type: 'pc-i440fx-9.0' } } },
    good: { template: 'small', domain: { machine: { type: 'pc-q35-9.0' } } }
  },
  {
    id: 'A11',
    bad: { template: 'small', networks: [nic('a', 'n1', '02:00:00:00:00:00')] },
    good: { template: 'small', networks: [nic('a', 'n1', '02:00:00:00:00:01')] }
  },
  {
    id: 'A12',
    bad: { template: 'small', networks: [nic('a', 'pods'), nic('b', 'pods')] },
    good: { template: 'small', networks: [nic('a', 'pods'), nic('b', 'n1')] }
  },
  {
    id: 'A13',
    bad: root({ source: { blank: {}, http: { url: 'https://images.example.org/a.img' } } }),
    good: root({ source: { http: { url: 'https://images.example.org/a.img' } } })
  },
  {
    id: 'A14',
    bad: root({ source: { pvc: { name: 'golden', namespace: 'images' } } }),
    good: root({ source: { pvc: { name: 'golden' } } })
  },
  { id: 'A15', was: root({ size: '30Gi' }), bad: root({ size: '29Gi' }), good: root({ size: '31Gi' }) },
  {
    id: 'A15',
    was: root({ storageClass: 'fast' }),
    bad: root({ storageClass: 'slow' }),
    good: { ...root({ storageClass: 'fast' }), powerState: 'Stopped' }
  },
  {
    id: 'A16',
    was: { template: 'small', disks: [{ name: 'data', size: '1Gi' }] },
    bad: { template: 'small', disks: null },
    good: { template: 'small', disks: null },
    goodMetadata: { annotations: { 'vitistack.io/confirm-disk-removal': 'data' } }
  },
  { id: 'A17', kind: 'NetworkConfiguration', bad: { bridge: 'br0', nadRef: { name: 'n' } }, good: { nadRef: { name: 'n' } } },
  { id: 'A17', kind: 'NetworkConfiguration', bad: { podNetwork: true, vlan: 7 }, good: { bridge: 'br0', vlan: 7 } },
  {
    id: 'A17',
    kind: 'NetworkConfiguration',
    bad: { bridge: 'br0', ipam: { subnet: '10.0.0.0/24', gateway: '10.0.1.1' } },
    good: { bridge: 'br0', ipam: { subnet: '10.0.0.0/24', gateway: '10.0.0.1' } }
  },
  {
    id: 'A17',
    kind: 'NetworkConfiguration',
    was: { bridge: 'br0' },
    status: { machineCount: 2 },
    bad: { bridge: 'br1' },
    good: { bridge: 'br0', ipam: { type: 'dhcp' } }
  }
]

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
