// OV-33…37: a bond of the switch, of the kernel and of nobody, whole, and each limit on both of its sides.
import t from 'tap'
import { type Bond, bondsOf } from '../../../agents/ovs/bonds.ts'
import { modelOf } from '../../../agents/ovs/model.ts'
import type { Expected } from '../../../agents/ovs/observed.ts'
import type { KernelBond, KernelMember } from '../../../agents/ovs/wire/bonding.ts'
import { type GivenInterface, type GivenPort, tables } from './tables.ts'

const mac = '02:00:00:00:00:01'
const none = '00:00:00:00:00:00'
const bonds = (ports: GivenPort[], kernel?: ReadonlyMap<string, KernelBond | undefined>, expected: Expected['bonds'] = []) =>
  bondsOf(modelOf(tables([{ name: 'br-ex', ports }])), kernel, { bonds: expected })
const pair: GivenInterface[] = [{ name: 'a' }, { name: 'b' }]
const current = pair.map(one => ({ ...one, lacp_current: true }))

t.test('OV-33: a bond of the switch, whole', async t => {
  const interfaces = [
    { name: 'a', lacp_current: true, mac_in_use: '02:00:00:00:00:0a' },
    { name: 'b', lacp_current: true, mac_in_use: mac }
  ]
  const given = { name: 'bond0', bond_mode: 'balance-tcp', lacp: 'passive', bond_active_slave: mac, interfaces }
  const wanted: Bond = {
    name: 'bond0',
    bridge: 'br-ex',
    kind: 'ovs',
    mode: 'balance-tcp',
    lacp: 'passive',
    lacpTime: 'slow',
    status: 'Active',
    members: [
      { name: 'a', usable: true },
      { name: 'b', usable: true }
    ],
    expectedMembers: 2,
    activeMembers: 2,
    activeMember: 'b'
  }
  t.strictSame(bonds([given]), [wanted])
  t.strictSame(bonds([{ ...given, config: { 'lacp-time': 'fast' } }]), [{ ...wanted, lacpTime: 'fast' }])
  t.strictSame(bonds([{ ...given, lacp: 'active' }]), [{ ...wanted, lacp: 'active' }])
  t.strictSame(bonds([{ ...given, lacp: undefined, bond_mode: undefined }]), [
    { ...wanted, lacp: 'off', lacpTime: undefined, mode: 'active-backup' }
  ])
  t.strictSame(bonds([{ name: 'eth0' }]), [], 'one interface that nobody expects to be a bond is none')
})

type Row = [name: string, port: Partial<GivenPort>, expected: number | undefined, status: Bond['status'], active: number]
const fallback = { 'lacp-fallback-ab': 'true' }
const three = [...current, { name: 'c' }]
const states: Row[] = [
  ['the fallback of a passive partner', { lacp: 'passive', config: fallback, bond_active_slave: mac }, undefined, 'Degraded', 1],
  ['a fallback where one member is expected', { config: fallback, bond_active_slave: mac }, 1, 'Degraded', 1],
  ['a fallback that is not set', { config: { 'lacp-fallback-ab': 'false' }, bond_active_slave: mac }, undefined, 'Down', 0],
  ['no fallback without an active member', { config: fallback, bond_active_slave: none }, undefined, 'Down', 0],
  ['nor when none is named', { config: fallback }, undefined, 'Down', 0],
  [
    'a partner that answers needs no fallback',
    { config: fallback, bond_active_slave: mac, interfaces: three },
    undefined,
    'Degraded',
    2
  ],
  [
    'without LACP nothing falls back',
    { lacp: 'off', config: fallback, bond_active_slave: mac, interfaces: pair.map(one => ({ ...one, link_state: 'down' })) },
    undefined,
    'Down',
    0
  ],
  ['the active member is not said: no sign of a fault', { interfaces: current }, undefined, 'Active', 2],
  ['no active member', { interfaces: current, bond_active_slave: none }, undefined, 'Down', 0],
  ['fewer expected than there are', { interfaces: three }, 2, 'Active', 2],
  ['as many expected as are usable', { interfaces: current }, 2, 'Active', 2],
  ['one more expected', { interfaces: current }, 3, 'Degraded', 2]
]
for (const [name, port, members, status, active] of states) {
  t.test(`OV-34: ${name}`, async t => {
    const expected = members === undefined ? [] : [{ name: 'bond0', members }]
    const [found] = bonds([{ name: 'bond0', lacp: 'active', interfaces: pair, ...port }], undefined, expected)
    t.strictSame([found?.status, found?.activeMembers], [status, active])
    t.equal(found?.expectedMembers, members ?? port.interfaces?.length ?? 2)
    t.equal(found?.activeMember, undefined, 'no interface has its address')
  })
}

t.test('OV-34: an address of zeroes names no member', async t => {
  const interfaces = ['a', 'b'].map(name => ({ name, lacp_current: true, mac_in_use: none }))
  t.equal(bonds([{ name: 'bond0', bond_active_slave: none, interfaces }])[0]?.activeMember, undefined)
})

const members: Array<[row: Partial<GivenInterface>, reason: string | undefined]> = [
  [{ lacp_current: true }, undefined],
  [{}, 'LacpNotCurrent'],
  [{ lacp_current: true, link_state: 'down' }, 'LinkDown'],
  [{ lacp_current: true, admin_state: 'down' }, 'AdminDown'],
  [{ lacp_current: true, link_state: undefined, ofport: undefined }, 'LinkDown'],
  [{ lacp_current: true, link_state: undefined }, 'Missing'],
  [{ lacp_current: true, error: 'could not open' }, 'Missing']
]
t.test('OV-33, OV-35: why a member is not usable', async t => {
  for (const [row, reason] of members) {
    const [found] = bonds([{ name: 'bond0', lacp: 'active', interfaces: [{ name: 'a', ...row }, { name: 'b' }] }])
    t.strictSame(
      found?.members[0],
      reason === undefined ? { name: 'a', usable: true } : { name: 'a', usable: false, reason },
      JSON.stringify(row)
    )
  }
})

const partner = { name: 'a', up: true, aggregator: '1', partnerMac: mac }
const lacp = (...given: KernelMember[]): KernelBond => ({ mode: '802.3ad', activeAggregator: '1', members: given })
const kernelMembers: Array<[member: KernelMember, reason: string | undefined]> = [
  [partner, undefined],
  [{ ...partner, up: false }, 'LinkDown'],
  [{ ...partner, partnerMac: none }, 'LacpNotCurrent'],
  [{ name: 'a', up: true, aggregator: '1' }, 'LacpNotCurrent'],
  [{ ...partner, aggregator: '2' }, 'NotInAggregator']
]
t.test('OV-37: members of a kernel bond', async t => {
  for (const [member, reason] of kernelMembers) {
    const [found] = bonds([{ name: 'bond0' }], new Map([['bond0', lacp(member, { ...partner, name: 'b' })]]))
    t.strictSame(found?.members, [
      reason === undefined ? { name: 'a', usable: true } : { name: 'a', usable: false, reason },
      { name: 'b', usable: true }
    ])
    t.equal(found?.status, reason === undefined ? 'Active' : 'Degraded')
  }
  const apart = { mode: 'active-backup', activeMember: 'b', members: [{ name: 'a', up: true }] } as const
  const wanted: Bond = {
    name: 'bond0',
    bridge: 'br-ex',
    kind: 'kernel',
    mode: 'active-backup',
    lacp: 'off',
    lacpTime: undefined,
    status: 'Active',
    members: [{ name: 'a', usable: true }],
    expectedMembers: 1,
    activeMembers: 1,
    activeMember: 'b'
  }
  t.strictSame(bonds([{ name: 'bond0' }], new Map([['bond0', apart]])), [wanted], 'without LACP a partner says nothing')
  t.strictSame(
    bonds([{ name: 'bond0' }], new Map([['bond0', undefined]])),
    [
      {
        ...wanted,
        mode: undefined,
        lacp: undefined,
        status: 'Unknown',
        members: [],
        expectedMembers: 0,
        activeMembers: 0,
        activeMember: undefined
      }
    ],
    'a file that cannot be read'
  )
  const down = { ...apart, members: [{ name: 'a', up: false }] }
  t.equal(bonds([{ name: 'bond0' }], new Map([['bond0', down]]))[0]?.status, 'Down')
})

t.test('which kernel bonds count: those in the switch, and those that are expected', async t => {
  const kernel = new Map([
    ['bond1', lacp(partner)],
    ['bond0', lacp(partner)],
    ['storage', lacp(partner)]
  ])
  const names = (expected: Expected['bonds'], ports: GivenPort[] = [{ name: 'bond0' }]) =>
    bonds(ports, kernel, expected).map(({ name, kind, bridge }) => `${kind} ${name} in ${bridge}`)
  t.strictSame(names([]), ['kernel bond0 in br-ex'])
  t.strictSame(names([{ name: 'bond1' }]), ['kernel bond0 in br-ex', 'kernel bond1 in undefined'])
  const both = [{ name: 'bond9', interfaces: pair }, { name: 'bond1' }]
  t.strictSame(names([], both), ['kernel bond1 in br-ex', 'ovs bond9 in br-ex'], 'by name, whoever made them')
})

t.test('what is expected and nowhere is down, whole', async t => {
  const wanted: Bond = {
    name: 'bond0',
    bridge: undefined,
    kind: undefined,
    mode: undefined,
    lacp: undefined,
    lacpTime: undefined,
    status: 'Down',
    members: [],
    expectedMembers: 2,
    activeMembers: 0,
    activeMember: undefined
  }
  t.strictSame(bonds([], new Map(), [{ name: 'bond0', members: 2 }]), [wanted])
  t.strictSame(bonds([], new Map(), [{ name: 'bond0' }]), [{ ...wanted, expectedMembers: 0 }])
  t.strictSame(bonds([], undefined, [{ name: 'bond0' }]), [], 'not before the kernel was asked')
  const card = { name: 'bond0', interfaces: [{ name: 'bond0', status: { driver_name: 'bonding' } }] }
  t.strictSame(bonds([card], new Map(), [{ name: 'bond0' }]), [], 'it is in the switch: only its file is not there yet')
  const shrunk = { name: 'bond0', interfaces: [{ name: 'a' }] }
  t.equal(bonds([shrunk], new Map(), [{ name: 'bond0' }])[0]?.kind, 'ovs')
  t.equal(bonds([{ name: 'bond0', interfaces: [] }], new Map(), [{ name: 'bond0' }])[0]?.kind, undefined)
})
