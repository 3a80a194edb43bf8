// The host: its signals, who is disabled and enabled again, when it is emptied; and faults that many have at once (HA-15, HA-16).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { correlate, type Verdict } from '../../../functions/ha/correlate.ts'
import type { FleetHost } from '../../../functions/ha/fleet.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import { explanationOf, inWords } from '../../../functions/ha/explain.ts'
import { withTables } from '../../../functions/ha/tables.ts'
import { storageOf } from '../../../functions/ha/storage.ts'
import * as libvirt from '../../../shared/events/libvirt.ts'
import type { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { condition } from '../host-life/fixtures.ts'
import { calls, drover, evidence, iso, serverId, startMs, world, type World } from './fixtures.ts'

const s = 1000
const at = iso(startMs)

const ovs = (...issues: Array<[type: string, object: string]>): OVSNode => {
  const node: unknown = {
    metadata: { name: 'host-1' },
    spec: { nodeRef: { name: 'host-1' } },
    status: {
      conditions: [condition('Ready', issues.length > 0 ? 'False' : 'True', issues.length > 0 ? 'Bad' : 'AllHealthy')],
      issues: issues.map(([type, object]) => ({
        id: `${type}/${object}`,
        severity: 'Critical',
        type,
        object,
        message: `${type}.`,
        detectedAt: at
      }))
    }
  }
  return node as OVSNode
}

const disabled = (reason: string) => ({ status: 'disabled' as const, disabledReason: reason })
const carriedOut = (it: World): World => {
  const last = it.steps.at(-1)?.calls ?? []
  for (const call of last) {
    if (call.do === 'disable') it.service = { ...it.service!, ...disabled(call.reason) }
    if (call.do === 'enable') it.service = { ...it.service!, status: 'enabled', disabledReason: null }
  }
  return it
}
/** looks every second, and what is asked of Nova is done */
const run = (it: World, seconds: number): World => {
  for (const endMs = it.nowMs + seconds * s; it.nowMs <= endMs; it.nowMs += s) {
    it.look()
    carriedOut(it)
  }
  return it
}
const first = (it: World, what: string): number | undefined => {
  const index = it.steps.findIndex(({ calls }) => calls.some(call => call.do === what))
  return index < 0 ? undefined : index
}

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
    it.eviction = undefined
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
  t.same(calls(foreign), [])
  const ours = 'drover: maintenance=manual: fans (drover-maintenance)'
  const other = world()
  other.service = { ...other.service!, ...disabled(ours) }
  t.same(calls(run(other, 30)), [], 'what another function of Drover disabled is its own')
  const serviced = world()
  serviced.ovsNode = ovs(['BondDown', 'bond0'])
  run(serviced, 2)
  serviced.hypervisor = { ...serviced.hypervisor, spec: { ...serviced.hypervisor.spec, maintenance: 'manual' } }
  serviced.ovsNode = ovs()
  t.equal(first(run(serviced, 30), 'enable'), undefined)
  serviced.hypervisor = { ...serviced.hypervisor, spec: { ...serviced.hypervisor.spec, maintenance: '' } }
  t.not(first(run(serviced, 30), 'enable'), undefined, 'and when that is over')
})

t.test('a drain is asked for once, after new servers are kept away, and called off when healed', async t => {
  const it = world({}, parsePolicy('network: { migrationBonds: [bond1] }'))
  it.ovsNode = ovs(['BondDown', 'bond0'])
  run(it, 5)
  t.ok(first(it, 'disable')! < first(it, 'drain')!)
  t.equal(calls(it).filter(call => call === 'drain').length, 1)
  const { name } = it.ha.evictionRef!
  t.match(name, /^host-1-ha-[0-9a-f]{8}$/)
  it.ovsNode = ovs()
  it.eviction = {
    metadata: { name: name! },
    spec: { hypervisor: 'host-1', reason: 'ha' },
    status: { startedAt: at }
  } as World['eviction']
  it.look()
  t.match(it.steps.at(-1)?.calls, [{ do: 'stop-drain', over: false }])
  it.eviction = { ...it.eviction!, spec: { ...it.eviction!.spec, cancel: 'Finish' } }
  t.equal(first(run(it, 20), 'enable'), undefined, 'running moves end first')
  it.eviction = { ...it.eviction, status: { ...it.eviction.status!, verdict: 'Cancelled' } }
  run(it, 1)
  it.eviction = undefined
  run(it, 15)
  t.not(first(it, 'enable'), undefined)
})

t.test('modes: observed and external change nothing; off undoes what was done', async t => {
  for (const policy of ['signals: observe', 'mode: external', 'mode: off', 'signals: off']) {
    const it = world({}, parsePolicy(policy))
    it.ovsNode = ovs(['BondDown', 'bond0'])
    run(it, 3)
    t.same(calls(it), [], policy)
    t.ok(it.ha.signals, 'it is recorded')
    if (policy === 'signals: observe') t.match(it.ha.history, [{ state: 'WouldDisable' }])
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
  t.match(it.ha.signals, [{ kind: 'LibvirtLost', effect: 'disable' }])
  it.hypervisor.status!.conditions = well
  t.not(first(run(it, 15), 'enable'), undefined)
  t.same(calls(it), ['disable', 'enable'])
})

t.test('a silent agent and a node that is not ready are alerts; pressure takes no new servers', async t => {
  const silent = world({ agent: { bootId: 'boot-1', lastHeartbeat: iso(startMs - 91 * s) } })
  t.same(calls(run(silent, 5)), [])
  t.match(silent.ha.signals, [{ kind: 'AgentSilent' }])
  const sick = world()
  sick.node = { ready: false, since: at, pressure: undefined }
  t.same(calls(run(sick, 5)), [])
  t.match(sick.ha.signals, [{ kind: 'NodeNotReady', effect: 'alert' }])
  const pressed = world()
  pressed.node = { ready: true, since: at, pressure: { type: 'DiskPressure', since: at } }
  t.same(calls(run(pressed, 5)), ['disable'])
})

t.test('memory of the host: counted, and enough is enough', async t => {
  const { memoryFailed } = libvirt
  const failing = (it: World, action: string, atMs = it.nowMs): World =>
    it.tell(memoryFailed, { recipient: 'hypervisor', action }, atMs)
  const it = failing(failing(world(), 'ignore'), 'ignore', startMs + s)
  run(it, 3)
  t.match(it.ha.signals, [{ kind: 'MemoryFailing', count: 2, effect: 'alert' }])
  failing(it, 'ignore', startMs + s)
  run(it, 2)
  t.same(calls(it), [], 'delivered twice it is one')
  failing(it, 'ignore', startMs + 3 * s)
  run(it, 3)
  t.same(calls(it), ['disable', 'drain'])
  t.same(calls(run(failing(world(), 'fatal'), 3)), ['disable', 'drain'], 'a fatal one is enough')
  const apart = failing(world(), 'ignore')
  for (const hour of [1, 2, 3]) {
    run(apart, 1)
    apart.nowMs = startMs + hour * 3_700_000
    failing(apart, 'ignore')
  }
  t.same(calls(run(apart, 2)), [], 'an hour apart they are none')
})

const fault = (kind: string, n: number, ageSeconds = 0, storage?: string) => ({
  server: serverId(n),
  kind,
  atMs: startMs - ageSeconds * s,
  storage
})
const hostWith = (name: string, domains: number, faults: FleetHost['faults']): FleetHost => ({
  name,
  domains,
  faults,
  signals: []
})
const many = (kind: string, count: number, storage?: string) =>
  Array.from({ length: count }, (_, n) => fault(kind, n, 0, storage))

const together: Array<[name: string, self: FleetHost, fleet: FleetHost[], verdict: Verdict]> = [
  ['two of ten', hostWith('a', 10, many('crashed', 2)), [], 'single'],
  ['three of ten, others quiet', hostWith('a', 10, many('crashed', 3)), [hostWith('b', 10, many('crashed', 2))], 'host'],
  ['three of a hundred', hostWith('a', 100, many('crashed', 3)), [], 'single'],
  ['ten of a hundred', hostWith('a', 100, many('crashed', 10)), [], 'host'],
  ['an old one does not count', hostWith('a', 10, [...many('crashed', 2), fault('crashed', 9, 61)]), [], 'single'],
  ['on two hosts', hostWith('a', 10, many('crashed', 3)), [hostWith('b', 10, many('crashed', 3))], 'several'],
  [
    'on four hosts',
    hostWith('a', 10, many('crashed', 3)),
    ['b', 'c', 'd'].map(name => hostWith(name, 10, many('crashed', 3))),
    'fleet'
  ],
  [
    'another class elsewhere',
    hostWith('a', 10, many('crashed', 3)),
    ['b', 'c', 'd'].map(name => hostWith(name, 10, many('watchdog', 3))),
    'host'
  ],
  ['the guests stopped themselves', hostWith('a', 10, many('stoppedByGuest', 10)), [], 'single'],
  ['HA-16: disks of one host', hostWith('a', 100, many('disk', 3, 'rbd:vms')), [hostWith('b', 10, [])], 'host-storage'],
  [
    'T-25: the same storage elsewhere',
    hostWith('a', 100, many('disk', 3, 'rbd:vms')),
    [hostWith('b', 10, many('disk', 1, 'rbd:vms'))],
    'storage'
  ],
  [
    'other storage elsewhere',
    hostWith('a', 100, many('disk', 3, 'rbd:vms')),
    [hostWith('b', 10, many('disk', 1, 'rbd:other'))],
    'host-storage'
  ],
  ['nobody knows which storage', hostWith('a', 100, many('disk', 3, '')), [hostWith('b', 10, many('disk', 1, ''))], 'storage'],
  ['its own disks', hostWith('a', 100, many('disk', 3, 'local')), [hostWith('b', 10, many('disk', 1, 'local'))], 'host-storage']
]
for (const [name, self, fleet, verdict] of together) {
  t.test(`HA-15, HA-16: ${name}`, async t => {
    const kind = self.faults[0]!.kind
    const found = correlate(self, [self, ...fleet], drover, startMs).find(one => one.kind === kind)
    t.equal(found?.verdict ?? 'single', verdict, found?.words ?? 'not correlated')
  })
}

t.test('where a disk is', async t => {
  const paths = {
    'rbd:vms/one': 'rbd:vms',
    'nfs://filer/x': 'nfs:filer',
    '/var/lib/nova/mnt/4f2e/volume-1': 'mount:/var/lib/nova/mnt/4f2e',
    '/dev/dm-3': 'device',
    '/var/lib/nova/instances/1/disk': 'local',
    '': ''
  }
  for (const [path, storage] of Object.entries(paths)) t.equal(storageOf(path), storage, path)
})

const crowd = (count: number, policy = drover): World => {
  const since = iso(startMs - 3600 * s)
  const instances = Array.from({ length: 10 }, (_, n) => ({
    id: serverId(n),
    name: `i${n}`,
    active: n >= count,
    state: n < count ? 'off' : 'running',
    since: n < count ? at : since
  }))
  const it = world({ instances, numInstances: 10 }, policy)
  for (let n = 0; n < count; n++) {
    it.evidence.set(serverId(n), evidence({ id: serverId(n) }))
    it.tell(libvirt.domainCrashed, { server: serverId(n), event: 'stopped', detail: 'failed' })
  }
  return it
}

t.test('HA-15: a suspected host is disabled, its ladders wait, and go on when it has been calm', async t => {
  const it = run(crowd(4), 30)
  t.match(it.ha.signals, [{ kind: 'HostSuspect', object: 'crashed', count: 4, effect: 'disable' }])
  t.same(calls(it), ['disable'])
  t.same([...new Set(it.ha.incidents?.map(({ state }) => state))], ['Paused'])
  run(it, 640)
  t.equal(calls(it).filter(call => call.startsWith('restart')).length, 4, 'each once')
  const drained = run(crowd(4, parsePolicy('mode: drover\ncorrelation: { drain: true }')), 10)
  t.same(calls(drained), ['disable', 'drain'])
})

t.test('HA-15: the fleet: alert only, nobody is restarted and no host disabled', async t => {
  const it = crowd(4)
  it.fleet = ['b', 'c', 'd', 'e'].map(name => hostWith(name, 10, many('crashed', 4)))
  run(it, 20)
  t.match(it.ha.signals, [{ kind: 'FleetFault' }])
  t.same(calls(it), [])
  t.same([...new Set(it.ha.history?.map(({ state }) => state))], ['FleetFault'])
  run(it, 700)
  t.same(calls(it), [])
})

t.test('T-25, HA-16: I/O errors of one host empty it, a storage outage does not', async t => {
  for (const outage of [false, true]) {
    const it = world()
    for (let n = 0; n < 3; n++)
      it.tell(libvirt.diskFailed, { server: serverId(n), device: 'vda', path: 'rbd:vms/x', action: 'report', reason: 'eio' })
    if (outage) it.fleet = [hostWith('b', 10, many('disk', 1, 'rbd:vms'))]
    run(it, 10)
    t.same(calls(it), outage ? [] : ['disable', 'drain'])
    t.match(it.ha.signals, [{ kind: outage ? 'StorageOutage' : 'StorageSuspect' }])
  }
})

t.test('explain: the same words for people', async t => {
  const it = run(crowd(4), 8)
  const { hypervisor, ovsNode, node, evidence, outage, service, eviction, fleet, policy, observed } = it
  const explanation = explanationOf(
    { nova: true, hypervisor, ovsNode, node, heard: [], evidence, outage, service, eviction, fleet, policy, observed },
    it.nowMs
  )
  t.match(explanation, { host: 'host-1', state: 'Unschedulable', modes: { vm: 'drover', signals: 'drover' } })
  const words = inWords(explanation)
  t.match(words, /HostSuspect crashed since .* \(disable\): 4 of 10 servers crashed within 60 s/)
  t.match(words, /Paused: crashed \(stopped\/failed at/)
  t.match(words, /because HostSuspect crashed/)
})

t.test('the README has the tables of the code', async t => {
  const file = join(import.meta.dirname, '..', '..', '..', 'functions', 'ha', 'README.md')
  const text = await readFile(file, 'utf8')
  const wanted = withTables(text)
  if (text !== wanted && process.env['WRITE_TABLES']) await writeFile(file, wanted)
  t.equal(text, wanted, 'WRITE_TABLES=1 writes them')
})
