// For each rule that refuses Machines and NetworkConfigurations an object that trips it and it alone, and a neighbour that passes.
import { type Case, nic, root, iso } from './machine.case.ts'

const efi = (bootloader: object) => ({ firmware: { bootloader } })
const extra = (disk: object) => ({ template: 'small', disks: [disk] })
const image = { http: { url: 'https://images.example.org/a.img' } }

export const refusals: Case[] = [
  { id: 'A1', bad: { template: 'huge' }, good: { template: 'large' } },
  {
    id: 'A1',
    bad: { resources: { cpu: { cores: 1 } }, disks: [{ name: 'root', size: '1Gi' }] },
    good: { resources: { cpu: { cores: 1 }, memory: { size: '2Gi' } }, disks: [{ name: 'root', size: '1Gi' }] }
  },
  { id: 'A2', name: 'a.b', bad: { template: 'small' }, good: { template: 'small' } },
  { id: 'A2', bad: extra({ name: 'Data_1', size: '1Gi' }), good: extra({ name: 'data-1', size: '1Gi' }) },
  { id: 'A2', bad: extra({ name: 'cloudinitdisk', size: '1Gi' }), good: extra({ name: 'cloudinit', size: '1Gi' }) },
  {
    id: 'A2',
    bad: { template: 'small', cdroms: [{ name: 'x'.repeat(64), source: iso }] },
    good: { template: 'small', cdroms: [{ name: 'x'.repeat(63), source: iso }] }
  },
  {
    id: 'A2',
    bad: { template: 'small', networks: [nic('Eth0', 'n1')] },
    good: { template: 'small', networks: [nic('eth0', 'n1')] }
  },
  {
    id: 'A3',
    bad: { template: 'small', disks: ['d', 'd'].map(name => ({ name, size: '1Gi' })) },
    good: { template: 'small', disks: ['d', 'e'].map(name => ({ name, size: '1Gi' })) }
  },
  {
    id: 'A3',
    bad: { template: 'small', networks: [nic('a', 'n1'), nic('a', 'n1')] },
    good: { template: 'small', networks: [nic('a', 'n1'), nic('b', 'n1')] }
  },
  {
    id: 'A3',
    bad: { template: 'small', bootOrder: ['disk', 'disk'] },
    good: { template: 'small', bootOrder: ['disk', 'network'] }
  },
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
  { id: 'A4', bad: root({ size: '0' }), good: root({ size: '1' }) },
  { id: 'A4', bad: root({ volumeMode: 'Raw' }), good: root({ volumeMode: 'Block' }) },
  { id: 'A4', bad: extra({ name: 'data' }), good: extra({ name: 'data', size: '1Gi' }) },
  {
    id: 'A4',
    bad: { template: 'small', resources: { cpu: { cores: 257 } } },
    good: { template: 'small', resources: { cpu: { cores: 256 } } }
  },
  {
    id: 'A5',
    bad: { template: 'small', resources: { cpu: { cores: 256, threads: 2, sockets: 2 } } },
    good: { template: 'small', resources: { cpu: { cores: 256, threads: 2, sockets: 1 } } }
  },
  { id: 'A6', bad: root({ accessMode: 'ReadOnlyMany' }), good: root({ accessMode: 'ReadWriteMany' }) },
  {
    id: 'A6',
    bad: extra({ name: 'data', size: '1Gi', accessMode: 'ReadOnlyMany', source: image }),
    good: extra({ name: 'data', size: '1Gi', accessMode: 'ReadOnlyMany' })
  },
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
    id: 'A8',
    bad: { template: 'small', cloudInit: { userData: '#'.repeat(512 * 1024 + 1) } },
    good: { template: 'small', cloudInit: { userData: '#'.repeat(512 * 1024) } }
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
    id: 'A9',
    bad: { template: 'small', domain: { ...efi({ secureBoot: true }), machine: { type: 's390-ccw-virtio' } } },
    good: { template: 'small', domain: { ...efi({ secureBoot: true }), machine: { type: 'q35' } } }
  },
  {
    id: 'A10',
    bad: { template: 'small', domain: { machine: { type: 'pc-i440fx-9.0' } } },
    good: { template: 'small', domain: { machine: { type: 'pc-q35-9.0' } } }
  },
  {
    id: 'A11',
    bad: { template: 'small', networks: [nic('a', 'n1', '52:54:00:00:00')] },
    good: { template: 'small', networks: [nic('a', 'n1', '52:54:00:00:00:0b')] }
  },
  {
    id: 'A11',
    bad: { template: 'small', networks: [nic('a', 'n1', '53:54:00:00:00:0b')] },
    good: { template: 'small', networks: [nic('a', 'n1', '52:54:00:00:00:0B')] }
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
    bad: root({ source: { blank: {}, ...image } }),
    good: root({ source: image })
  },
  { id: 'A13', bad: root({ source: {} }), good: root({ source: { blank: {} } }) },
  {
    id: 'A13',
    bad: { template: 'small', cdroms: [{ name: 'tools', size: '1Gi', source: { blank: {} } }] },
    good: { template: 'small', cdroms: [{ name: 'tools', size: '1Gi', source: image }] }
  },
  {
    id: 'A13',
    bad: { template: 'small', cdroms: [{ name: 'tools', source: image }] },
    good: { template: 'small', cdroms: [{ name: 'tools', source: iso }] }
  },
  {
    id: 'A14',
    bad: root({ source: { pvc: { name: 'golden', namespace: 'images' } } }),
    good: root({ source: { pvc: { name: 'golden' } } })
  },
  {
    id: 'A14',
    bad: root({ source: { dataSource: { name: 'debian', namespace: 'images' } } }),
    good: root({ source: { dataSource: { name: 'debian' } } })
  },
  { id: 'A15', was: root({ size: '30Gi' }), bad: root({ size: '29Gi' }), good: root({ size: '31Gi' }) },
  {
    id: 'A15',
    was: root({ storageClass: 'fast' }),
    bad: root({ storageClass: 'slow' }),
    good: { ...root({ storageClass: 'fast' }), powerState: 'Stopped' }
  },
  {
    id: 'A15',
    was: root({ accessMode: 'ReadWriteMany' }),
    bad: root({ accessMode: 'ReadWriteOnce' }),
    good: { ...root({ accessMode: 'ReadWriteMany' }), powerState: 'Stopped' }
  },
  {
    id: 'A15',
    was: root({ volumeMode: 'Block' }),
    bad: root({ volumeMode: 'Filesystem' }),
    good: { ...root({ volumeMode: 'Block' }), powerState: 'Stopped' }
  },
  { id: 'A15', was: root({ source: image }), bad: root({ source: null }), good: root({ source: image, size: '99Gi' }) },
  {
    id: 'A15',
    was: { template: 'large' },
    bad: { template: 'small' },
    good: { template: 'small', disks: [{ name: 'root', size: '80Gi' }] }
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
  { id: 'A17', kind: 'NetworkConfiguration', bad: { podNetwork: true, mtu: 9000 }, good: { bridge: 'br0', mtu: 9000 } },
  { id: 'A17', kind: 'NetworkConfiguration', bad: { podNetwork: false }, good: { podNetwork: true } },
  { id: 'A17', kind: 'NetworkConfiguration', bad: { bridge: 'br0', vlan: 4095 }, good: { bridge: 'br0', vlan: 4094 } },
  {
    id: 'A17',
    kind: 'NetworkConfiguration',
    was: { bridge: 'br0', vlan: 7 },
    status: { machineCount: 1 },
    bad: { vlan: 8 },
    good: { vlan: 7, ipam: { type: 'dhcp' } }
  },
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
