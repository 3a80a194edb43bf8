import { conditions, type Told } from './conditions.ts'
import { age, crd, type Resource, statusOf } from './crd.ts'
import { cdroms, disks, positive } from './machine-storage.ts'
import {
  dateTime,
  dnsLabel,
  dnsSubdomain,
  flag,
  int32,
  int64,
  list,
  listMap,
  object,
  quantity,
  rule,
  set,
  text,
  word
} from './vocabulary.ts'

const cpu = object(
  'CPU topology; what is absent comes from the template',
  {
    cores: int32('Cores in each socket', { minimum: 1, maximum: 256 }),
    threads: int32('Threads in each core', { minimum: 1, maximum: 8 }),
    sockets: int32('Sockets', { minimum: 1, maximum: 16 })
  },
  {
    rules: [
      rule(
        '(has(self.cores) ? self.cores : 1) * (has(self.threads) ? self.threads : 1) * (has(self.sockets) ? self.sockets : 1) <= 512',
        'cores x threads x sockets must not exceed 512'
      )
    ]
  }
)

// By way of a double, which is exact up to 8 PiB (8589934592 MiB): the server's isInteger() is false for 1.5Gi.
const mebibytes = 'quantity(string(self)).asApproximateFloat() / 1048576.0'

const memory = object('Memory', {
  size: quantity('Memory of the guest, a whole number of MiB; that of the template when absent', {
    maxLength: 64,
    rules: [
      positive,
      rule(`${mebibytes} < 8589934592.0 && ${mebibytes} == double(int(${mebibytes}))`, 'must be a whole number of MiB')
    ]
  })
})

const network = object(
  'One network card',
  {
    name: text('Name', dnsLabel),
    networkName: text('NetworkConfiguration in the same namespace', dnsSubdomain),
    model: word('Model of the card', ['virtio', 'e1000', 'rtl8139'], { default: 'virtio' }),
    macAddress: text('MAC address; derived from the names when absent', {
      pattern: '^[0-9A-Fa-f][02468ACEace](:[0-9A-Fa-f]{2}){5}$', // an even first octet: not multicast
      maxLength: 17,
      rules: [rule("self != '02:00:00:00:00:00'", '02:00:00:00:00:00 cannot be used')]
    })
  },
  { required: ['name', 'networkName'] }
)

const payload = (description: string) => text(description, { maxLength: 512 * 1024 })

const cloudInit = object('First configuration of the guest', {
  userData: payload('User data; wins over secretRef'),
  networkData: payload('Network data, YAML or JSON'),
  secretRef: object(
    'Secret that holds the user data',
    {
      name: text('Name of the Secret', dnsSubdomain),
      key: text('Key in the Secret', { pattern: '^[-._a-zA-Z0-9]+$', maxLength: 253, default: 'userdata' })
    },
    { required: ['name'] }
  )
})

const domain = object('The virtual hardware', {
  machine: object('Machine type', { type: text('Such as q35 or pc-q35-9.0') }),
  features: object('Features', { acpi: flag('ACPI'), apic: flag('APIC'), hyperv: flag('Hyper-V optimisations') }),
  firmware: object('Firmware', {
    bootloader: object(
      'Boot loader',
      { efi: flag('EFI instead of BIOS'), secureBoot: flag('Secure boot; implies EFI') },
      {
        rules: [
          rule(
            '!(has(self.secureBoot) && self.secureBoot && has(self.efi) && !self.efi)',
            'secureBoot needs EFI: efi must not be false'
          )
        ]
      }
    )
  })
})

const spec = object(
  'The wanted machine',
  {
    // Not an enum, so that an unknown name can be told as TemplateNotFound.
    template: text('Template: small, medium or large'),
    resources: object('CPU and memory', { cpu, memory }),
    disks,
    cdroms,
    networks: listMap('Network cards; one on the pod network when absent', network, ['name'], {
      maxItems: 64,
      rules: [
        rule(
          'self.all(a, !has(a.macAddress) || self.exists_one(b, has(b.macAddress) && a.macAddress.lowerAscii() == b.macAddress.lowerAscii()))',
          'a MAC address must not occur twice'
        )
      ]
    }),
    bootOrder: set(
      'Classes of devices to boot from, in order; the first disk when absent',
      word('Class', ['disk', 'network', 'cdrom']),
      {
        maxItems: 3
      }
    ),
    cloudInit,
    domain,
    powerState: word('Wanted power state; not managed after creation when absent', ['Running', 'Stopped']),
    evictionStrategy: word('What happens when the node is drained', ['None', 'LiveMigrate', 'LiveMigrateIfPossible', 'External'])
  },
  {
    rules: [
      rule(
        'has(self.template) || (has(self.resources) && has(self.resources.cpu) && has(self.resources.cpu.cores) && has(self.resources.memory) && has(self.resources.memory.size) && has(self.disks) && self.disks.exists(d, has(d.size)))',
        'without a template, cpu.cores, memory.size and a disk with a size must be given'
      ),
      rule(
        '!has(self.disks) || !has(self.cdroms) || self.cdroms.all(c, !self.disks.exists(d, d.name == c.name))',
        'a disk and a CD-ROM must not have the same name',
        '.cdroms'
      )
    ]
  }
)

const status = object('What became of it', {
  phase: word('Where it is', ['Pending', 'Creating', 'Running', 'Stopped', 'Failed']),
  conditions: conditions(),
  vmName: text('Name of the VirtualMachine'),
  vmiName: text('Name of the VirtualMachineInstance, while there is one'),
  ipAddresses: list('Addresses', text('Address')),
  nodeName: text('Node it runs on'),
  lastUpdated: dateTime('When another status field last changed'),
  resourceVersion: text('resourceVersion of the VirtualMachine last acted on'),
  observedGeneration: int64('The generation this speaks about'),
  firstRunningAt: dateTime('When it first ran'),
  unschedulableSince: dateTime('Since when no node has room for it')
})

export const Machine = crd({
  group: 'vitistack.io',
  version: 'v1alpha1',
  kind: 'Machine',
  plural: 'machines',
  shortNames: ['m'],
  scope: 'Namespaced',
  description: 'A virtual machine, run by KubeVirt',
  columns: [
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Template', jsonPath: '.spec.template' },
    { name: 'VM', jsonPath: '.status.vmName' },
    { name: 'Node', jsonPath: '.status.nodeName' },
    { name: 'IPs', jsonPath: '.status.ipAddresses' },
    statusOf('Ready', 'Ready'),
    age
  ],
  spec,
  status
})
export type Machine = Resource<typeof Machine>

/** The errors of section 7 that Ready may name. */
export type MachineError =
  | 'TemplateNotFound'
  | 'NetworkConfigurationNotFound'
  | 'StorageClassNotFound'
  | 'InsufficientResources'
  | 'KubeVirtApiError'

type Unready =
  | 'Provisioning'
  | 'Starting'
  | 'Stopped'
  | 'Paused'
  | 'Deleting'
  | 'CloudInitSecretNotFound'
  | 'InvalidSpec'
  | 'NameConflict'
  | MachineError

export interface MachineConditions {
  Ready: { True: 'MachineRunning'; False: Unready; Unknown: 'Pending' }
  VirtualMachineReady: { True: 'VMCreated'; False: 'VMFailed' | 'NameConflict'; Unknown: 'Pending' }
  StorageReady: { True: 'PVCBound'; False: 'PVCPending' | 'StorageClassNotFound' | 'NameConflict'; Unknown: 'Pending' }
  NetworkReady: { True: 'NetworkConfigured'; False: 'NetworkFailed' | 'NameConflict'; Unknown: 'Pending' }
}
export type MachineCondition = Told<MachineConditions>
