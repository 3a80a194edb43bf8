// OV-73, OV-74: ovn-controller and the flows of a real OVN; ovn-newer runs it too.
import t from 'tap'
import type { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { eventually } from '../../servers/eventually.ts'
import { condition, typeOf } from './lab.ts'
import { startOvn } from './ovn-lab.ts'

t.setTimeout(300_000)
const { lab, sink, when, healthy, nb, vsctl } = await startOvn(t)

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
