// OV-41, OV-43, OV-38: ports that belong to nobody or to two, and bridges that are missing, in a real OVN.
import t from 'tap'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { condition } from './lab.ts'
import { startOvn } from './ovn-lab.ts'

t.setTimeout(300_000)
const { api, kube, lab, sink, node, domains, agent, when, healthy, nb, vsctl } = await startOvn(t)

interface Fault {
  name: string
  port: string
  reason: string
  breaks: () => unknown
  heals: () => unknown
}
const faults: Fault[] = [
  {
    name: 'the logical port is deleted under a plugged VIF',
    port: 'vm1',
    reason: 'LogicalPortDeleted',
    breaks: () => nb('--wait=hv lsp-del lsp1'),
    heals: () => nb('--wait=hv lsp-add sw0 lsp1')
  },
  {
    name: 'a port for a device that is not there',
    port: 'nodev',
    reason: 'DeviceUnavailable',
    breaks: () => vsctl('--no-wait add-port br-int nodev'),
    heals: () => vsctl('del-port br-int nodev')
  },
  {
    name: 'a port that no logical port ever had',
    port: 'vm9',
    reason: 'NoLogicalPort',
    breaks: () =>
      lab.run(
        'ip link add vm9 netns n1 type veth peer name peer9 netns n1; ip -n n1 link set vm9 up; ip -n n1 link set peer9 up; ' +
          'ovs-vsctl --db=unix:$DIR/n1/db.sock add-port br-int vm9 -- set interface vm9 external_ids:iface-id=nobody'
      ),
    heals: () => vsctl('del-port br-int vm9')
  },
  {
    name: 'the tap vanished and libvirt knows no such domain',
    port: 'vm2',
    reason: 'DomainGone',
    breaks: async () => {
      lab.run('ip -n n1 link del vm2')
      await domains(1, 3, 4)
    },
    heals: async () => {
      vsctl('del-port br-int vm2')
      await domains(1, 2, 3, 4)
    }
  }
]
for (const { name, port, reason, breaks, heals } of faults) {
  t.test(`OV-41 orphan: ${name}`, async t => {
    await healthy()
    const before = sink.heard.length
    await breaks()
    const orphaned = await sink.next('port.orphaned', port)
    t.equal(orphaned.data.reason, reason)
    const status = await when(
      'an orphan',
      status => status.ports?.orphans === 1 && condition(status, 'PortsAccounted') === 'False/OrphanPorts'
    )
    t.equal(condition(status, 'Ready'), 'True/AllHealthy', 'one port does not condemn a node')
    t.match(status.issues?.[0], { id: `OrphanPort/${port}`, severity: 'Warning', detectedAt: orphaned.data.detectedAt })
    await heals()
    t.equal((await sink.next('port.reclaimed', port)).data.detectedAt, orphaned.data.detectedAt)
    await healthy()
    t.equal(sink.heard.length, before + 2, 'silence elsewhere')
  })
}

t.test('OV-43 one iface-id on two chassis is a duplicate claim, not an orphan', async t => {
  lab.run(
    'ip link add dup netns n2 type veth peer name dupp netns n2; ip -n n2 link set dup up; ip -n n2 link set dupp up; ' +
      'ovs-vsctl --db=unix:$DIR/n2/db.sock add-port br-int dup -- set interface dup external_ids:iface-id=lsp3'
  )
  const status = await when('a duplicate claim', status => status.issues?.some(({ type }) => type === 'DuplicatePortClaim'))
  t.match(
    status.issues?.find(({ type }) => type === 'DuplicatePortClaim'),
    { object: 'vm3', severity: 'Critical', message: /lsp3/ }
  )
  t.equal(status.ports?.orphans, 0)
  lab.run('ovs-vsctl --db=unix:$DIR/n2/db.sock del-port br-int dup')
  await healthy()
})

t.test('OV-38 a mapping to a bridge that does not exist; what people expect comes before the default', async t => {
  vsctl('set Open_vSwitch . external_ids:ovn-bridge-mappings=physnet1:br-provider,physnet2:br-none')
  await sink.next('bridge.lost', 'br-none')
  const status = await when('a missing bridge', status => condition(status, 'Ready') === 'False/BridgeMissing')
  t.ok(status.issues?.some(({ id }) => id === 'MappingUnresolved/physnet2'))
  vsctl('set Open_vSwitch . external_ids:ovn-bridge-mappings=physnet1:br-provider')
  await sink.next('bridge.restored', 'br-none')
  await healthy()
  await kube.patch(
    OVSNode,
    { name: node, namespace: api.namespace },
    { spec: { expected: { bridges: [{ name: 'br-storage' }] } } }
  )
  await sink.next('bridge.lost', 'br-storage')
  await kube.patch(OVSNode, { name: node, namespace: api.namespace }, { spec: { expected: null } })
  await sink.next('bridge.restored', 'br-storage')
  await agent.close()
})
