// OV-73, OV-74: links, bonds and daemons of a real Open vSwitch with LACP against a third switch; a real API server.
import t from 'tap'
import { eventually } from '../../servers/eventually.ts'
import { Event } from '../../../shared/kube/index.ts'
import { kubernetes } from '../../servers/real-kubernetes.ts'
import { startOvsLab } from '../../servers/ovs.ts'
import { output } from '../../servers/ovs/daemon.ts'
import { ovsNeeded } from '../../ovsdb-client/real.ts'
import { condition, startAdmin, startOvsAgent, startSink, statusWhen, typeOf } from './lab.ts'

await ovsNeeded()
t.setTimeout(480_000)

const up = `
for n in n1 tor; do ip netns add $n; ip -n $n link set lo up; done
for i in 0 1; do
  ip link add m$i netns n1 type veth peer name t1$i netns tor
  ip -n n1 link set m$i up; ip -n tor link set t1$i up
done
node.sh n1 n1; node.sh tor tor
ovs-vsctl --db=unix:$DIR/n1/db.sock -- add-br br-int -- set bridge br-int datapath_type=netdev fail-mode=secure \
  -- add-br br-provider -- set bridge br-provider datapath_type=netdev \
  -- add-bond br-provider bond0 m0 m1 -- set port bond0 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast
ovs-vsctl --db=unix:$DIR/tor/db.sock -- add-br br0 -- set bridge br0 datapath_type=netdev \
  -- add-bond br0 b1 t10 t11 -- set port b1 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast
`
const release = /(\S+)$/m.exec(await output('ovs-vswitchd', ['--version']))?.[1] // of the installed one, or of a newer one
const api = await kubernetes(t)
const kube = await startAdmin(t, api.kubeconfig)
const lab = await startOvsLab(t, up)
const sink = await startSink(t)
const setup = {
  dir: lab.dir,
  node: 'n1',
  kubeconfig: api.kubeconfig,
  namespace: api.namespace,
  sink: sink.url,
  env: { EXPECTED_BRIDGES: 'br-int,br-provider' },
  timings: { flapWindowMs: 1000 } // the tests break the same link again and again
}
const agent = await startOvsAgent(t, setup)
const when = (what: string, holds: Parameters<typeof statusWhen>[4]) => statusWhen(kube, api.namespace, 'n1', what, holds)
// an issue may outlive its condition for a moment, such as a link that has only just come back
const healthy = () =>
  when('a healthy node', status => condition(status, 'Ready') === 'True/AllHealthy' && status.issueCount === 0)

t.test('OV-1, OV-50 a healthy switch is Ready, with what was read from its three protocols', async t => {
  const status = await when(
    'counters and flows',
    status => status.flowStats && status.metrics && condition(status, 'Ready') === 'True/AllHealthy'
  )
  t.match(status, {
    ovsVersion: release,
    ovsdVersion: release,
    ovsdbSchemaVersion: /^\d+\.\d+\.\d+$/,
    dpdkEnabled: false,
    dpdkVersion: '',
    bridges: [
      {
        name: 'br-int',
        ports: 1,
        datapathType: 'netdev',
        status: 'Active',
        failMode: 'secure',
        datapathId: /^[0-9a-f]{16}$/,
        flows: 0
      },
      { name: 'br-provider', ports: 2, datapathType: 'netdev', status: 'Active', flows: 1 }
    ],
    interfaces: {
      physical: [
        { name: 'm0', status: 'Up', bond: 'bond0', speed: '10Gbps', lacpCurrent: true },
        { name: 'm1', status: 'Up', bond: 'bond0' }
      ],
      bonds: [
        {
          name: 'bond0',
          mode: 'balance-tcp',
          status: 'Active',
          members: 2,
          activeMembers: 2,
          kind: 'ovs',
          lacp: 'active',
          bridge: 'br-provider'
        }
      ]
    },
    flowStats: { totalFlows: 1, flowsPerTable: [{ bridge: 'br-provider', table: 0, flows: 1 }] },
    issueCount: 0,
    heartbeatSeconds: 2
  })
  t.comment(`Open vSwitch ${release}`)
  t.equal(condition(status, 'OVNControllerConnected'), 'Unknown/NotUsed')
  t.equal(condition(status, 'AllBondsHealthy'), 'True/AllActive')
  t.strictSame(sink.heard, [], 'OV-29 nothing is told of a healthy node')
})

const faults: Array<[name: string, member: string, breaks: string, heals: string, reason: string, physical: string]> = [
  ['our side set down', 'm1', 'ip -n n1 link set m1 down', 'ip -n n1 link set m1 up', 'AdminDown', 'AdminDown'],
  ['carrier lost from the other side', 'm0', 'ip -n tor link set t10 down', 'ip -n tor link set t10 up', 'LinkDown', 'Down']
]
for (const [name, member, breaks, heals, reason, physical] of faults) {
  t.test(`OV-74 ${name}: told, written, and taken back`, async t => {
    await healthy()
    const before = sink.heard.length
    lab.run(breaks)
    const lost = await sink.next('bond-member.lost', `bond0/${member}`)
    t.match(lost, {
      source: '/ovs-agent/n1',
      partitionkey: 'n1',
      id: `n1/bond0/${member}/io.c5c3.ovs.bond-member.lost.v1/${lost.data.detectedAt}`,
      data: {
        node: 'n1',
        object: `bond0/${member}`,
        before: 'Usable',
        after: 'NotUsable',
        reason,
        evidence: { bond: 'bond0', 'lacp-time': 'fast' }
      }
    })
    // a condition says what is so now, an issue what has been so for long enough
    const status = await when(
      'a degraded bond',
      status => condition(status, 'AllBondsHealthy') === 'False/BondDegraded' && (status.issueCount ?? 0) > 0
    )
    t.equal(condition(status, 'Ready'), 'False/BondDegraded')
    t.match(status.issues, [{ id: `BondMemberDown/bond0/${member}`, severity: 'Warning', detectedAt: lost.data.detectedAt }])
    t.match(
      status.interfaces?.physical?.find(({ name }) => name === member),
      { status: physical }
    )
    await eventually('OV-49 an Event of the OVSNode', async () => {
      const { items } = await kube.list(Event, { namespace: api.namespace })
      return items.some(
        ({ reason, regarding, note }) => reason === 'BondMemberDown' && regarding?.name === 'n1' && note?.includes(member)
      )
    })
    lab.run(heals)
    const restored = await sink.next('bond-member.restored', `bond0/${member}`)
    t.equal(restored.data.detectedAt, lost.data.detectedAt, 'OV-30 a raise and its clear can be paired')
    await healthy()
    t.equal(sink.heard.length, before + 2, 'silence elsewhere')
  })
}

t.test('OV-26 both links fall: the members, then the bond once with both of them', async t => {
  await healthy()
  const before = sink.heard.length
  lab.run('ip -n tor link set t10 down; ip -n tor link set t11 down')
  const down = await sink.next('bond.lost', 'bond0')
  t.match(down.data, { after: 'Down', evidence: { members: 'm0=LinkDown,m1=LinkDown' } })
  const first = sink.heard.slice(before).map(({ type, subject }) => `${type.split('.')[3]} ${subject}`)
  t.strictSame(first.toSorted(), ['bond bond0', 'bond-member bond0/m0', 'bond-member bond0/m1'])
  t.equal(first[2], 'bond bond0')
  await when('a bond that is down', status => condition(status, 'Ready') === 'False/BondDown')
  lab.run('ip -n tor link set t10 up; ip -n tor link set t11 up')
  await sink.next('bond.restored', 'bond0')
  for (const member of ['m0', 'm1']) {
    await sink.next('bond-member.lost', `bond0/${member}`)
    await sink.next('bond-member.restored', `bond0/${member}`)
  }
  await healthy()
})

t.test('OV-33 a partner that falls silent: links stay up, LACP is not current', async t => {
  lab.run('kill -STOP $(cat $DIR/tor/ovs-vswitchd.pid)')
  t.match((await sink.next('bond-member.lost', 'bond0/m0')).data, { reason: 'LacpNotCurrent' })
  await sink.next('bond-member.lost', 'bond0/m1')
  await sink.next('bond.lost', 'bond0')
  const status = await when('all three', status => status.issueCount === 3 && condition(status, 'Ready') === 'False/BondDown')
  t.strictSame(
    status.issues?.map(({ id }) => id),
    ['BondDown/bond0', 'LacpNotCurrent/bond0/m0', 'LacpNotCurrent/bond0/m1']
  )
  t.equal(status.interfaces?.physical?.[0]?.status, 'Up')
  lab.run('kill -CONT $(cat $DIR/tor/ovs-vswitchd.pid)')
  await sink.next('bond.restored', 'bond0')
  for (const member of ['m0', 'm1']) await sink.next('bond-member.restored', `bond0/${member}`)
  await healthy()
})

t.test('OV-28 ovs-vswitchd frozen: told as such; what it would say of links is unknown, and raises nothing', async t => {
  const before = sink.heard.length
  lab.run('kill -STOP $(cat $DIR/n1/ovs-vswitchd.pid)')
  const lost = await sink.next('vswitchd.lost', 'ovs-vswitchd')
  t.equal(lost.data.reason, 'NotResponding')
  const status = await when('an unknown bond', status => condition(status, 'VswitchdResponsive') === 'False/NotResponding')
  t.equal(condition(status, 'AllBondsHealthy'), 'Unknown/SourceLost')
  t.match(status.interfaces?.bonds, [{ status: 'Unknown' }])
  t.equal(status.bridges?.[0]?.flows, undefined, 'OV-3 no number that was not obtained')
  lab.run('kill -CONT $(cat $DIR/n1/ovs-vswitchd.pid)')
  await sink.next('vswitchd.restored', 'ovs-vswitchd')
  await healthy()
  const others = sink.heard.slice(before).filter(({ type }) => !type.includes('vswitchd') && !type.includes('bond'))
  t.strictSame(others, [])
})

t.test('ovs-vswitchd killed and started again', async t => {
  lab.run('kill -KILL $(cat $DIR/n1/ovs-vswitchd.pid)')
  t.match((await sink.next('vswitchd.lost', 'ovs-vswitchd')).data, { reason: 'NotRunning' })
  await when('no vswitchd', status => condition(status, 'Ready') === 'False/NotRunning')
  lab.run('node.sh n1 n1')
  await sink.next('vswitchd.restored', 'ovs-vswitchd')
  await healthy()
})

const losses: Array<[how: string, breaks: string, heals: string]> = [
  ['killed', 'kill -KILL', 'node.sh n1 n1'],
  ['OV-12 frozen', 'kill -STOP', 'kill -CONT $(cat $DIR/n1/ovsdb-server.pid)']
]
for (const [how, breaks, heals] of losses) {
  t.test(`OV-16, OV-28 ovsdb-server ${how}: lost, then back with a snapshot, and no port is told as gone`, async t => {
    const before = sink.heard.length
    lab.run(`${breaks} $(cat $DIR/n1/ovsdb-server.pid)`)
    await sink.next('ovsdb.lost', 'ovsdb-server')
    const status = await when(
      'a lost database',
      status => condition(status, 'Ready') === 'False/ConnectionLost' && (status.issueCount ?? 0) > 0
    )
    t.match(status.issues, [{ id: 'OvsdbLost/ovsdb-server', severity: 'Critical' }])
    t.equal(status.bridges, undefined)
    t.equal(status.metrics, undefined, 'OV-3 no counter that was not obtained')
    lab.run(heals)
    await sink.next('ovsdb.restored', 'ovsdb-server')
    await healthy()
    t.strictSame(
      sink.heard.slice(before).map(({ type }) => type.split('.')[3]),
      ['ovsdb', 'ovsdb']
    )
  })
}

t.test('both daemons die at once and come back: each is told, no link is, and what changed meanwhile is found', async t => {
  const before = sink.heard.length
  lab.run('kill -KILL $(cat $DIR/n1/ovs-vswitchd.pid) $(cat $DIR/n1/ovsdb-server.pid)')
  await sink.next('vswitchd.lost', 'ovs-vswitchd')
  await sink.next('ovsdb.lost', 'ovsdb-server')
  lab.run('ip -n tor link set t11 down; node.sh n1 n1')
  await sink.next('ovsdb.restored', 'ovsdb-server')
  await sink.next('vswitchd.restored', 'ovs-vswitchd')
  await when('a degraded bond', status => condition(status, 'Ready') === 'False/BondDegraded')
  lab.run('ip -n tor link set t11 up')
  await healthy()
  const links = sink.heard.slice(before).filter(({ type }) => type.includes('.bond-member.lost.'))
  t.ok(
    links.some(({ subject }) => subject === 'bond0/m1'),
    'OV-28 the difference is told after the return'
  )
  sink.asked()
})

t.test('a bridge that is removed is missed after three seconds, and found again at once', async t => {
  lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock del-br br-int')
  await sink.next('bridge.lost', 'br-int')
  const status = await when(
    'a missing bridge',
    status => condition(status, 'AllBridgesHealthy') === 'False/BridgeMissing' && (status.issueCount ?? 0) > 0
  )
  t.match(status.bridges?.[0], { name: 'br-int', status: 'Missing' })
  lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock add-br br-int -- set bridge br-int datapath_type=netdev fail-mode=secure')
  await sink.next('bridge.restored', 'br-int')
  await healthy()
})

t.test('OV-30, OV-31 over a restart of the agent and an outage of the sink', async t => {
  lab.run('ip -n tor link set t10 down')
  const lost = await sink.next('bond-member.lost', 'bond0/m0')
  await when('a degraded bond', status => condition(status, 'Ready') === 'False/BondDegraded' && status.issueCount === 1)
  await agent.close()
  const told = sink.heard.length
  const again = await startOvsAgent(t, setup)
  const { issues } = await when(
    'the same issue',
    status => status.issueCount === 1 && (status.observedAt ?? '') > lost.data.detectedAt
  )
  t.equal(issues?.[0]?.detectedAt, lost.data.detectedAt, 'it is the same one')
  await sink.stop()
  lab.run('ip -n tor link set t10 up')
  await healthy()
  t.equal(sink.heard.length, told, 'OV-29 what was told already is not told again')
  await sink.start()
  const restored = await sink.next('bond-member.restored', 'bond0/m0')
  t.equal(restored.data.detectedAt, lost.data.detectedAt)
  await again.close()
})

t.test('OV-27 a link that flaps: one event, then silence until it is stable; the status keeps following', async t => {
  const flapping = await startOvsAgent(t, { ...setup, timings: { flapWindowMs: 8000, linkStableMs: 500 } })
  await healthy()
  const before = sink.heard.length
  for (let turn = 0; turn < 3; turn++) {
    lab.run('ip -n tor link set t11 down')
    await when('a degraded bond', status => condition(status, 'AllBondsHealthy') === 'False/BondDegraded')
    lab.run('ip -n tor link set t11 up')
    await when('an active bond', status => condition(status, 'AllBondsHealthy') === 'True/AllActive')
  }
  await sink.next('link.flapped', 'bond0/m1')
  await when('the issue', status => status.issues?.some(({ id }) => id === 'LinkFlapping/bond0/m1'))
  const silent = sink.heard.length
  const calm = await when('calm', status => status.issueCount === 0)
  t.equal(condition(calm, 'Ready'), 'True/AllHealthy')
  const after = sink.heard.slice(silent).map(({ type }) => type)
  t.strictSame(
    after.filter(type => type !== 'io.c5c3.ovs.bond-member.restored.v1'),
    []
  )
  t.equal(sink.heard.slice(before).filter(({ type }) => type === typeOf('link.flapped')).length, 1)
  // Over the whole file: what an earlier test healed may be told only now, and after an outage of the sink the same may be heard twice.
  const pairs = (word: string) =>
    sink.heard
      .filter(({ type }) => type.endsWith(`.${word}.v1`))
      .map(({ type, subject, data }) => `${type.replace(`.${word}.v1`, '')} ${subject} ${data.detectedAt}`)
  const open = () => pairs('lost').filter(loss => !pairs('restored').includes(loss))
  await eventually('every loss to be taken back', async () => open().length === 0).catch(() => t.strictSame(open(), []))
  await flapping.close()
})
