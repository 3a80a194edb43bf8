import { conditions, type Told } from './conditions.ts'
import { age, crd, type Resource, statusOf } from './crd.ts'
import { dnsLabel, dnsSubdomain, flag, int32, int64, list, listMap, object, rule, text, word } from './vocabulary.ts'

const isAddress = rule('isIP(self)', 'must be an IP address')
const address = (description: string) => text(description, { maxLength: 45, rules: [isAddress] })
const withBridge = (field: string) => rule(`!has(self.${field}) || has(self.bridge)`, `${field} needs a bridge`, `.${field}`)

const ipam = object(
  'How addresses are given, for information: Drover hands out none',
  {
    type: word('Who gives addresses', ['none', 'dhcp', 'static'], { default: 'none' }),
    subnet: text('Subnet in CIDR form', { maxLength: 49, rules: [rule('isCIDR(self)', 'must be a subnet such as 10.0.0.0/24')] }),
    gateway: address('Gateway, inside the subnet'),
    dns: list('Name servers', address('Address'), { maxItems: 16 })
  },
  {
    rules: [
      rule(
        '!has(self.subnet) || !has(self.gateway) || !isCIDR(self.subnet) || !isIP(self.gateway) || cidr(self.subnet).containsIP(self.gateway)',
        'the gateway must be inside the subnet',
        '.gateway'
      )
    ]
  }
)

const spec = object(
  'One layer-2 segment',
  {
    vlan: int32('VLAN; 0 or absent means untagged', { minimum: 0, maximum: 4094 }),
    bridge: text('Linux bridge on the nodes', { pattern: '^[A-Za-z0-9._-]{1,15}$' }),
    mtu: int32('MTU', { minimum: 576, maximum: 65535 }),
    nadRef: object(
      'A NetworkAttachmentDefinition that is used as it is',
      { name: text('Name', dnsSubdomain), namespace: text('Namespace; its own when absent', dnsLabel) },
      { required: ['name'] }
    ),
    podNetwork: flag('The pod network of the cluster', { default: false }),
    ipam
  },
  {
    rules: [
      rule(
        '(has(self.bridge) ? 1 : 0) + (has(self.nadRef) ? 1 : 0) + (has(self.podNetwork) && self.podNetwork ? 1 : 0) == 1',
        'exactly one of bridge, nadRef and podNetwork: true must be given' // NC1
      ),
      withBridge('vlan'),
      withBridge('mtu')
    ]
  }
)

const status = object('What uses it', {
  conditions: conditions(),
  nadName: text('NetworkAttachmentDefinition in use, as [namespace/]name'),
  machines: listMap(
    'Machines that refer to it',
    object(
      'One network card',
      { name: text('Name of the Machine'), nic: text('Name of the card'), macAddress: text('MAC address') },
      { required: ['name', 'nic'] }
    ),
    ['name', 'nic'],
    { maxItems: 512 }
  ),
  machineCount: int32('All Machines that refer to it, also those not listed', { minimum: 0 }),
  observedGeneration: int64('The generation this speaks about')
})

export const NetworkConfiguration = crd({
  group: 'vitistack.io',
  version: 'v1alpha1',
  kind: 'NetworkConfiguration',
  plural: 'networkconfigurations',
  shortNames: ['nc'],
  scope: 'Namespaced',
  description: 'One layer-2 segment that Machines can be attached to',
  columns: [
    { name: 'Bridge', jsonPath: '.spec.bridge' },
    { name: 'VLAN', jsonPath: '.spec.vlan', type: 'integer' },
    { name: 'Attachment', jsonPath: '.status.nadName' },
    { name: 'Machines', jsonPath: '.status.machineCount', type: 'integer' },
    statusOf('Ready', 'Ready'),
    age
  ],
  spec,
  status
})
export type NetworkConfiguration = Resource<typeof NetworkConfiguration>

export interface NetworkConfigurationConditions {
  Ready: { True: 'Configured'; False: 'AttachmentMissing' | 'NameConflict' }
}
export type NetworkConfigurationCondition = Told<NetworkConfigurationConditions>
