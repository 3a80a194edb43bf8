// spec/ovs.md §6: every reason of every condition with its words, and what is held while its source is lost (OV-28).
import t from 'tap'
import type { Verdict } from '../../../shared/kube/conditions.ts'
import { conditionsOf, switchKnown } from '../../../agents/ovs/conditions.ts'
import { finding } from '../../../agents/ovs/finding.ts'
import { healthOf } from '../../../agents/ovs/findings.ts'
import type { IssueType } from '../../../agents/ovs/issue-types.ts'
import { isHeld } from '../../../agents/ovs/judge.ts'
import type { Entry, Ledger } from '../../../agents/ovs/ledger.ts'
import type { Observed } from '../../../agents/ovs/observed.ts'
import { type GivenBridge, type GivenInterface, observed, tables } from './tables.ts'

const remote = { 'ovn-remote': 'tcp:x' }
const withOvn = tables([{ name: 'br-int' }], remote)
const entry = (type: IssueType, object: string, raised = true): [string, Entry] => [
  `${type}/${object}`,
  {
    finding: finding(type, object, `${type} of ${object}.`),
    present: true,
    since: 0,
    changes: [],
    ...(raised && { detectedAt: 'x' })
  }
]

function said(given: Partial<Observed>, issues: ReadonlyArray<[string, Entry]> = [], bridges = ['br-int']): Map<string, Verdict> {
  const seen = observed({ tables: withOvn, ovn: 'connected', ...given })
  const ledger: Ledger = new Map(issues)
  return new Map(conditionsOf(seen, healthOf(seen, { expectedBridges: bridges }), ledger).map(one => [one.type, one]))
}
const line = ({ status, reason, message }: Partial<Verdict> = {}): string => `${status} ${reason}: ${message}`
const mac = '02:00:00:00:00:01'
const bond = (name: string, ...interfaces: GivenInterface[]): GivenBridge => ({
  name: `br-${name}`,
  ports: [{ name, bond_active_slave: mac, interfaces }]
})
const [a, b, c] = ['a', 'b', 'c'].map(name => ({ name })) as [GivenInterface, GivenInterface, GivenInterface]
const down = { link_state: 'down' }
const seenBonds = (...bonds: GivenBridge[]) => ({ tables: tables([{ name: 'br-int' }, ...bonds], remote) })
const standalone = { bridges: ['br-a', 'br-int'].map(name => ({ name, failMode: 'standalone' as const })) }
const unreadableTwice = {
  ...seenBonds({ name: 'br-ex', ports: [{ name: 'bond0' }, { name: 'bond1' }] }),
  kernelBonds: new Map([
    ['bond0', undefined],
    ['bond1', undefined]
  ])
}
const unreadable = { ...seenBonds({ name: 'br-ex', ports: [{ name: 'bond0' }] }), kernelBonds: new Map([['bond0', undefined]]) }

const rows: Array<[type: string, given: Partial<Observed>, issues: Array<[string, Entry]>, line: string]> = [
  ['OVSDBConnected', {}, [], 'True Connected: The database answers.'],
  ['OVSDBConnected', { ovsdb: 'starting' }, [], 'Unknown SourceLost: The database was not asked yet.'],
  [
    'OVSDBConnected',
    { ovsdb: 'starting' },
    [entry('OvsdbLost', 'ovsdb')],
    'False ConnectionLost: The database cannot be reached.'
  ],
  [
    'OVSDBConnected',
    { ovsdb: 'starting' },
    [entry('OvsdbLost', 'ovsdb', false)],
    'Unknown SourceLost: The database was not asked yet.'
  ],
  ['OVSDBConnected', { ovsdb: 'lost' }, [], 'False ConnectionLost: The database cannot be reached.'],
  [
    'OVSDBConnected',
    { ovsdb: 'schema-unsupported' },
    [],
    'False SchemaUnsupported: The database has a schema that this agent does not know.'
  ],
  ['VswitchdResponsive', {}, [], 'True Responding: ovs-vswitchd answers.'],
  ['VswitchdResponsive', { vswitchd: 'not-running' }, [], 'False NotRunning: ovs-vswitchd is not running.'],
  ['VswitchdResponsive', { vswitchd: 'not-responding' }, [], 'False NotResponding: ovs-vswitchd does not answer.'],
  ['VswitchdResponsive', { vswitchd: 'unknown' }, [], 'Unknown SourceLost: ovs-vswitchd cannot be asked.'],
  ['VswitchdResponsive', {}, [entry('ConfigLag', 'cfg')], 'False ConfigLag: ConfigLag of cfg.'],
  ['VswitchdResponsive', {}, [entry('ConfigLag', 'cfg', false)], 'True Responding: ovs-vswitchd answers.'],
  ['VswitchdResponsive', { ovsdb: 'lost' }, [entry('ConfigLag', 'cfg')], 'True Responding: ovs-vswitchd answers.'],
  ['OVNControllerConnected', {}, [], 'True Connected: ovn-controller reaches the southbound database.'],
  [
    'OVNControllerConnected',
    { ovn: 'not-connected' },
    [],
    'False Disconnected: ovn-controller does not reach the southbound database.'
  ],
  ['OVNControllerConnected', { ovn: 'not-running' }, [], 'False NotRunning: ovn-controller is not running.'],
  ['OVNControllerConnected', { ovn: 'unknown' }, [], "Unknown SocketMissing: ovn-controller's control socket cannot be reached."],
  ['OVNControllerConnected', { tables: tables([{ name: 'br-int' }]) }, [], 'Unknown NotUsed: No ovn-remote is configured.'],
  ['AllBridgesHealthy', {}, [], 'True AllActive: All expected bridges are active.'],
  ['AllBridgesHealthy', { tables: tables([], remote) }, [], 'False BridgeMissing: Missing: br-int.'],
  [
    'AllBridgesHealthy',
    { tables: tables([{ name: 'br-int', fail_mode: 'standalone' }], remote) },
    [],
    'False BridgeDegraded: Degraded: br-int.'
  ],
  [
    'AllBridgesHealthy',
    { tables: tables([{ name: 'br-int' }, { name: 'br-a' }], remote), expected: standalone },
    [],
    'False BridgeDegraded: Degraded: br-a, br-int.'
  ],
  ['AllBridgesHealthy', { ovsdb: 'lost' }, [], 'Unknown SourceLost: Open vSwitch cannot be asked.'],
  ['AllBondsHealthy', {}, [], 'True NoBonds: There are no bonds.'],
  ['AllBondsHealthy', seenBonds(bond('bond0', a, b)), [], 'True AllActive: All members of all bonds are usable.'],
  [
    'AllBondsHealthy',
    seenBonds(bond('bond0', a, { ...b, ...down }), bond('bond1', { name: 'd' }, { name: 'e', ...down })),
    [],
    'False BondDegraded: Usable members: bond0 1/2, bond1 1/2.'
  ],
  [
    'AllBondsHealthy',
    seenBonds(
      bond('bond0', c, { name: 'd', ...down }),
      bond('bond1', { ...a, ...down }, { ...b, ...down }),
      bond('bond2', { name: 'e', ...down }, { name: 'f', ...down })
    ),
    [],
    'False BondDown: No usable member: bond1 0/2, bond2 0/2.'
  ],
  ['AllBondsHealthy', seenBonds(bond('bond0', a, { ...b, ...down })), [], 'False BondDegraded: Usable members: bond0 1/2.'],
  ['AllBondsHealthy', unreadableTwice, [], 'Unknown SourceLost: Not known: bond0 0/0, bond1 0/0.'],
  ['AllBondsHealthy', unreadable, [], 'Unknown SourceLost: Not known: bond0 0/0.'],
  ['AllBondsHealthy', { vswitchd: 'not-responding' }, [], 'Unknown SourceLost: Open vSwitch cannot be asked.'],
  ['FlowsCurrent', {}, [], 'True Current: The flows follow the southbound database, as far as is known.'],
  ['FlowsCurrent', {}, [entry('FlowsFrozen', 'f')], 'False FlowsFrozen: FlowsFrozen of f.'],
  ['FlowsCurrent', {}, [entry('FlowsLagging', 'f'), entry('FlowsWiped', 'f')], 'False FlowsWiped: FlowsWiped of f.'],
  ['FlowsCurrent', {}, [entry('FlowsLagging', 'f'), entry('FlowsFrozen', 'f')], 'False FlowsFrozen: FlowsFrozen of f.'],
  ['FlowsCurrent', {}, [entry('FlowsLagging', 'f')], 'False FlowsLagging: FlowsLagging of f.'],
  ['FlowsCurrent', { ovsdb: 'lost' }, [entry('FlowsWiped', 'f')], 'Unknown SourceLost: Open vSwitch cannot be asked.'],
  [
    'PortsAccounted',
    {},
    [],
    "True NoOrphans: Every port has an owner. Judged without the southbound database and the node's list of domains."
  ],
  ['PortsAccounted', { ovsdb: 'lost' }, [], 'Unknown InventoryUnavailable: The ports are not known.'],
  ['Ready', {}, [], 'True AllHealthy: Open vSwitch and OVN work.'],
  ['Ready', {}, [entry('FlowsWiped', 'f')], 'False FlowsWiped: FlowsWiped of f.'],
  ['Ready', {}, [entry('FlowsFrozen', 'f'), entry('OrphanPort', 'p')], 'True AllHealthy: Open vSwitch and OVN work.'],
  ['Ready', unreadable, [], 'Unknown SourceLost: Not known: bond0 0/0.'],
  ['Ready', { ...unreadable, ovn: 'unknown' }, [], "Unknown SocketMissing: ovn-controller's control socket cannot be reached."],
  ['Ready', { ovsdb: 'lost', vswitchd: 'not-running' }, [], 'False ConnectionLost: The database cannot be reached.']
]
for (const [type, given, issues, wanted] of rows)
  t.test(`OV-50, ovs.md §6 ${type}: ${wanted}`, async t => t.equal(line(said(given, issues).get(type)), wanted))

t.test('OV-50: the conditions, in their order', async t => {
  t.strictSame(
    [...said({}).keys()],
    [
      'Ready',
      'OVSDBConnected',
      'VswitchdResponsive',
      'OVNControllerConnected',
      'AllBridgesHealthy',
      'AllBondsHealthy',
      'FlowsCurrent',
      'PortsAccounted'
    ]
  )
  const two = said({ tables: tables([{ name: 'br-int' }], remote) }, [], ['br-int', 'br-a', 'br-b']).get('AllBridgesHealthy')
  t.equal(two?.message, 'Missing: br-a, br-b.')
})

t.test('OV-44: ports without an owner, and what they were judged without', async t => {
  const southbound = { nbCfg: 1n, bindings: new Map() }
  const inventory = (fresh: boolean) => ({ domains: new Set<string>(), moving: new Set<string>(), fresh })
  const of = (given: Partial<Observed>, count = 0) =>
    line(
      said(
        given,
        Array.from({ length: count }, (_, n) => entry('OrphanPort', `p${n}`))
      ).get('PortsAccounted')
    )
  t.equal(of({ southbound, inventory: inventory(true) }), 'True NoOrphans: Every port has an owner.')
  const withoutList = "Judged without the node's list of domains."
  t.equal(of({ southbound, inventory: inventory(false) }), `True NoOrphans: Every port has an owner. ${withoutList}`)
  t.equal(
    of({ inventory: inventory(true) }, 2),
    'False OrphanPorts: 2 without an owner: p0, p1. Judged without the southbound database.'
  )
  t.equal(of({ southbound, inventory: inventory(true) }, 1), 'False OrphanPorts: 1 without an owner: p0.')
  t.equal(
    of({ southbound, inventory: inventory(true) }, 11),
    'False OrphanPorts: 11 without an owner: p0, p1, p2, p3, p4, p5, p6, p7, p8, p9.'
  )
})

t.test('OV-28: when the switch is known', async t => {
  const port = (given: Partial<GivenInterface>) =>
    tables([{ name: 'br-int', ports: [{ name: 'br-int', interfaces: [{ name: 'br-int', type: 'internal', ...given }] }] }])
  const known = (given: Partial<Observed>) => switchKnown(observed({ tables: withOvn, ...given }))
  t.strictSame(
    (['responding', 'unknown', 'unasked', 'not-running', 'not-responding'] as const).map(vswitchd => known({ vswitchd })),
    [true, true, false, false, false]
  )
  t.equal(known({ ovsdb: 'lost' }), false)
  t.equal(known({ tables: undefined }), false)
  t.equal(known({ tables: port({ link_state: undefined }) }), false, 'the database was restarted')
  t.equal(known({ tables: port({ link_state: undefined, ofport: -1 }) }), true, 'what has no number never has a link')
  t.equal(known({ tables: port({ link_state: undefined, ofport: undefined }) }), true)
  t.equal(known({ tables: port({ link_state: undefined, ofport: 0 }) }), true)
  t.equal(known({ tables: port({ link_state: 'down', ofport: 1 }) }), true)
  const one = tables([{ name: 'br-int', ports: [{ name: 'tap', interfaces: [{ name: 'tap', link_state: undefined }] }] }])
  t.equal(known({ tables: one }), true, 'one that has a link state is enough')
})

t.test('OV-28: what is held while its source is lost', async t => {
  const held = (topic: Parameters<typeof isHeld>[0], given: Partial<Observed>) =>
    isHeld(topic, observed({ tables: withOvn, ovn: 'connected', ...given }))
  t.strictSame([held('bond', {}), held('bond', { ovsdb: 'lost' })], [false, true])
  t.strictSame(
    (['responding', 'unasked', 'unknown', 'not-running'] as const).map(vswitchd => held('vswitchd', { vswitchd })),
    [false, true, true, false]
  )
  t.strictSame(
    (['connected', 'not-connected', 'not-running', 'unasked', 'unknown'] as const).map(ovn => held('ovn-controller', { ovn })),
    [false, false, false, true, true]
  )
  t.equal(held('ovn-controller', { tables: undefined }), true)
  t.strictSame([held('port', { ovn: 'not-connected' }), held('port', { ovsdb: 'lost' }), held('port', {})], [true, true, false])
  t.equal(held('ovsdb', { ovsdb: 'lost', ovn: 'unknown', vswitchd: 'unknown' }), false, 'its loss is the news')
})
