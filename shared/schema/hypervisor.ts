import { age, crd, messageOf, reasonOf, type Resource, statusOf } from './crd.ts'
import { evictionOptions } from './eviction-options.ts'
import { hypervisorStatus } from './hypervisor-status.ts'
import { exactlyOne, flag, list, mapOf, number, object, rule, text, word } from './vocabulary.ts'

const uuid = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'

const group = object(
  'A membership: a trait or an aggregate',
  {
    trait: object('A capability', { name: text('Trait name', { minLength: 1 }) }, { required: ['name'] }),
    aggregate: object(
      'A host aggregate',
      {
        name: text('Aggregate name', { minLength: 1 }),
        uuid: text('Aggregate UUID', { pattern: uuid }),
        metadata: mapOf('Aggregate metadata', text('Value'))
      },
      { required: ['name', 'uuid'] }
    )
  },
  { rules: [exactlyOne('trait', 'aggregate')] } // R4
)

const ha = object('High availability of this host', {
  reserved: flag('Kept empty as a spare'),
  fencing: object('How this host is switched off', {
    template: text('Name of the configured fencing template', { minLength: 1 }),
    parameters: mapOf('Values for the template', text('Value'))
  }),
  autoReturn: flag('Whether the host goes back to work by itself after a failure')
})

const spec = object(
  'What is wanted of the host',
  {
    version: text('Wanted operating system version; `latest` is special'),
    reboot: flag('Reboot after an operating system update', { default: false }),
    evacuateOnReboot: flag('Hold back a shutdown until the host is drained', { default: true }),
    lifecycleEnabled: flag('Master switch: whether Drover manages the host', { default: true }),
    skipTests: flag('Leave out the smoke test of onboarding', { default: false }),
    highAvailability: flag('Whether servers are rescued when the host fails', { default: true }),
    createCertManagerCertificate: flag('Ask cert-manager for a certificate for this node', { default: false }),
    installCertificate: flag('Whether the agent installs the TLS secret', { default: true }),
    customTraits: list('Traits the resource provider shall have', text('Trait name'), { default: [] }),
    aggregates: list('Host aggregates the host shall be in', text('Aggregate name'), { default: [] }),
    allowedProjects: list('Projects that may use the host; empty allows all', text('Project UUID'), { default: [] }),
    groups: list('Memberships that the scheduler reads', group),
    maintenance: word('Why the host is out of service; empty when it is not', ['', 'manual', 'auto', 'ha', 'termination']),
    maintenanceReason: text('Free text; needed for manual maintenance'),
    overcommit: mapOf('Overcommit ratio by resource (cpu, memory)', number('Ratio of at least 1.0'), {
      rules: [rule('self.all(k, self[k] >= 1.0)', 'overcommit ratios must be >= 1.0')] // R3
    }),
    eviction: object('Defaults for Evictions made for this host', evictionOptions),
    ha
  },
  {
    required: [
      'reboot',
      'evacuateOnReboot',
      'lifecycleEnabled',
      'skipTests',
      'highAvailability',
      'createCertManagerCertificate',
      'installCertificate',
      'customTraits',
      'aggregates',
      'allowedProjects'
    ],
    rules: [
      rule(
        "!has(oldSelf.maintenance) || oldSelf.maintenance != 'termination' || (has(self.maintenance) && self.maintenance == 'ha') || self == oldSelf",
        "the spec is frozen while maintenance is 'termination'; only a change to 'ha' is allowed" // R1
      ),
      rule(
        "!has(self.maintenance) || self.maintenance != 'manual' || (has(self.maintenanceReason) && self.maintenanceReason.size() > 0)",
        "maintenanceReason must be given when maintenance is 'manual'" // R2
      )
    ]
  }
)

export const Hypervisor = crd({
  group: 'kvm.cloud.sap',
  version: 'v1',
  kind: 'Hypervisor',
  plural: 'hypervisors',
  shortNames: ['hv'],
  scope: 'Cluster',
  description: 'A compute host: what is wanted of it, and what is known about it',
  columns: [
    { name: 'Zone', jsonPath: '.metadata.labels.topology\\.kubernetes\\.io/zone', priority: 2 },
    { name: 'Building Block', jsonPath: '.metadata.labels.kubernetes\\.metal\\.cloud\\.sap/bb', priority: 2 },
    { name: 'Group', jsonPath: '.metadata.labels.worker\\.garden\\.sapcloud\\.io/group', priority: 2 },
    statusOf('Ready', 'Ready'),
    reasonOf('State', 'Ready'),
    messageOf('Taint', 'Tainted'),
    { name: 'Lifecycle', jsonPath: '.spec.lifecycleEnabled', type: 'boolean' },
    { name: 'High Availability', jsonPath: '.spec.highAvailability', type: 'boolean' },
    { name: 'Skip Tests', jsonPath: '.spec.skipTests', type: 'boolean' },
    { name: 'Version', jsonPath: '.status.operatingSystem.prettyVersion' },
    { name: 'IP', jsonPath: '.status.internalIp' },
    { name: 'Instances', jsonPath: '.status.numInstances', type: 'integer' },
    { name: 'Hardware', jsonPath: '.status.operatingSystem.hardwareModel', priority: 2 },
    { name: 'Kernel', jsonPath: '.status.operatingSystem.kernelRelease', priority: 2 },
    reasonOf('Onboarding', 'Onboarding', 3),
    { name: 'Service ID', jsonPath: '.status.serviceId', priority: 3 },
    { name: 'Hypervisor ID', jsonPath: '.status.hypervisorId', priority: 3 },
    age
  ],
  specRequired: false,
  spec,
  status: hypervisorStatus
})
export type Hypervisor = Resource<typeof Hypervisor>
export type { HypervisorCondition, HypervisorConditions } from './hypervisor-conditions.ts'
