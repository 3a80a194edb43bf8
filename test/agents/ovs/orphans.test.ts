// Ports that nobody needs any more, as pure functions of rows (spec/ovs.md §5).
import t from 'tap'
import { modelOf } from '../../../agents/ovs/model.ts'
import type { Observed } from '../../../agents/ovs/observed.ts'
import { orphansOf } from '../../../agents/ovs/orphans.ts'
import { type GivenInterface, observed, tables } from './tables.ts'

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
