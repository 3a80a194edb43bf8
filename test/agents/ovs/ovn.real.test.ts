// OV-73, OV-74: ovn-controller, flows and ports of a real OVN: a central, two chassis, one agent with southbound access. A real API server.
import t from 'tap'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { eventually } from '../../servers/eventually.ts'
import { kubernetes } from '../../servers/real-kubernetes.ts'
import { startOvsLab } from '../../servers/ovs.ts'
import { ovsNeeded } from '../../ovsdb-client/real.ts'
import { condition, startAdmin, startOvsAgent, startSink, statusWhen, typeOf } from './lab.ts'

await ovsNeeded()
t.setTimeout(300_000)

const up = `
for n in n1 n2; do ip netns add $n; ip -n $n link set lo up; node.sh $n $n
  ovs-vsctl --db=unix:$DIR/$n/db.sock -- add-br br-int -- set bridge br-int datapath_type=netdev fail-mode=secure \
    -- add-br br-provider -- set bridge br-provider datapath_type=netdev
done
ip link add mgmt0 type veth peer name mgmt1 netns n1; ip addr add 10.98.0.1/24 dev mgmt0; ip link set mgmt0 up
ip -n n1 addr add 10.98.0.2/24 dev mgmt1; ip -n n1 link set mgmt1 up
ADDR=0.0.0.0 ovn-central.sh central
ovn-host.sh n1 10.97.0.1 n1; ovn-host.sh n2 10.97.0.2 n2
ovn-nbctl --db=unix:$DIR/central/nb.sock ls-add sw0
for i in 1 2 3 4; do
  ovn-nbctl --db=unix:$DIR/central/nb.sock lsp-add sw0 lsp$i
  ip link add vm$i netns n1 type veth peer name peer$i netns n1; ip -n n1 link set vm$i up; ip -n n1 link set peer$i up
  ovs-vsctl --db=unix:$DIR/n1/db.sock add-port br-int vm$i -- set interface vm$i external_ids:iface-id=lsp$i external_ids:vm-id=00000000-0000-0000-0000-00000000000$i
done
ovn-nbctl --db=unix:$DIR/central/nb.sock --wait=hv sync
`
const api = await kubernetes(t)
const kube = await startAdmin(t, api.kubeconfig)
const lab = await startOvsLab(t, up)
const sink = await startSink(t)
const node = `n1-${api.namespace}`.slice(0, 40)
await kube.apply(Hypervisor, { metadata: { name: node } })
t.teardown(() => kube.delete(Hypervisor, { name: node }))
const domain = (at: number) => ({ id: `00000000-0000-0000-0000-00000000000${at}`, name: `vm${at}`, active: true })
/** As the hypervisor agent writes it. */
const domains = (...ids: number[]) =>
  kube.applyStatus(Hypervisor, {
    metadata: { name: node },
    status: { instances: ids.map(domain), numInstances: ids.length, agent: { lastHeartbeat: new Date().toISOString() } }
  })
await domains(1, 2, 3, 4)

lab.run(`ln -s n1 $DIR/${node}`)
const agent = await startOvsAgent(t, {
  dir: lab.dir,
  node,
  kubeconfig: api.kubeconfig,
  namespace: api.namespace,
  sink: sink.url,
  env: { EXPECTED_BRIDGES: 'br-int', SB_ACCESS: 'read', INVENTORY_STALE: '10m' },
  timings: {
    orphanGraceMs: 1500,
    frozenMs: 2500,
    laggingMs: 2000,
    ovnLostMs: 1000,
    flowPollMs: 700,
    livenessMs: 300,
    flapWindowMs: 1000
  }
})
const when = (what: string, holds: Parameters<typeof statusWhen>[4]) => statusWhen(kube, api.namespace, node, what, holds)
const healthy = () =>
  when('a healthy node', status => condition(status, 'Ready') === 'True/AllHealthy' && status.issueCount === 0)
const nb = (command: string) => lab.run(`ovn-nbctl --db=unix:$DIR/central/nb.sock ${command}`)
const vsctl = (command: string) => lab.run(`ovs-vsctl --db=unix:$DIR/n1/db.sock ${command}`)

t.test('OVN as it is configured, and how far it has come', async t => {
  await healthy()
  const status = await when('OV-22 its flows, the same number by bridge and by table', ({ flowStats, bridges = [] }) => {
    const total = flowStats?.totalFlows ?? 0
    return total > 20 && total === bridges.reduce((sum, { flows = 0 }) => sum + flows, 0)
  })
  t.match(status.ovnController, {
    connected: true,
    sbConnection: /^unix:/,
    chassisId: 'n1',
    encap: { type: 'geneve', ip: '10.97.0.1' },
    bridgeMappings: [{ physicalNetwork: 'physnet1', bridge: 'br-provider' }],
    integrationBridge: 'br-int'
  })
  t.equal(condition(status, 'FlowsCurrent'), 'True/Current')
  t.equal(condition(status, 'PortsAccounted'), 'True/NoOrphans')
  t.strictSame(sink.heard, [])
})

t.test('the southbound database is killed: disconnected, then frozen; traffic and Ready tell apart', async t => {
  lab.run('kill -KILL $(cat $DIR/central/sb.pid)')
  t.match((await sink.next('ovn-controller.disconnected', 'ovn-controller')).data, { reason: 'Disconnected' })
  t.match((await sink.next('flows.outdated', 'br-int')).data, { after: 'Frozen' })
  const status = await when('frozen flows', status => condition(status, 'FlowsCurrent') === 'False/FlowsFrozen')
  t.equal(condition(status, 'Ready'), 'False/Disconnected')
  t.ok((status.flowStats?.totalFlows ?? 0) > 20, 'flows stay')
  lab.run('ADDR=0.0.0.0 ovn-central.sh central')
  await sink.next('flows.refreshed', 'br-int')
  await sink.next('ovn-controller.reconnected', 'ovn-controller')
  await healthy()
})

t.test(
  'the management link is cut: its probe finds out; without the southbound database the ports are judged from here alone',
  async t => {
    const remote = (to: string) =>
      lab.run(`ovs-vsctl --db=unix:$DIR/n1/db.sock set Open_vSwitch . external_ids:ovn-remote='"${to}"'`)
    const ports = (status: NonNullable<OVSNode['status']>) =>
      status.conditions?.find(({ type }) => type === 'PortsAccounted')?.message ?? ''
    await healthy()
    vsctl('set Open_vSwitch . external_ids:ovn-remote-probe-interval=1000')
    remote('tcp:10.98.0.1:6642') // which the controller reaches and the agent, outside of these namespaces, does not
    const there = await when(
      'the other way',
      status => status.ovnController?.connected && /without the southbound/.test(ports(status)) && status.issueCount === 0
    )
    t.equal(there.ovnController?.sbConnection, 'tcp:10.98.0.1:6642')
    t.equal(condition(there, 'PortsAccounted'), 'True/NoOrphans', 'OV-44')
    const before = sink.heard.length
    const since = (noun: string) =>
      eventually(noun, async () => sink.heard.slice(before).find(({ type }) => type === typeOf(noun)))
    lab.run('ip link set mgmt0 down')
    t.match(await since('ovn-controller.disconnected'), { data: { reason: 'Disconnected' } })
    t.match(await since('flows.outdated'), { data: { after: 'Frozen' } })
    await when('a controller that is cut off', status => condition(status, 'Ready') === 'False/Disconnected')
    lab.run('ip link set mgmt0 up')
    await since('flows.refreshed')
    await since('ovn-controller.reconnected')
    remote(`unix:${lab.dir}/central/sb.sock`)
    vsctl('remove Open_vSwitch . external_ids ovn-remote-probe-interval')
    await when(
      'the southbound database again',
      status => !/without the southbound/.test(ports(status)) && status.issueCount === 0
    )
    await healthy()
    const kinds = new Set(sink.heard.slice(before).map(({ type }) => type.split('.')[3]))
    t.strictSame(kinds, new Set(['ovn-controller', 'flows']), 'silence elsewhere')
    sink.asked()
  }
)

t.test('a controller that is connected and does nothing: its flows lag, and Ready stays', async t => {
  await healthy()
  lab.run('OVN_RUNDIR=$DIR/n1 ovn-appctl -t ovn-controller debug/pause')
  nb('--wait=sb sync')
  const lagging = await sink.next('flows.outdated', 'br-int')
  t.match(lagging.data, { after: 'Lagging', evidence: { behind: /^[1-9]/ } })
  const status = await when('lagging flows', status => condition(status, 'FlowsCurrent') === 'False/FlowsLagging')
  t.equal(condition(status, 'Ready'), 'True/AllHealthy')
  lab.run('OVN_RUNDIR=$DIR/n1 ovn-appctl -t ovn-controller debug/resume')
  t.equal((await sink.next('flows.refreshed', 'br-int')).data.detectedAt, lagging.data.detectedAt)
  await healthy()
})

t.test('ovn-controller is killed', async t => {
  lab.run('kill -KILL $(cat $DIR/n1/ovn-controller.pid)')
  t.match((await sink.next('ovn-controller.disconnected', 'ovn-controller')).data, { reason: 'NotRunning' })
  const status = await when('no controller', status => condition(status, 'Ready') === 'False/NotRunning')
  t.equal(status.ovnController?.connected, false)
  t.match((await sink.next('flows.outdated', 'br-int')).data, { after: 'Frozen' })
  lab.run('ovn-host.sh n1 10.97.0.1 n1')
  await sink.next('ovn-controller.reconnected', 'ovn-controller')
  await healthy()
  sink.asked()
})

t.test('ovs-vswitchd restarted: it has no flows until the controller is back, which is not taken for wiped', async t => {
  await healthy()
  const before = sink.heard.length
  lab.run('kill -KILL $(cat $DIR/n1/ovs-vswitchd.pid); node.sh n1 n1')
  await when('no flows, or all of them again', ({ bridges = [] }) =>
    bridges.some(({ name, flows }) => name === 'br-int' && flows)
  )
  await healthy()
  const told = sink.heard.slice(before).map(({ type }) => type.split('.')[3])
  t.strictSame(
    told.filter(noun => noun !== 'vswitchd'),
    []
  )
  sink.asked()
})

t.test('OV-46 ovn-controller leaves cleanly: told alike', async t => {
  lab.run('OVN_RUNDIR=$DIR/n1 ovn-appctl -t ovn-controller exit')
  t.match((await sink.next('ovn-controller.disconnected', 'ovn-controller')).data, { reason: 'NotRunning' })
  lab.run('ovn-host.sh n1 10.97.0.1 n1')
  await sink.next('ovn-controller.reconnected', 'ovn-controller')
  await healthy()
  sink.asked()
})

t.test('OV-45 flows are deleted: wiped, Critical, until ovn-controller is started anew', async t => {
  await when('flows counted', status => (status.bridges?.find(({ name }) => name === 'br-int')?.flows ?? 0) > 20)
  lab.run('ovs-ofctl -O OpenFlow13 del-flows unix:$DIR/n1/br-int.mgmt')
  const wiped = await sink.next('flows.outdated', 'br-int')
  t.match(wiped.data, { after: 'Wiped', evidence: { flows: '0' } })
  const status = await when('wiped flows', status => condition(status, 'Ready') === 'False/FlowsWiped')
  t.match(status.issues, [{ type: 'FlowsWiped', severity: 'Critical', message: /restart it/ }])
  lab.run('OVN_RUNDIR=$DIR/n1 ovn-appctl -t ovn-controller exit --restart; ovn-host.sh n1 10.97.0.1 n1')
  const refreshed = await sink.next('flows.refreshed', 'br-int')
  t.equal(refreshed.data.detectedAt, wiped.data.detectedAt)
  await healthy()
})

t.test('a controller that is frozen cannot say that it is connected', async t => {
  lab.run('kill -STOP $(cat $DIR/n1/ovn-controller.pid)')
  const { data } = await sink.next('ovn-controller.disconnected', 'ovn-controller')
  t.equal(data.after, 'Disconnected')
  lab.run('kill -CONT $(cat $DIR/n1/ovn-controller.pid)')
  await sink.next('ovn-controller.reconnected', 'ovn-controller')
  await healthy()
  sink.asked()
})

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
