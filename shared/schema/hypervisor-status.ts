import { conditions } from './conditions.ts'
import { hypervisorExtensions } from './hypervisor-extensions.ts'
import { dateTime, flag, int64, integer, list, mapOf, object, quantity, text, word } from './vocabulary.ts'

const names = (description: string) => list(description, text('Name'), { default: [] })
const resources = (description: string) => mapOf(description, quantity('Amount'))
const amounts = {
  allocation: resources('What the servers use'),
  capacity: resources('What is there'),
  effectiveCapacity: resources('What is there, times the overcommit ratio')
}

const operatingSystem = object('The operating system and the hardware under it', {
  version: text('Version'),
  variantID: text('Variant or edition'),
  prettyVersion: text('Name and version for people'),
  kernelName: text('Kernel name'),
  kernelRelease: text('Kernel release'),
  kernelVersion: text('Kernel build'),
  kernelCommandLine: text('Boot parameters'),
  hardwareVendor: text('Maker of the machine'),
  hardwareModel: text('Model of the machine'),
  hardwareSerial: text('Serial number of the machine'),
  firmwareVersion: text('Firmware version'),
  firmwareVendor: text('Maker of the firmware'),
  firmwareDate: dateTime('Date of the firmware'),
  gardenLinuxCommitID: text('Commit the image was built from'),
  gardenLinuxFeatures: list('Features of the image', text('Feature'))
})

const instance = object(
  'A libvirt domain',
  {
    id: text('Domain UUID'),
    name: text('Domain name'),
    active: flag('Whether it runs'),
    state: text("Libvirt's word for its state"),
    since: dateTime('When it entered that state'),
    control: object('Whether libvirt can manage it; only of a domain that it once could not', {
      state: text('ok, job, occupied or error'),
      details: text('Of an error: what is broken, as monitor'),
      checkedAt: dateTime('When it was asked')
    })
  },
  { required: ['id', 'name', 'active'] }
)

const aggregate = object(
  'A host aggregate the host is in',
  { name: text('Name'), uuid: text('UUID'), metadata: mapOf('Metadata', text('Value')) },
  { required: ['name', 'uuid'] }
)

const phases = [
  'Discovered',
  'Registering',
  'Preparing',
  'Testing',
  'HandingOver',
  'Active',
  'Draining',
  'Drained',
  'Maintenance',
  'Failing',
  'Recovering',
  'Terminating',
  'Offboarding',
  'Offboarded'
] as const

export const hypervisorStatus = object(
  'What is known about the host',
  {
    libVirtVersion: text('Libvirt version', { default: 'unknown' }),
    hypervisorVersion: text('Version of the machine monitor', { default: 'unknown' }),
    operatingSystem,
    updateStatus: object(
      'Update of the operating system',
      {
        inProgress: flag('Whether an update runs', { default: false }),
        installed: text('Version installed for the next boot', { default: 'unknown' }),
        retry: integer('Tries left', { default: 3 })
      },
      { required: ['inProgress', 'retry'] }
    ),
    instances: list('Domains on the host', instance),
    numInstances: integer('Number of domains, running or not', { default: 0 }),
    capabilities: object('What the host offers', {
      cpuArch: text('CPU architecture of the host', { default: 'unknown' }),
      memory: quantity('Memory of all cells'),
      cpus: quantity('CPUs of all cells')
    }),
    domainCapabilities: object('What a domain may use', {
      arch: text('CPU architecture of domains', { default: 'unknown' }),
      hypervisorType: text("Libvirt's domain type, such as kvm or ch", { default: 'unknown' }),
      supportedDevices: names('Devices, as `device` and `device/model`'),
      supportedCpuModes: names('CPU modes, as `mode` and `mode/model`'),
      supportedFeatures: names('Features')
    }),
    ...amounts,
    cells: list(
      'NUMA cells',
      object('A NUMA cell', { cellID: int64('Number of the cell'), ...amounts }, { required: ['cellID'] })
    ),
    hypervisorId: text('UUID of the hypervisor in Nova'),
    serviceId: text('UUID of the compute service in Nova'),
    traits: list('All traits of the resource provider', text('Trait')),
    aggregates: list('Host aggregates the host is in', aggregate),
    internalIp: text('First internal address of the node'),
    evicted: flag('Whether the host was emptied for its maintenance'),
    specHash: text('Not used; kept for others'),
    conditions: conditions(),
    observedGeneration: int64('The generation this speaks about'),
    phase: word('Where the host is in its life', phases),
    ...hypervisorExtensions
  },
  { required: ['numInstances'] }
)
