// Bonds as pure functions of rows (spec/ovs.md §5). DPDK and kernel bonds are exercised by such fixtures only, not live: this kernel has
// neither.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { bondsOf } from '../../../agents/ovs/bonds.ts'
import { findingsOf, healthOf } from '../../../agents/ovs/findings.ts'
import { modelOf } from '../../../agents/ovs/model.ts'
import type { Observed } from '../../../agents/ovs/observed.ts'
import { statusOf } from '../../../agents/ovs/to-status.ts'
import { readBonding } from '../../../agents/ovs/wire/bonding.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { type GivenBridge, type GivenPort, observed, tables, about, bond, current, mac, settings } from './tables.ts'

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
