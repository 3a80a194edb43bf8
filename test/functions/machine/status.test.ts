// The conditions of P4 and the rest of the status. Pure.
import t from 'tap'
import type { Problem } from '../../../functions/machine/errors.ts'
import type { VirtualMachineInstance } from '../../../functions/machine/kubevirt.ts'
import { reflect, type Reflected, type Status } from '../../../functions/machine/status.ts'
import type { Machine } from '../../../shared/schema/machine.ts'
import { machine, vm } from './fixtures.ts'

const now = new Date('2026-11-16T12:00:00Z')
const grace = 5 * 60_000

const vmi = (status: VirtualMachineInstance['status']): VirtualMachineInstance => ({
  metadata: { name: 'm' },
  ...(status && { status })
})
const claim = (phase: string) => ({ metadata: { name: 'm-root' }, status: { phase } })
const seen = (more: Partial<Reflected> = {}): Reflected => ({
  machine: machine({ template: 'small' }),
  vm: undefined,
  vmi: undefined,
  claims: [],
  dataVolumes: [],
  problems: [],
  begun: true,
  acted: false,
  ...more
})
const told = (status: Status): Record<string, string> =>
  Object.fromEntries(status.conditions?.map(({ type, status, reason }) => [type, `${status}/${reason}`]) ?? [])
const running = { vm: vm('Running'), vmi: vmi({ nodeName: 'n1' }), claims: [claim('Bound')] }
const problem = (type: Problem['type'], about: Problem['about']): Problem => ({ type, about, message: `${type} happened` })

const cases: Array<[name: string, given: Reflected, conditions: Record<string, string>]> = [
  [
    'before anything was looked at',
    seen({ begun: false }),
    {
      Ready: 'False/Provisioning',
      VirtualMachineReady: 'Unknown/Pending',
      StorageReady: 'Unknown/Pending',
      NetworkReady: 'Unknown/Pending'
    }
  ],
  [
    'running',
    seen(running),
    {
      Ready: 'True/MachineRunning',
      VirtualMachineReady: 'True/VMCreated',
      StorageReady: 'True/PVCBound',
      NetworkReady: 'True/NetworkConfigured'
    }
  ],
  [
    'running, a claim lost',
    seen({ ...running, claims: [claim('Lost')] }),
    {
      Ready: 'False/Provisioning',
      VirtualMachineReady: 'True/VMCreated',
      StorageReady: 'False/PVCPending',
      NetworkReady: 'True/NetworkConfigured'
    }
  ],
  [
    'paused',
    seen({ ...running, vm: vm('Paused') }),
    {
      Ready: 'False/Paused',
      VirtualMachineReady: 'True/VMCreated',
      StorageReady: 'True/PVCBound',
      NetworkReady: 'True/NetworkConfigured'
    }
  ],
  [
    'starting',
    seen({ vm: vm('Starting'), claims: [claim('Bound')] }),
    {
      Ready: 'False/Starting',
      VirtualMachineReady: 'True/VMCreated',
      StorageReady: 'True/PVCBound',
      NetworkReady: 'True/NetworkConfigured'
    }
  ],
  [
    'stopped',
    seen({ vm: vm('Stopped'), claims: [claim('Bound')] }),
    {
      Ready: 'False/Stopped',
      VirtualMachineReady: 'True/VMCreated',
      StorageReady: 'True/PVCBound',
      NetworkReady: 'True/NetworkConfigured'
    }
  ],
  [
    'waiting for storage',
    seen({ vm: vm('Provisioning'), claims: [claim('Pending')] }),
    {
      Ready: 'False/Provisioning',
      VirtualMachineReady: 'True/VMCreated',
      StorageReady: 'False/PVCPending',
      NetworkReady: 'True/NetworkConfigured'
    }
  ],
  [
    'crash loop',
    seen({ vm: vm('CrashLoopBackOff'), claims: [claim('Bound')] }),
    {
      Ready: 'False/KubeVirtApiError',
      VirtualMachineReady: 'False/VMFailed',
      StorageReady: 'True/PVCBound',
      NetworkReady: 'True/NetworkConfigured'
    }
  ],
  [
    'no room',
    seen({ vm: vm('ErrorUnschedulable'), claims: [claim('Bound')] }),
    {
      Ready: 'False/InsufficientResources',
      VirtualMachineReady: 'True/VMCreated',
      StorageReady: 'True/PVCBound',
      NetworkReady: 'True/NetworkConfigured'
    }
  ],
  [
    'E1',
    seen({ begun: false, problems: [{ ...problem('TemplateNotFound', 'spec'), final: true }] }),
    {
      Ready: 'False/TemplateNotFound',
      VirtualMachineReady: 'Unknown/Pending',
      StorageReady: 'Unknown/Pending',
      NetworkReady: 'Unknown/Pending'
    }
  ],
  [
    'E2 and E3: each by its condition, Ready the first of the table',
    seen({
      begun: false,
      problems: [problem('StorageClassNotFound', 'storage'), problem('NetworkConfigurationNotFound', 'network')]
    }),
    {
      Ready: 'False/NetworkConfigurationNotFound',
      VirtualMachineReady: 'Unknown/Pending',
      StorageReady: 'False/StorageClassNotFound',
      NetworkReady: 'False/NetworkFailed'
    }
  ],
  [
    'E5',
    seen({ problems: [problem('KubeVirtApiError', 'vm')], claims: [claim('Bound')] }),
    {
      Ready: 'False/KubeVirtApiError',
      VirtualMachineReady: 'False/VMFailed',
      StorageReady: 'True/PVCBound',
      NetworkReady: 'True/NetworkConfigured'
    }
  ],
  [
    'E7 by storage',
    seen({ begun: false, problems: [problem('NameConflict', 'storage')] }),
    {
      Ready: 'False/NameConflict',
      VirtualMachineReady: 'Unknown/Pending',
      StorageReady: 'False/NameConflict',
      NetworkReady: 'Unknown/Pending'
    }
  ],
  [
    'C5',
    seen({ begun: false, problems: [problem('CloudInitSecretNotFound', 'spec')] }),
    {
      Ready: 'False/CloudInitSecretNotFound',
      VirtualMachineReady: 'Unknown/Pending',
      StorageReady: 'Unknown/Pending',
      NetworkReady: 'Unknown/Pending'
    }
  ]
]
for (const [name, given, conditions] of cases)
  t.test(`P4: ${name}`, async t => t.strictSame(told(reflect(given, now, grace)), conditions))

t.test('P2: the grace begins once, and is cleared on recovery', async t => {
  const first = reflect(seen({ vm: vm('ErrorUnschedulable') }), now, grace)
  t.match(first, { phase: 'Creating', unschedulableSince: '2026-11-16T12:00:00Z' })
  const later = (minutes: number, status: Status, state = 'ErrorUnschedulable') =>
    reflect(
      seen({ machine: { ...machine({ template: 'small' }), status }, vm: vm(state) }),
      new Date(now.getTime() + minutes * 60_000),
      grace
    )
  t.match(later(4, first), { phase: 'Creating', unschedulableSince: '2026-11-16T12:00:00Z' })
  const failed = later(5, first)
  t.match(failed, { phase: 'Failed', unschedulableSince: '2026-11-16T12:00:00Z' })
  const well = later(6, failed, 'Running')
  t.equal(well.phase, 'Running')
  t.equal(well.unschedulableSince, undefined)
})

t.test('P6: the same facts give the same status, to the second', async t => {
  const first = reflect(seen({ ...running, acted: true }), now, grace)
  const again = reflect(
    seen({ ...running, machine: { ...machine({ template: 'small' }), status: first } }),
    new Date(now.getTime() + 60_000),
    grace
  )
  t.strictSame(again, first)
  const moved = reflect(
    seen({ ...running, vm: vm('Paused'), machine: { ...machine({ template: 'small' }), status: first } }),
    new Date(now.getTime() + 60_000),
    grace
  )
  t.equal(moved.lastUpdated, '2026-11-16T12:01:00Z')
  t.equal(moved.firstRunningAt, first.firstRunningAt)
  t.equal(moved.resourceVersion, '7', 'of the VM last acted on')
})

t.test('P5: addresses in the order of the cards, without what is of no use', async t => {
  const two: Machine['spec'] = {
    template: 'small',
    networks: [
      { name: 'b', networkName: 'x' },
      { name: 'a', networkName: 'y' }
    ]
  }
  const withMac = vm('Running')
  withMac.spec.template.spec.domain.devices.interfaces = [{ name: 'a', macAddress: '02:00:00:00:00:0a' }, { name: 'b' }]
  const status = {
    interfaces: [
      { mac: '02:00:00:00:00:0A', ipAddresses: ['10.0.0.2'] },
      { name: 'b', ipAddress: '10.0.0.1', ipAddresses: ['10.0.0.1', 'fe80::1', '2001:db8::1', '127.0.0.1', '169.254.1.1'] },
      { mac: '02:00:00:00:00:99', ipAddresses: ['172.17.0.1'], infoSource: 'guest-agent' }
    ]
  }
  t.strictSame(reflect(seen({ machine: machine(two), vm: withMac, vmi: vmi(status) }), now, grace).ipAddresses, [
    '10.0.0.1',
    '2001:db8::1',
    '10.0.0.2'
  ])
  t.equal(reflect(seen({ vm: vm('Stopped') }), now, grace).ipAddresses, undefined, 'cleared without an instance')
})

t.test('M6: a needed restart is part of the message', async t => {
  const status = reflect(seen({ ...running, vm: vm('Running', [{ type: 'RestartRequired', status: 'True' }]) }), now, grace)
  t.match(status.conditions?.[0], { status: 'True', message: /restart is needed/ })
})
