// spec/machine.md §5, §7: what is made, changed and removed for a Machine, and what stands in the way. Pure.
import t from 'tap'
import { decide } from '../../../functions/machine/decide.ts'
import { finalizer } from '../../../functions/machine/names.ts'
import { renderAttachment } from '../../../functions/machine/render-network.ts'
import type { Seen } from '../../../functions/machine/seen.ts'
import { confirmRemoval } from '../../../shared/rules/machine-update-rules.ts'
import type { ObjectMeta } from '../../../shared/schema/kind.ts'
import { actionsOf, claim, clusterOptions, foreign, ofVolume, ours, problemsOf, seen, volume } from './decide-rows.ts'
import { vm, type Spec } from './fixtures.ts'

const small: Spec = { template: 'small' }
const http = { http: { url: 'https://example.com/a.qcow2' } }
const filled: Spec = { ...small, disks: [{ name: 'data', size: '10Gi', source: http }] }
const userData: Spec = { ...small, cloudInit: { userData: '#cloud-config' } }
const nic = (networkName: string, name = networkName) => ({ name, networkName })
const bridged: Spec = { ...small, networks: [nic('prod')] }
const attachment = renderAttachment('default', { bridge: 'br0', vlan: 2101 }, '1.0.0')
const root = (size: string, phase?: string) => claim(ours('m-root'), size, phase)
const mine = { ...vm('Running'), metadata: { ...ours('m'), resourceVersion: '7' } }
const secret = { metadata: ours('m-cloudinit') }
const confirmed: Partial<ObjectMeta> = { annotations: { [confirmRemoval]: 'old' } }
const withRoot = (...claims: Seen['claims']) => [root('20Gi'), ...claims]

const rows: Array<[name: string, seen: Seen, actions: string[]]> = [
  ['F1: the finalizer before any child', seen(small, {}, { finalizers: [] }), ['hold', 'claim m-root', 'keep-vm m']],
  ['F1: no finalizer at all', seen(small, {}, { finalizers: undefined as never }), ['hold', 'claim m-root', 'keep-vm m']],
  ['F1: that of another', seen(small, {}, { finalizers: ['other'] }), ['hold', 'claim m-root', 'keep-vm m']],
  ['F1: beside that of another', seen(small, {}, { finalizers: ['other', finalizer] }), ['claim m-root', 'keep-vm m']],
  ['S4: the VM does not wait for bound claims', seen(small, { claims: [root('20Gi', 'Pending')] }), ['keep-vm m']],
  ['S7: a disk with a source', seen(filled), ['claim m-root', 'fill m-data', 'keep-vm m']],
  [
    'S7: the DataVolume is there, its claim not yet',
    seen(filled, { dataVolumes: [volume(ours('m-data'))] }),
    ['claim m-root', 'keep-vm m']
  ],
  [
    'S7: the DataVolume has done its work and is gone',
    seen(filled, { claims: [claim(ours('m-data'), '10Gi')] }),
    ['claim m-root', 'keep-vm m']
  ],
  [
    'S7: both are there',
    seen(filled, { claims: withRoot(claim(ofVolume('m-data', 'dv'), '10Gi')), dataVolumes: [volume(ours('m-data', 'dv'))] }),
    ['keep-vm m']
  ],
  ['S5: a claim grows, last', seen(small, { claims: [root('10Gi')] }), ['keep-vm m', 'grow m-root to 20Gi']],
  ['S5: one that is not bound cannot', seen(small, { claims: [root('10Gi', 'Pending')] }), ['keep-vm m']],
  ['S5: made larger by hand', seen(small, { claims: [root('21Gi')] }), ['keep-vm m']],
  ['S5: as large as wanted, in other words', seen(small, { claims: [root('20480Mi')] }), ['keep-vm m']],
  ['S5: one that says no size', seen(small, { claims: [claim(ours('m-root'))] }), ['keep-vm m', 'grow m-root to 20Gi']],
  [
    'S5: the claim of a DataVolume',
    seen(filled, { claims: withRoot(claim(ours('m-data'), '5Gi')) }),
    ['keep-vm m', 'grow m-data to 10Gi']
  ],
  ['C3: inline data', seen(userData), ['keep-secret m-cloudinit', 'claim m-root', 'keep-vm m']],
  ['C3: known to be right', seen(userData, { own: 'unasked' }), ['claim m-root', 'keep-vm m']],
  ['C3: kept right', seen(userData, { own: secret }), ['keep-secret m-cloudinit', 'claim m-root', 'keep-vm m']],
  ['C1: no longer wanted', seen(small, { own: secret }), ['discard-secret m-cloudinit', 'claim m-root', 'keep-vm m']],
  ['C1: that of somebody else stays', seen(small, { own: { metadata: foreign('m-cloudinit') } }), ['claim m-root', 'keep-vm m']],
  ['C1: not asked for', seen(small, { own: 'unasked' }), ['claim m-root', 'keep-vm m']],
  ['N3: a bridge', seen(bridged), ['attach br0-vlan2101', 'claim m-root', 'keep-vm m']],
  [
    'N3: of the right network',
    seen({ ...small, networks: [nic('store')] }),
    ['attach br1-untagged', 'claim m-root', 'keep-vm m']
  ],
  ['N3: its attachment is there', seen(bridged, { attachments: [attachment] }), ['claim m-root', 'keep-vm m']],
  ['N6: the pod network needs none', seen({ ...small, networks: [nic('pod')] }), ['claim m-root', 'keep-vm m']],
  [
    'S8: a disk that was removed',
    seen(small, { claims: withRoot(claim(ours('m-old'))) }, confirmed),
    ['keep-vm m', 'discard claim']
  ],
  ['S8: without consent', seen(small, { claims: withRoot(claim(ours('m-old'))) }), ['keep-vm m']],
  ['S8: nothing of it is left', seen(small, { claims: withRoot() }, confirmed), ['keep-vm m']],
  ['S8: a namesake of somebody else', seen(small, { claims: withRoot(claim(foreign('m-old'))) }, confirmed), ['keep-vm m']],
  [
    'S8: an instance uses it',
    seen(
      small,
      { claims: withRoot(claim(ours('m-old'))), vmi: { metadata: ours('m'), spec: { volumes: [{ name: 'old' }] } } },
      confirmed
    ),
    ['keep-vm m']
  ],
  [
    'S8: an instance uses others',
    seen(
      small,
      { claims: withRoot(claim(ours('m-old'))), vmi: { metadata: ours('m'), spec: { volumes: [{ name: 'root' }] } } },
      confirmed
    ),
    ['keep-vm m', 'discard claim']
  ],
  [
    'S8: the spec has it again',
    seen({ ...small, disks: [{ name: 'old', size: '1Gi' }] }, { claims: withRoot(claim(ours('m-old'), '1Gi')) }, confirmed),
    ['keep-vm m']
  ],
  [
    'S8: with its DataVolume',
    seen(
      small,
      {
        claims: withRoot(claim(ofVolume('m-old', 'dv'))),
        dataVolumes: [volume(ours('m-data', 'x')), volume(ours('m-old', 'dv'))]
      },
      confirmed
    ),
    ['keep-vm m', 'discard claim volume']
  ],
  [
    'S8: its DataVolume, and a claim of another',
    seen(small, { claims: withRoot(claim(ofVolume('m-old', 'other'))), dataVolumes: [volume(ours('m-old', 'dv'))] }, confirmed),
    ['keep-vm m', 'discard volume']
  ],
  [
    'S8: a DataVolume of another, and its claim',
    seen(small, { claims: withRoot(claim(ofVolume('m-old', 'dv'))), dataVolumes: [volume(foreign('m-old', 'dv'))] }, confirmed),
    ['keep-vm m']
  ]
]
for (const [name, given, actions] of rows)
  t.test(name, async t => {
    t.strictSame(problemsOf(given), [])
    t.strictSame(actionsOf(given), actions)
  })

t.test('S8: what is discarded is what was seen', async t => {
  const [dataVolume, gone] = [volume(ours('m-old', 'dv')), claim(ofVolume('m-old', 'dv'))]
  const { actions } = decide(seen(small, { claims: withRoot(gone), dataVolumes: [dataVolume] }, confirmed), clusterOptions)
  t.strictSame(actions.at(-1), { do: 'discard', claim: gone, dataVolume })
})

const kept = (given: Seen) => decide(given, clusterOptions).actions.find(action => action.do === 'keep-vm')
t.test('M3: power belongs to others unless the Machine says it', async t => {
  const halted = { ...mine, spec: { ...mine.spec, runStrategy: 'Halted' as const } }
  const strategy = (spec: Spec) => kept(seen(spec, { vm: halted }))?.vm.spec.runStrategy
  t.strictSame([strategy(small), strategy({ ...small, powerState: 'Running' })], ['Halted', 'Always'])
  t.equal(kept(seen(small))?.live, undefined)
  t.equal(kept(seen(small, { vm: halted }))?.live, halted)
})

t.test('N2: a VM that exists keeps its networks while one is missing, and everything else goes on', async t => {
  const networks = [{ name: 'before', pod: {} }]
  const live = { ...mine, spec: { template: { spec: { domain: { devices: {} }, networks } } } }
  const missing = seen({ ...small, networks: [nic('nowhere')] }, { vm: live })
  t.strictSame(actionsOf(missing), ['claim m-root', 'keep-vm m'])
  t.strictSame(kept(missing)?.vm.spec.template.spec.networks, networks)
  const found = kept(seen({ ...small, networks: [nic('pod')] }, { vm: live }))
  t.strictSame(found?.vm.spec.template.spec.networks, [{ name: 'pod', pod: {} }])
})

t.test('S3: a class that is called default is named', async t => {
  const classes = new Set(['default'])
  const [first] = decide(seen(small, { classes }), clusterOptions).actions
  t.equal(first?.do === 'claim' && first.claim.spec.storageClassName, 'default')
  const [other] = decide(seen(small), clusterOptions).actions
  t.equal(other?.do === 'claim' && other.claim.spec.storageClassName, undefined)
})
