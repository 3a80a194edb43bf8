// Cards, their addresses and attachments: the rules N.
import t from 'tap'
import { attachmentName, macAddress } from '../../../functions/machine/names.ts'
import { render } from '../../../functions/machine/render.ts'
import { cniConfig } from '../../../functions/machine/render-network.ts'
import type { NetworkConfiguration } from '../../../shared/schema/network-configuration.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { machine, network, options, type Spec, guest } from './fixtures.ts'

t.test('N3: names of attachments', async t => {
  t.equal(attachmentName({ bridge: 'br0' }), 'br0-untagged')
  t.equal(attachmentName({ bridge: 'br0', vlan: 0 }), 'br0-untagged')
  t.equal(attachmentName({ bridge: 'br.1', vlan: 5 }), 'br.1-vlan5')
  t.match(attachmentName({ bridge: 'Br_0', vlan: 5 }), /^br-0-vlan5-[0-9a-f]{8}$/)
  t.not(attachmentName({ bridge: 'Br_0' }), attachmentName({ bridge: 'br_0' }), 'two bridges, two names')
  const legal = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
  for (const bridge of ['-', '.', '..', '_', 'a..b', 'a.-b', '.a', 'A.', '-a-', 'a-.b'])
    t.match(attachmentName({ bridge, vlan: 1 }), legal, bridge)
})

t.test('N4: MAC addresses', async t => {
  const mac = (seed = '', nic = 'default') => macAddress({ name: 'basic-vm', namespace: 'default' }, nic, seed)
  t.equal(mac(), '02:c0:19:97:ef:da')
  t.match(mac('seed'), /^02(:[0-9a-f]{2}){5}$/)
  t.not(mac('seed'), mac())
  t.not(mac('', 'eth0'), mac())
  t.equal(
    guest({ template: 'small', networks: [{ name: 'a', networkName: 'mgmt-net', macAddress: '52:54:00:AB:CD:EF' }] }).domain
      .devices.interfaces?.[0]?.macAddress,
    '52:54:00:ab:cd:ef'
  )
})

t.test('N5: multiqueue exactly with virtio and more than one CPU', async t => {
  const queue = (spec: Spec) => guest(spec).domain.devices.networkInterfaceMultiqueue
  t.equal(queue({ template: 'small' }), undefined)
  t.equal(queue({ template: 'small', resources: { cpu: { threads: 2 } } }), true)
  t.equal(queue({ template: 'small', resources: { cpu: { sockets: 2 } } }), true)
  t.equal(queue({ template: 'large', networks: [{ name: 'a', networkName: 'mgmt-net', model: 'e1000' }] }), undefined)
})

t.test('N6: pod network and nadRef', async t => {
  const { attachments, vm } = render(
    machine({
      template: 'small',
      networks: [
        { name: 'a', networkName: 'pod' },
        { name: 'b', networkName: 'nad' },
        { name: 'c', networkName: 'far' }
      ]
    }),
    name =>
      ({
        pod: network('pod', { podNetwork: true }),
        nad: network('nad', { nadRef: { name: 'ovs' } }),
        far: network('far', { nadRef: { name: 'ovs', namespace: 'net' } })
      })[name],
    undefined,
    options
  )
  t.strictSame(attachments, [], 'used as they are')
  t.strictSame(vm.spec.template.spec.networks, [
    { name: 'a', pod: {} },
    { name: 'b', multus: { networkName: 'ovs' } },
    { name: 'c', multus: { networkName: 'net/ovs' } }
  ])
  matchWhole(t, vm.spec.template.spec.domain.devices.interfaces, [{ masquerade: {} }, { bridge: {} }, { bridge: {} }])
})

t.test('N3: the VLAN is told from 1 on, the MTU where there is one', async t => {
  const config = (spec: NetworkConfiguration['spec']) => cniConfig(spec, '1.0.0')
  const bare = { cniVersion: '1.0.0', name: 'br0-untagged', type: 'bridge', bridge: 'br0', ipam: {} }
  t.strictSame([config({ bridge: 'br0' }), config({ bridge: 'br0', vlan: 0 })], [bare, bare])
  t.strictSame(config({ bridge: 'br0', vlan: 1, mtu: 576 }), { ...bare, name: 'br0-vlan1', vlan: 1, mtu: 576 })
})
