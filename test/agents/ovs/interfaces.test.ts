// What is a network card, and how its link is, as pure functions of rows (spec/ovs.md §5).
import t from 'tap'
import { linkStatus, physicalInterfaces, speedText } from '../../../agents/ovs/interfaces.ts'
import { modelOf } from '../../../agents/ovs/model.ts'
import { type GivenInterface, type GivenPort, tables } from './tables.ts'

t.test('OV-8 what is a network card', async t => {
  const names = (ports: GivenPort[], pattern?: RegExp) =>
    physicalInterfaces(modelOf(tables([{ name: 'br-int', ports }])), [], pattern).map(({ name }) => name)
  const driver = (driver_name: string) => ({ status: { driver_name } })
  t.strictSame(
    names([
      { name: 'eno1', interfaces: [{ name: 'eno1', ...driver('ice') }] },
      { name: 'dpdk0', interfaces: [{ name: 'dpdk0', type: 'dpdk' }] },
      { name: 'tap1', interfaces: [{ name: 'tap1', ...driver('tun') }] },
      { name: 'veth1', interfaces: [{ name: 'veth1', ...driver('veth') }] },
      { name: 'vm', interfaces: [{ name: 'vm', ...driver('ice'), ids: { 'iface-id': 'x' } }] },
      { name: 'gnv', interfaces: [{ name: 'gnv', type: 'geneve' }] }
    ]),
    ['dpdk0', 'eno1']
  )
  t.strictSame(names([{ name: 'veth1', interfaces: [{ name: 'veth1', ...driver('veth') }] }], /^veth/), ['veth1'])
})

t.test('speed and state of a link', async t => {
  t.strictSame([25_000_000_000n, 2_500_000_000n, 100_000_000n, 0n, undefined].map(speedText), [
    '25Gbps',
    '2.5Gbps',
    '100Mbps',
    undefined,
    undefined
  ])
  const row = (given: Partial<GivenInterface>) =>
    [...tables([{ name: 'b', ports: [{ name: 'x', interfaces: [{ name: 'x', ...given }] }] }]).Interface.values()].find(
      ({ name }) => name === 'x'
    )!
  t.equal(linkStatus(row({})), 'Up')
  t.equal(linkStatus(row({ link_state: 'down' })), 'Down')
  t.equal(linkStatus(row({ link_state: 'down', admin_state: 'down' })), 'AdminDown')
  t.equal(linkStatus(row({ ofport: -1, error: 'x', link_state: undefined })), 'Missing')
  t.equal(linkStatus(row({ error: 'x' })), 'Error')
})
