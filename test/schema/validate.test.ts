import t from 'tap'
import { withDefaults } from '../../shared/schema/defaults.ts'
import { Eviction, Hypervisor, Machine, Migration, OVSNode } from '../../shared/schema/index.ts'
import type { OpenApi } from '../../shared/schema/openapi.ts'
import { validate, validateAgainst, type Violation } from '../../shared/schema/validate.ts'

const machine = (spec: object, name = 'vm-1') => ({
  apiVersion: 'vitistack.io/v1alpha1',
  kind: 'Machine',
  metadata: { name },
  spec
})

const messages: Array<[name: string, spec: object, wrong: Violation[]]> = [
  ['a wrong type', { template: 7 }, [{ path: 'spec.template', message: 'must be string' }]],
  ['a missing field', { template: 'small', disks: [{}] }, [{ path: 'spec.disks[0].name', message: 'is required' }]],
  [
    'a word that is not in the list',
    { template: 'small', powerState: 'Paused' },
    [{ path: 'spec.powerState', message: 'must be one of "Running", "Stopped"' }]
  ],
  ['an unknown field', { template: 'small', cpus: 4 }, [{ path: 'spec.cpus', message: 'unknown field' }]],
  [
    'a key that occurs twice',
    { template: 'small', disks: [{ name: 'a' }, { name: 'a' }] },
    [{ path: 'spec.disks[1]', message: 'occurs twice: name="a"' }]
  ],
  [
    'a number that is too large',
    { template: 'small', resources: { cpu: { cores: 257 } } },
    [{ path: 'spec.resources.cpu.cores', message: 'must be <= 256' }]
  ],
  [
    'a rule',
    { template: 'small', domain: { firmware: { bootloader: { efi: false, secureBoot: true } } } },
    [{ path: 'spec.domain.firmware.bootloader', message: 'secureBoot needs EFI: efi must not be false' }]
  ],
  [
    'several at once',
    { template: 7, powerState: 'Paused', cpus: 4 },
    [
      { path: 'spec.template', message: 'must be string' },
      { path: 'spec.powerState', message: 'must be one of "Running", "Stopped"' },
      { path: 'spec.cpus', message: 'unknown field' }
    ]
  ],
  [
    'neither number nor text',
    { template: 'small', resources: { memory: { size: {} } } },
    [{ path: 'spec.resources.memory.size', message: 'must be an integer or a text' }]
  ]
]
for (const [name, spec, wrong] of messages)
  t.test(`says: ${name}`, async t => t.strictSame(validate(Machine, machine(spec)), wrong))

t.test('all errors are told, not the first eight', async t => {
  const disks = Array.from({ length: 20 }, (_, i) => ({ name: `d${i}`, volumeMode: 'Raw' }))
  t.equal(validate(Machine, machine({ template: 'small', disks })).length, 20)
})

t.test('what is addressed wrongly', async t => {
  const wrong = validate(Machine, { apiVersion: 'v1', kind: 'Pod', metadata: {} })
  t.strictSame(
    wrong.map(({ path }) => path),
    ['apiVersion', 'kind', 'metadata.name']
  )
  t.strictSame(validate(Machine, 'text'), [{ path: '', message: 'must be an object' }])
})

t.test('defaults are those of the spec, and extensions have none (HV-3)', async t => {
  const hypervisor = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', metadata: { name: 'a' } }
  t.strictSame(withDefaults(Hypervisor, { ...hypervisor, spec: { eviction: {}, ha: {} }, status: {} }), {
    ...hypervisor,
    spec: {
      reboot: false,
      evacuateOnReboot: true,
      lifecycleEnabled: true,
      skipTests: false,
      highAvailability: true,
      createCertManagerCertificate: false,
      installCertificate: true,
      customTraits: [],
      aggregates: [],
      allowedProjects: [],
      eviction: {},
      ha: {}
    },
    status: { libVirtVersion: 'unknown', hypervisorVersion: 'unknown', numInstances: 0 }
  })
  t.strictSame(withDefaults(Hypervisor, hypervisor), hypervisor, 'an object without a spec stays without')
  t.strictSame(withDefaults(Eviction, { spec: {}, status: {} }), { spec: {}, status: { outstandingRamMb: 0 } })
  t.strictSame(withDefaults(Migration, { spec: {}, status: {} }), { spec: {}, status: {} })
  t.strictSame(withDefaults(OVSNode, { status: { flowStats: { flowsPerTable: [{ table: 0 }] } } }), {
    status: { flowStats: { flowsPerTable: [{ bridge: '', table: 0 }] } }
  })
})

t.test('T4: the defaults of a disk are the values of every template disk, so merging is not disturbed', async t => {
  const full = withDefaults(Machine, machine({ template: 'small', disks: [{ name: 'root', size: '30Gi' }] }))
  t.strictSame(full.spec, {
    template: 'small',
    disks: [{ name: 'root', size: '30Gi', storageClass: 'default', accessMode: 'ReadWriteOnce', volumeMode: 'Filesystem' }]
  })
})

t.test('the input is left as it was', async t => {
  const given = Object.freeze(machine(Object.freeze({ template: 'small' })))
  t.strictSame(validate(Machine, given), [])
  t.strictSame(given, machine({ template: 'small' }))
})

t.test('OV-4: a counter may be a bigint, and an undefined field is absent', async t => {
  const node = {
    apiVersion: 'ovs.c5c3.io/v1alpha1',
    kind: 'OVSNode',
    metadata: { name: 'a' },
    spec: { nodeRef: { name: 'a' } },
    status: { metrics: { drops: 2n ** 60n }, dpdkVersion: undefined }
  }
  t.strictSame(validate(OVSNode, node), [])
})

t.test('any structural schema will do', async t => {
  const schema: OpenApi = {
    type: 'object',
    properties: {
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      maybe: { type: 'string', nullable: true },
      port: { type: 'integer', format: 'int32', default: 80 }
    }
  }
  t.strictSame(validateAgainst(schema, { free: { a: 1 }, port: 2 ** 31 }), [{ path: 'port', message: 'must be an int32' }])
  t.strictSame(validateAgainst(schema, { maybe: null, port: null }), [])
  t.strictSame(validateAgainst(schema, { maybe: 7 }), [{ path: 'maybe', message: 'must be either string or null' }])
})
