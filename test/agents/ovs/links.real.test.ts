// OV-73, OV-74: links and bonds of a real Open vSwitch with LACP against a second switch, as they are read from the switch; links-newer runs it too.
import t from 'tap'
import { eventually } from '../../servers/eventually.ts'
import { Event } from '../../../shared/kube/index.ts'
import { output } from '../../servers/ovs/daemon.ts'
import { condition } from './lab.ts'
import { everyLossTakenBack, startLinks } from './links-lab.ts'

t.setTimeout(300_000)
const release = /(\S+)$/m.exec(await output('ovs-vswitchd', ['--version']))?.[1] // of the installed one, or of a newer one
const { api, kube, lab, sink, when, healthy } = await startLinks(t)

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
  await everyLossTakenBack(t, sink)
})
