// Health of bonds, bridges, ports and flows as pure functions of rows (spec/ovs.md §5). DPDK and kernel bonds are exercised by such
// fixtures only, not live: this kernel has neither.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { bondsOf } from '../../../agents/ovs/bonds.ts'
import { bridgeHealth, expectedBridges } from '../../../agents/ovs/bridges.ts'
import { conditionsOf } from '../../../agents/ovs/conditions.ts'
import { findingsOf, healthOf } from '../../../agents/ovs/findings.ts'
import { flowFaults, trendOf } from '../../../agents/ovs/flows.ts'
import { linkStatus, physicalInterfaces, speedText } from '../../../agents/ovs/interfaces.ts'
import { modelOf } from '../../../agents/ovs/model.ts'
import type { Observed } from '../../../agents/ovs/observed.ts'
import { orphansOf } from '../../../agents/ovs/orphans.ts'
import { statusOf } from '../../../agents/ovs/to-status.ts'
import { readBonding } from '../../../agents/ovs/wire/bonding.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { type GivenBridge, type GivenInterface, type GivenPort, observed, tables } from './tables.ts'

const settings = { expectedBridges: ['br-int'] }
const mac = '02:00:00:00:00:01'
const about = { conditions: [], observedAt: undefined, heartbeatSeconds: 30, agentVersion: 'x' }
const bond = (members: GivenInterface[], port: Partial<GivenPort> = {}): GivenBridge => ({
  name: 'br-ex',
  ports: [{ name: 'bond0', bond_mode: 'balance-tcp', lacp: 'active', bond_active_slave: mac, interfaces: members, ...port }]
})
const current = { lacp_current: true }

const bonds: Array<[name: string, given: GivenBridge, status: string, active: number, reasons: Array<string | undefined>]> = [
  [
    'all usable',
    bond([
      { name: 'a', ...current, mac_in_use: mac },
      { name: 'b', ...current }
    ]),
    'Active',
    2,
    [undefined, undefined]
  ],
  [
    'one link down',
    bond([
      { name: 'a', ...current },
      { name: 'b', link_state: 'down' }
    ]),
    'Degraded',
    1,
    [undefined, 'LinkDown']
  ],
  [
    'one set down',
    bond([
      { name: 'a', ...current },
      { name: 'b', link_state: 'down', admin_state: 'down' }
    ]),
    'Degraded',
    1,
    [undefined, 'AdminDown']
  ],
  [
    'partner silent on one',
    bond([
      { name: 'a', ...current },
      { name: 'b', lacp_current: false }
    ]),
    'Degraded',
    1,
    [undefined, 'LacpNotCurrent']
  ],
  ['partner silent on all', bond([{ name: 'a' }, { name: 'b' }]), 'Down', 0, ['LacpNotCurrent', 'LacpNotCurrent']],
  [
    'OV-34 fallback to one link',
    bond([{ name: 'a' }, { name: 'b' }], { config: { 'lacp-fallback-ab': 'true' } }),
    'Degraded',
    1,
    ['LacpNotCurrent', 'LacpNotCurrent']
  ],
  [
    'OV-34 no active member',
    bond(
      [
        { name: 'a', ...current },
        { name: 'b', ...current }
      ],
      { bond_active_slave: '00:00:00:00:00:00' }
    ),
    'Down',
    0,
    [undefined, undefined]
  ],
  [
    'OV-35 a device that was never there',
    bond([
      { name: 'a', ...current },
      { name: 'b', ofport: -1, error: 'could not open', link_state: undefined }
    ]),
    'Degraded',
    1,
    [undefined, 'Missing']
  ],
  ['without LACP', bond([{ name: 'a' }, { name: 'b' }], { lacp: 'off' }), 'Active', 2, [undefined, undefined]]
]
for (const [name, given, status, active, reasons] of bonds) {
  t.test(`OV-33 bond: ${name}`, async t => {
    const [found] = bondsOf(modelOf(tables([given])), new Map(), {})
    t.equal(found?.status, status)
    t.equal(found?.activeMembers, active)
    t.strictSame(
      found?.members.map(({ reason }) => reason),
      reasons
    )
  })
}

t.test('more members expected than there are', async t => {
  const model = modelOf(
    tables([
      bond([
        { name: 'a', ...current },
        { name: 'b', ...current }
      ])
    ])
  )
  t.equal(bondsOf(model, new Map(), { bonds: [{ name: 'bond0', members: 3 }] })[0]?.status, 'Degraded')
})

t.test('OV-37 kernel bonds, from recorded files', async t => {
  const text = (file: string) => readFile(join(import.meta.dirname, 'bonding', file), 'utf8')
  const model = modelOf(tables([{ name: 'br-ex', ports: [{ name: 'bond0' }] }]))
  const of = async (file: string) => bondsOf(model, new Map([['bond0', readBonding(await text(file))]]), {})[0]
  t.match(await of('lacp'), {
    kind: 'kernel',
    mode: '802.3ad',
    status: 'Active',
    activeMembers: 2,
    lacp: 'active',
    bridge: 'br-ex'
  })
  matchWhole(t, await of('lacp-degraded'), {
    status: 'Degraded',
    members: [
      { name: 'eno1', usable: true },
      { name: 'eno2', usable: false, reason: 'LacpNotCurrent' }
    ]
  })
  matchWhole(t, await of('active-backup'), {
    mode: 'active-backup',
    status: 'Degraded',
    activeMember: 'eth0',
    members: [{ usable: true }, { reason: 'LinkDown' }]
  })
  t.match(bondsOf(model, new Map([['bond0', undefined]]), {})[0], { status: 'Unknown' })
  t.equal(readBonding('anything else'), undefined)
})

t.test('OV-8, OV-37 members of a kernel bond are network cards, with the speed that the kernel tells', async t => {
  const text = await readFile(join(import.meta.dirname, 'bonding', 'active-backup'), 'utf8')
  const kernelBonds = new Map([['bond0', readBonding(text)]])
  const card = { name: 'bond0', status: { driver_name: 'bonding' } }
  const seen = observed({ tables: tables([{ name: 'br-ex', ports: [{ name: 'bond0', interfaces: [card] }] }]), kernelBonds })
  const status = statusOf(seen, healthOf(seen, { expectedBridges: [] }), new Map(), about)
  t.strictSame(status.interfaces?.physical?.slice(1), [
    { name: 'eth0', status: 'Up', bond: 'bond0', speed: '10Gbps' },
    { name: 'eth1', status: 'Down', bond: 'bond0' }
  ])
})

t.test('what people expect of a bond: one that shrank is degraded, one that is nowhere is down', async t => {
  const expected = { bonds: [{ name: 'bond0', members: 2 }] }
  const of = (ports: GivenPort[], kernel: Observed['kernelBonds'] = new Map()) =>
    bondsOf(modelOf(tables([{ name: 'br-ex', ports }])), kernel, expected)[0]
  t.match(of([{ name: 'bond0', interfaces: [{ name: 'a' }] }]), { kind: 'ovs', status: 'Degraded', activeMembers: 1 })
  matchWhole(t, of([]), { kind: undefined, status: 'Down', expectedMembers: 2, members: [] })
  t.equal(bondsOf(modelOf(tables([{ name: 'br-ex' }])), undefined, expected)[0], undefined, 'not before the kernel was asked')
  const kernel = [{ name: 'bond0', interfaces: [{ name: 'bond0', status: { driver_name: 'bonding' } }] }]
  t.equal(of(kernel), undefined, 'a bond of the kernel whose file is not there yet is not taken for one of the switch')
  t.match(of(kernel, new Map([['bond0', undefined]])), { kind: 'kernel', status: 'Unknown' })
  const seen = observed({ tables: tables([{ name: 'br-int' }]), kernelBonds: new Map(), expected })
  matchWhole(t, findingsOf(seen, healthOf(seen, settings)), [
    { type: 'BondDown', object: 'bond0', reason: 'Missing', message: /is expected and does not exist/ }
  ])
})

const bridges: Array<[name: string, given: GivenBridge, status: string, reason?: RegExp]> = [
  ['as it should be', { name: 'br-int' }, 'Active'],
  ['not secure', { name: 'br-int', fail_mode: 'standalone' }, 'Degraded', /fail mode is standalone, expected secure/],
  [
    'OV-40 local port without a number',
    { name: 'br-int', ports: [{ name: 'br-int', interfaces: [{ name: 'br-int', type: 'internal', ofport: -1 }] }] },
    'Degraded',
    /local port/
  ],
  [
    'patch port without a peer',
    { name: 'br-int', ports: [{ name: 'patch', interfaces: [{ name: 'patch', type: 'patch', options: { peer: 'gone' } }] }] },
    'Degraded',
    /without a peer: patch/
  ]
]
for (const [name, given, status, reason] of bridges) {
  t.test(`OV-39 bridge: ${name}`, async t => {
    const model = modelOf(tables([given]))
    const [found] = bridgeHealth(model, expectedBridges(model, {}, ['br-int']))
    t.equal(found?.status, status)
    if (reason) t.match(found?.reason, reason)
  })
}

t.test('OV-38 which bridges are expected', async t => {
  const model = modelOf(tables([], { 'ovn-bridge-mappings': 'p1:br-provider,p2:br-x' }))
  const missing = (expected: Observed['expected']) =>
    bridgeHealth(model, expectedBridges(model, expected, ['br-int', 'br-ex', 'br-provider?', 'br-maybe?'])).map(
      ({ name }) => name
    )
  t.strictSame(missing({}), ['br-ex', 'br-int', 'br-provider', 'br-x'], 'a mapped bridge is not optional')
  t.strictSame(missing({ bridges: [{ name: 'br-own' }] }), ['br-own', 'br-provider', 'br-x'])
})

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

const vif = (row: Partial<GivenInterface>, more: Record<string, string> = {}, ...without: string[]) => {
  const all = Object.entries({ 'iface-id': 'lsp', 'vm-id': 'vm', 'ovn-installed': 'true', 'ovn-installed-ts': '1', ...more })
  const ids = Object.fromEntries(all.filter(([id]) => !without.includes(id)))
  return modelOf(tables([{ name: 'br-int', ports: [{ name: 'tap1', interfaces: [{ name: 'tap1', ...row, ids }] }] }]))
}
const lists = (domains: string[], moving: string[] = [], fresh = true) => ({
  domains: new Set(domains),
  moving: new Set(moving),
  fresh
})
const binding = { chassis: 'this', moving: false, claims: 0 } as const
const sb = (bindings: Array<[string, { chassis: 'this' | 'other' | 'none'; moving: boolean; claims: number }]>) => ({
  nbCfg: 1n,
  bindings: new Map(bindings)
})

const ports: Array<[name: string, model: ReturnType<typeof vif>, known: Partial<Observed>, reason: string | undefined]> = [
  ['a port in use', vif({}), { inventory: lists(['vm']), southbound: sb([['lsp', binding]]) }, undefined],
  [
    'device unavailable',
    vif({ ofport: -1, error: 'could not open network device', link_state: undefined }),
    {},
    'DeviceUnavailable'
  ],
  ['logical port deleted', vif({}, {}, 'ovn-installed'), {}, 'LogicalPortDeleted'],
  [
    'logical port deleted here, but the southbound still has it',
    vif({}, {}, 'ovn-installed'),
    { southbound: sb([['lsp', binding]]) },
    undefined
  ],
  ['no logical port ever, nobody to confirm', vif({}, {}, 'ovn-installed', 'ovn-installed-ts'), {}, undefined],
  ['no logical port ever', vif({}, {}, 'ovn-installed', 'ovn-installed-ts'), { southbound: sb([]) }, 'NoLogicalPort'],
  ['VM gone, nobody to confirm', vif({ link_state: 'down' }), {}, undefined],
  ['VM gone, domain unknown', vif({ link_state: 'down' }), { inventory: lists([]) }, 'DomainGone'],
  ['VM gone, but the list is old', vif({ link_state: 'down' }), { inventory: lists([], [], false) }, undefined],
  ['OV-42 on the move by its Migration', vif({ link_state: 'down' }), { inventory: lists([], ['vm']) }, undefined],
  [
    'OV-42 on the move by the southbound',
    vif({ link_state: 'down' }),
    { inventory: lists([]), southbound: sb([['lsp', { ...binding, moving: true }]]) },
    undefined
  ],
  [
    'OV-43 claimed twice',
    vif({ link_state: 'down' }),
    { inventory: lists([]), southbound: sb([['lsp', { ...binding, claims: 4 }]]) },
    undefined
  ]
]
for (const [name, model, known, reason] of ports) {
  t.test(`OV-41 port: ${name}`, async t => t.equal(orphansOf(model, observed(known))[0]?.reason, reason))
}
t.test('a port that OVN made, an internal or a patch port is never an orphan', async t => {
  const gone = { ofport: -1, error: 'x', link_state: undefined }
  const model = modelOf(
    tables([
      {
        name: 'br-int',
        ports: [
          { name: 'ovn-n2-0', ids: { 'ovn-chassis-id': 'n2' }, interfaces: [{ name: 'ovn-n2-0', type: 'geneve', ...gone }] },
          { name: 'int', interfaces: [{ name: 'int', type: 'internal', ...gone }] },
          { name: 'patch', interfaces: [{ name: 'patch', type: 'patch', ...gone }] }
        ]
      }
    ])
  )
  t.strictSame(orphansOf(model, observed({})), [])
})

t.test('OV-47 flows: wiped after two polls, and not by a slow decline', async t => {
  const model = modelOf(tables([{ name: 'br-int' }], { 'ovn-remote': 'tcp:x' }))
  const faults = (counts: number[]) => {
    const flowTrend = counts.reduce<ReturnType<typeof trendOf> | undefined>((trend, count) => trendOf(trend, count), undefined)
    return flowFaults(model, observed({ ovn: 'connected', flowTrend })).map(({ kind }) => kind)
  }
  t.strictSame(faults([1000, 0]), [])
  t.strictSame(faults([1000, 0, 0]), ['Wiped'])
  t.strictSame(faults([1000, 99, 99, 99, 99]), ['Wiped'])
  t.strictSame(faults([1000, 500, 200, 90, 40]), [])
  t.strictSame(faults([1000, 0, 0, 1000]), [])
  for (const ovn of ['not-connected', 'not-running'] as const)
    t.strictSame(flowFaults(model, observed({ ovn })), [{ kind: 'Frozen', because: ovn }])
  const lagging = modelOf(tables([{ name: 'br-int', ids: { 'ovn-nb-cfg': '4' } }], { 'ovn-remote': 'tcp:x' }))
  t.strictSame(flowFaults(lagging, observed({ ovn: 'connected', southbound: { nbCfg: 7n, bindings: new Map() } })), [
    { kind: 'Lagging', behind: 3n }
  ])
})

t.test('OV-44 without the southbound database: behind by the times that a newer controller notes, if it does', async t => {
  const faults = (ids: Record<string, string>) =>
    flowFaults(modelOf(tables([{ name: 'br-int', ids }], { 'ovn-remote': 'tcp:x' })), observed({ ovn: 'connected' }))
  t.strictSame(faults({ 'ovn-nb-cfg': '4', 'ovn-nb-cfg-ts': '1000' }), [], 'an older one says nothing, so nothing is known')
  t.strictSame(faults({ 'ovn-nb-cfg': '4', 'ovn-nb-cfg-ts': '2000', 'ovn-nb-cfg-sb-ts': '1900' }), [])
  t.strictSame(faults({ 'ovn-nb-cfg': '4', 'ovn-nb-cfg-ts': '2000', 'ovn-nb-cfg-sb-ts': '2100' }), [
    { kind: 'Lagging', behind: undefined }
  ])
})

const ready = (given: Partial<Observed>): string => {
  const seen = observed({ tables: tables([{ name: 'br-int' }]), ...given })
  const [first] = conditionsOf(seen, healthOf(seen, settings), new Map())
  return `${first?.status}/${first?.reason}`
}
t.test('OV-50 Ready is the first thing that fails; what is wrong counts before what is unknown', async t => {
  const ovn = { tables: tables([{ name: 'br-int' }], { 'ovn-remote': 'tcp:x' }) }
  t.equal(ready({}), 'True/AllHealthy', 'OVN is not used')
  t.equal(ready({ ...ovn, ovn: 'connected' }), 'True/AllHealthy')
  t.equal(ready({ ...ovn, ovn: 'unknown' }), 'Unknown/SocketMissing')
  t.equal(ready({ ...ovn, ovn: 'not-running' }), 'False/NotRunning')
  t.equal(ready({ ovsdb: 'lost', tables: undefined }), 'False/ConnectionLost')
  t.equal(ready({ ovsdb: 'schema-unsupported', tables: undefined }), 'False/SchemaUnsupported')
  t.equal(ready({ vswitchd: 'not-responding' }), 'False/NotResponding')
  t.equal(ready({ tables: tables([]) }), 'False/BridgeMissing')
  t.equal(
    ready({
      ...ovn,
      ovn: 'unknown',
      tables: tables([{ name: 'br-int' }, bond([{ name: 'a' }, { name: 'b' }])], { 'ovn-remote': 'x' })
    }),
    'False/BondDown'
  )
})

t.test('OV-28 a database that was restarted has no link states until vswitchd wrote them', async t => {
  t.equal(
    ready({
      tables: tables([
        {
          name: 'br-int',
          ports: [
            { name: 'br-int', interfaces: [{ name: 'br-int', type: 'internal', link_state: undefined, admin_state: undefined }] }
          ]
        }
      ])
    }),
    'Unknown/SourceLost'
  )
})

t.test('OV-70 DPDK: wanted and not there is an issue', async t => {
  const seen = observed({ tables: tables([{ name: 'br-int' }], {}, { 'dpdk-init': 'true' }) })
  matchWhole(t, findingsOf(seen, healthOf(seen, settings)), [{ type: 'DpdkNotInitialised' }])
})

t.test('OV-3, OV-4 the status: nothing invented, counters exact', async t => {
  const big = 2n ** 60n + 1n
  const seen = observed({
    tables: tables([
      bond([
        { name: 'a', ...current },
        { name: 'b', ...current }
      ])
    ]),
    statistics: new Map([
      ['a', new Map([['rx_bytes', big]])],
      ['tap', new Map([['rx_bytes', 5n]])]
    ])
  })
  const status = statusOf(seen, healthOf(seen, { expectedBridges: [] }), new Map(), about)
  t.equal(status.metrics?.bytesReceived, big)
  t.equal(status.flowStats, undefined)
  t.equal(status.bridges?.[0]?.flows, undefined)
  t.equal(status.observedAt, undefined)
  const lost = statusOf(observed({ ovsdb: 'lost' }), undefined, new Map(), about)
  t.equal(lost.bridges, undefined)
  const frozen = { ...seen, vswitchd: 'not-responding' as const }
  const old = statusOf(frozen, healthOf(frozen, { expectedBridges: [] }), new Map(), about)
  t.equal(old.metrics, undefined, 'a frozen vswitchd counts nothing: its last counters are old')
  t.strictSame(
    old.interfaces?.physical?.[0],
    { name: 'a', status: 'Unknown', bond: 'bond0' },
    'nor is its last word on a link kept'
  )
})
