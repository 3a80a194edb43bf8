// A17 and W10 with NC1–NC4 (spec/machine.md §3, §9), and that the rules agree with the schema's own CEL.
import * as fc from 'fast-check'
import t from 'tap'
import { parse } from 'yaml'
import { checkNetworkConfiguration, checkNetworkDeletion, networkRules } from '../../shared/rules/network-configuration.ts'
import type { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import { NetworkConfiguration as kind } from '../../shared/schema/network-configuration.ts'
import { validate } from '../../shared/schema/validate.ts'
import { matchWhole } from '../assert/match-whole.ts'

const network = (text: string, machineCount = 0): NetworkConfiguration => ({
  metadata: { name: 'n', namespace: 'd' },
  ...(parse(text) as { spec: NetworkConfiguration['spec'] }),
  status: { machineCount }
})
const plain = network('spec: {bridge: br0}')
const used = network('spec: {bridge: br0}', 3)

for (const { id, weight, what, example } of networkRules) {
  t.test(`${id}: ${what}`, async t => {
    const found = (old?: NetworkConfiguration) => {
      const { violations, warnings } = checkNetworkConfiguration(network(example), old)
      return weight === 'refused' ? violations : warnings
    }
    const asNew = found()
    // a rule about a change breaks only when Machines use the network: no other rule may break then
    matchWhole(t, asNew.length > 0 ? asNew : found(used), [{ id }])
  })
}

const cases: Array<[path: string, bad: string, good: string, old?: NetworkConfiguration]> = [
  ['spec', 'spec: {}', 'spec: {bridge: br0}'],
  ['spec', 'spec: {bridge: br0, nadRef: {name: x}}', 'spec: {nadRef: {name: x}}'],
  ['spec.vlan', 'spec: {podNetwork: true, vlan: 5}', 'spec: {bridge: br0, vlan: 5}'],
  ['spec.mtu', 'spec: {nadRef: {name: a}, mtu: 1500}', 'spec: {bridge: br0, mtu: 1500}'],
  ['spec.vlan', 'spec: {bridge: br0, vlan: 4095}', 'spec: {bridge: br0, vlan: 4094}'],
  ['spec.bridge', 'spec: {bridge: a-name-too-long-for-linux}', 'spec: {bridge: br-ex.1}'],
  [
    'spec.ipam.gateway',
    'spec: {bridge: br0, ipam: {subnet: 10.0.0.0/24, gateway: 10.0.1.1}}',
    'spec: {bridge: br0, ipam: {subnet: 10.0.0.0/24, gateway: 10.0.0.1}}'
  ],
  [
    'spec.ipam.gateway',
    'spec: {bridge: br0, ipam: {subnet: 10.0.0.0/24, gateway: "fe80::1"}}',
    'spec: {bridge: br0, ipam: {subnet: "2001:db8::/64", gateway: "2001:db8::1"}}'
  ],
  ['spec.ipam.subnet', 'spec: {bridge: br0, ipam: {subnet: 10.0.0.0}}', 'spec: {bridge: br0, ipam: {subnet: 10.0.0.0/8}}'],
  ['spec.ipam.dns[1]', 'spec: {bridge: br0, ipam: {dns: [1.1.1.1, dns.example]}}', 'spec: {bridge: br0, ipam: {dns: [1.1.1.1]}}'],
  ['spec.vlan', 'spec: {bridge: br0, vlan: 7}', 'spec: {bridge: br0, vlan: 0, podNetwork: false}', used],
  ['spec.bridge', 'spec: {bridge: br1}', 'spec: {bridge: br0, mtu: 9000}', used]
]
for (const [path, bad, good, old] of cases) {
  t.test(`A17 at ${path}: ${bad}`, async t => {
    matchWhole(t, checkNetworkConfiguration(network(bad), old).violations, [{ id: 'A17', path }])
    t.strictSame(checkNetworkConfiguration(network(good), old).violations, [])
  })
}

t.test('NC3: nothing is fixed while nobody uses it; the mtu may always change', async t => {
  t.strictSame(checkNetworkConfiguration(network('spec: {bridge: br9, vlan: 9}'), plain).violations, [])
  matchWhole(t, checkNetworkConfiguration(network('spec: {bridge: br0, mtu: 9000}'), used), {
    violations: [],
    warnings: [{ id: 'W10', path: 'spec.mtu' }]
  })
})

t.test('NC4: deletion is never refused', async t => {
  matchWhole(t, checkNetworkDeletion(used), { violations: [], warnings: [{ id: 'W10', message: /3 Machines/ }] })
  t.strictSame(checkNetworkDeletion(plain), { violations: [], warnings: [] })
})

t.test('the rules and the CEL of the schema agree', async t => {
  const address = fc.oneof(fc.constantFrom('10.0.0.1', '10.0.0.300', 'x', '::1', '2001:db8::5', '10.1.0.1'), fc.ipV4(), fc.ipV6())
  const spec = fc.record(
    {
      bridge: fc.constantFrom('br0', 'br-ex'),
      vlan: fc.integer({ min: 0, max: 4094 }),
      mtu: fc.integer({ min: 576, max: 65535 }),
      podNetwork: fc.boolean(),
      nadRef: fc.constant({ name: 'nad' }),
      ipam: fc.record(
        {
          subnet: fc.constantFrom('10.0.0.0/24', '2001:db8::/64', '10.0.0.0', '10.0.0.0/33', '::/0'),
          gateway: address,
          dns: fc.array(address, { maxLength: 3 })
        },
        { requiredKeys: [] }
      )
    },
    { requiredKeys: [] }
  )
  fc.assert(
    fc.property(spec, given => {
      const object = {
        apiVersion: 'vitistack.io/v1alpha1',
        kind: 'NetworkConfiguration',
        metadata: { name: 'n' },
        spec: given
      } as NetworkConfiguration
      const ours = checkNetworkConfiguration(object).violations.map(({ path }) => path)
      const theirs = validate(kind, object).map(({ path }) => path)
      return JSON.stringify([...new Set(ours)].sort()) === JSON.stringify([...new Set(theirs)].sort())
    }),
    { numRuns: 500 }
  )
  t.pass()
})
