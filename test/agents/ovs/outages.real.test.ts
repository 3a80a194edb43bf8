// OV-73, OV-74: daemons of a real Open vSwitch that freeze and die, a sink that is away, an agent that restarts, a link that flaps.
import t from 'tap'
import { condition, startOvsAgent, typeOf } from './lab.ts'
import { everyLossTakenBack, startLinks } from './links-lab.ts'

t.setTimeout(300_000)
const { lab, sink, setup, agent, when, healthy } = await startLinks(t)
await healthy()

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
  await everyLossTakenBack(t, sink)
  await flapping.close()
})
