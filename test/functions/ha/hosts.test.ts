// The host: its signals, who is disabled and enabled again.
import t from 'tap'
import type { FleetHost } from '../../../functions/ha/fleet.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import * as libvirt from '../../../shared/events/libvirt.ts'
import { condition } from '../host-life/fixtures.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { calls, iso, startMs, world, type World } from './fixtures.ts'
import { at, disabled, first, ovs, run, s } from './host-fixtures.ts'

const network: Array<
  [
    name: string,
    issues: Array<[string, string]>,
    policy: string,
    disabledAfter: number | undefined,
    drained: boolean,
    kind: string
  ]
> = [
  ['bond member: a warning, no more', [['BondMemberDown', 'eth1']], '', undefined, false, 'NetworkDegraded'],
  ['LACP partner silent', [['LacpNotCurrent', 'eth1']], '', undefined, false, 'NetworkDegraded'],
  ['tenant bond: at once', [['BondDown', 'bond0']], '', 0, false, 'BondLost'],
  [
    'tenant bond, migration goes elsewhere: drained',
    [['BondDown', 'bond0']],
    'network: { migrationBonds: [bond1] }',
    0,
    true,
    'BondLost'
  ],
  [
    'tenant bond, and that of migration: alert',
    [
      ['BondDown', 'bond0'],
      ['BondDown', 'bond1']
    ],
    'network: { migrationBonds: [bond1] }',
    0,
    false,
    'BondLost'
  ],
  ['drain switched off', [['BondDown', 'bond0']], 'network: { migrationBonds: [bond1], bondDrain: false }', 0, false, 'BondLost'],
  ['management bond: not for this', [['BondDown', 'mgmt']], 'network: { managementBonds: [mgmt] }', undefined, false, 'BondLost'],
  ['bridge: after 30 s', [['BridgeMissing', 'br-int']], '', 30, false, 'BridgeLost'],
  ['bridge, drained by policy', [['BridgeMissing', 'br-int']], 'network: { bridgeDrain: true }', 30, true, 'BridgeLost'],
  ['switch daemon: after 30 s', [['VswitchdLost', 'ovs-vswitchd']], '', 30, false, 'VswitchdLost'],
  ['switch database: after 30 s', [['OvsdbLost', 'ovsdb']], '', 30, false, 'OvsdbLost'],
  ['OVN cut off: after 60 s, never drained', [['OvnControllerDisconnected', 'ovn-controller']], '', 60, false, 'OvnDisconnected'],
  ['flows wiped: alert', [['FlowsWiped', 'br-int']], '', undefined, false, 'FlowsOutdated'],
  ['link flaps: alert', [['LinkFlapping', 'eth0']], '', undefined, false, 'LinkFlapping']
]
for (const [name, issues, policy, after, drained, kind] of network) {
  t.test(`network: ${name}`, async t => {
    const it = world({}, parsePolicy(policy))
    it.ovsNode = ovs(...issues)
    run(it, 70)
    t.ok(
      it.ha.signals?.some(signal => signal.kind === kind),
      'it is told'
    )
    t.equal(first(it, 'disable'), after)
    t.equal(first(it, 'drain') !== undefined, drained)
    t.equal(calls(it).filter(call => call === 'disable').length, after === undefined ? 0 : 1, 'once')
    it.ovsNode = ovs()
    run(it, 15)
    t.equal(first(it, 'enable') !== undefined, after !== undefined, 'healed, and the drain is gone: enabled again')
    t.notOk(it.ha.signals)
  })
}

t.test('HV-32: never somebody else’s disable, and never into somebody’s maintenance', async t => {
  const foreign = world()
  foreign.service = { ...foreign.service!, ...disabled('new disks, jane') }
  foreign.ovsNode = ovs(['BondDown', 'bond0'])
  run(foreign, 3)
  foreign.ovsNode = ovs()
  run(foreign, 30)
  t.strictSame(calls(foreign), [])
  const ours = 'drover: maintenance=manual: fans (drover-maintenance)'
  const other = world()
  other.service = { ...other.service!, ...disabled(ours) }
  t.strictSame(calls(run(other, 30)), [], 'what another function of Drover disabled is its own')
  const serviced = world()
  serviced.ovsNode = ovs(['BondDown', 'bond0'])
  run(serviced, 2)
  serviced.hypervisor = { ...serviced.hypervisor, spec: { ...serviced.hypervisor.spec, maintenance: 'manual' } }
  serviced.ovsNode = ovs()
  t.equal(first(run(serviced, 30), 'enable'), undefined)
  serviced.hypervisor = { ...serviced.hypervisor, spec: { ...serviced.hypervisor.spec, maintenance: '' } }
  t.not(first(run(serviced, 30), 'enable'), undefined, 'and when that is over')
})

t.test('modes: observed and external change nothing; off undoes what was done', async t => {
  for (const policy of ['signals: observe', 'mode: external', 'mode: off', 'signals: off']) {
    const it = world({}, parsePolicy(policy))
    it.ovsNode = ovs(['BondDown', 'bond0'])
    run(it, 3)
    t.strictSame(calls(it), [], policy)
    t.ok(it.ha.signals, 'it is recorded')
    if (policy === 'signals: observe') matchWhole(t, it.ha.history, [{ state: 'WouldDisable' }])
  }
  const it = world()
  it.ovsNode = ovs(['BondDown', 'bond0'])
  run(it, 2)
  it.policy = parsePolicy('mode: off')
  t.not(first(run(it, 2), 'enable'), undefined)
})

t.test('OVN on more than a fifth of the hosts is the control plane: alert only', async t => {
  const other = (name: string, cut: boolean): FleetHost => ({
    name,
    domains: 1,
    faults: [],
    signals: cut ? ['OvnDisconnected'] : []
  })
  const fleets: Array<[cut: number, total: number, acts: boolean]> = [
    [1, 3, true],
    [2, 10, true],
    [3, 10, false],
    [2, 3, false]
  ]
  for (const [cut, total, acts] of fleets) {
    const it = world()
    it.ovsNode = ovs(['OvnControllerDisconnected', 'ovn'])
    it.fleet = Array.from({ length: total }, (_, n) => other(n === 0 ? 'host-1' : `host-${n + 1}`, n < cut))
    t.equal(first(run(it, 65), 'disable') !== undefined, acts, `${cut} of ${total}`)
  }
})

t.test('T-26: libvirt is away: after a minute no new servers, nothing else, and back again', async t => {
  const it = world()
  const well = it.hypervisor.status!.conditions!
  const lost = { ...condition('LibVirtConnection', 'False', 'ConnectFailed'), lastTransitionTime: at }
  it.hypervisor.status!.conditions = [well[0]!, lost]
  run(it, 62)
  t.equal(first(it, 'disable'), 60)
  matchWhole(t, it.ha.signals, [{ kind: 'LibvirtLost', effect: 'disable' }])
  it.hypervisor.status!.conditions = well
  t.not(first(run(it, 15), 'enable'), undefined)
  t.strictSame(calls(it), ['disable', 'enable'])
})

t.test('a silent agent and a node that is not ready are alerts; pressure takes no new servers', async t => {
  const silent = world({ agent: { bootId: 'boot-1', lastHeartbeat: iso(startMs - 91 * s) } })
  t.strictSame(calls(run(silent, 5)), [])
  matchWhole(t, silent.ha.signals, [{ kind: 'AgentSilent' }])
  const sick = world()
  sick.node = { ready: false, since: at, pressure: undefined }
  t.strictSame(calls(run(sick, 5)), [])
  matchWhole(t, sick.ha.signals, [{ kind: 'NodeNotReady', effect: 'alert' }])
  const pressed = world()
  pressed.node = { ready: true, since: at, pressure: { type: 'DiskPressure', since: at } }
  t.strictSame(calls(run(pressed, 5)), ['disable'])
  const timeless = world()
  timeless.node = { ready: false, since: undefined, pressure: { type: 'MemoryPressure', since: '' } }
  run(timeless, 5)
  matchWhole(t, timeless.ha.signals, [
    { kind: 'NodeNotReady', since: at },
    { kind: 'NodePressure', since: at, effect: 'disable' }
  ])
})

t.test('memory of the host: after a boot it begins anew, and the host is taken back into service', async t => {
  const it = world()
  const agent = (uptimeSeconds: number): void => {
    const beat = { bootId: 'boot-1', uptimeSeconds, lastHeartbeat: iso(it.nowMs) }
    it.hypervisor = { ...it.hypervisor, status: { numInstances: 0, ...it.hypervisor.status, agent: beat } }
  }
  agent(86_400)
  it.tell(libvirt.memoryFailed, { recipient: 'hypervisor', action: 'fatal' })
  run(it, 2)
  t.ok(calls(it).includes('disable'))
  it.nowMs += 7200 * s
  agent(86_400 + 7200)
  run(it, 2)
  matchWhole(t, it.ha.signals, [{ kind: 'MemoryFailing', effect: 'drain' }], 'a module does not heal by itself')
  agent(60)
  run(it, 30)
  t.notOk(it.ha.signals)
  t.ok(calls(it).includes('enable'))
})

t.test('memory of the host: counted, and enough is enough', async t => {
  const { memoryFailed } = libvirt
  const failing = (it: World, action: string, atMs = it.nowMs): World =>
    it.tell(memoryFailed, { recipient: 'hypervisor', action }, atMs)
  const it = failing(failing(world(), 'ignore'), 'ignore', startMs + s)
  run(it, 3)
  matchWhole(t, it.ha.signals, [{ kind: 'MemoryFailing', count: 2, effect: 'alert' }])
  failing(it, 'ignore', startMs + s)
  run(it, 2)
  t.strictSame(calls(it), [], 'delivered twice it is one')
  failing(it, 'ignore', startMs + 3 * s)
  run(it, 3)
  t.strictSame(calls(it), ['disable', 'drain'])
  t.strictSame(calls(run(failing(world(), 'fatal'), 3)), ['disable', 'drain'], 'a fatal one is enough')
  const guests = world()
  for (const second of [0, 1, 2])
    guests.tell(memoryFailed, { recipient: 'guest', action: second > 1 ? 'ignore' : 'inject' }, startMs + second * s)
  t.strictSame(calls(run(guests, 3)), ['disable', 'drain'], 'a page that a guest lost is a page of the host')
  const apart = failing(world(), 'ignore')
  for (const hour of [1, 2, 3]) {
    run(apart, 1)
    apart.nowMs = startMs + hour * 3_700_000
    failing(apart, 'ignore')
  }
  t.strictSame(calls(run(apart, 2)), [], 'an hour apart they are none')
})
