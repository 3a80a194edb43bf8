// spec/machine.md §7: everything that stands in the way of a Machine, in the words for its owner; nothing is written meanwhile (T6).
import t from 'tap'
import type { Seen } from '../../../functions/machine/seen.ts'
import { actionsOf, claim, foreign, ofVolume, ours, problemsOf, seen, volume } from './decide-rows.ts'
import { vm, type Spec } from './fixtures.ts'

const small: Spec = { template: 'small' }
const http = { http: { url: 'https://example.com/a.iso' } }
const nic = (networkName: string, name = networkName) => ({ name, networkName })
const disks = (...given: NonNullable<Spec['disks']>): Spec => ({ ...small, disks: given })
const cdrom = (more: object, source: object = http): Spec => ({
  ...small,
  cdroms: [{ name: 'cd', size: '1Gi', source, ...more }] as NonNullable<Spec['cdroms']>
})
const networks = (...names: string[]): Spec => ({ ...small, networks: names.map((name, n) => nic(name, `n${n}`)) })
const filled = disks({ name: 'data', size: '10Gi', source: http })
const unsized = (count: number) => disks(...Array.from({ length: count }, (_, n) => ({ name: `d${n}` })))
const noSize = (n: number) => `spec.disks[${n}].size: the disk d${n} needs a size, such as 20Gi (A4)`
const noClass = (name: string) =>
  `StorageClassNotFound (storage): the StorageClass ${name} does not exist: create it or correct disks[].storageClass`
const noNetwork = (name: string) =>
  `NetworkConfigurationNotFound (network): the NetworkConfiguration ${name} does not exist in this namespace: create it or correct networks[].networkName`
const taken = (kind: string, name: string, about: string) =>
  `NameConflict (${about}): the ${kind} ${name} exists and does not belong to this Machine: rename or delete one of the two`
const absent = (...parts: Array<'KubeVirt' | 'CDI' | 'Multus'>): Partial<Seen> => ({ absent: new Set(parts) })
const not = (part: string, about: string, why: string) =>
  `KubeVirtApiError (${about}): ${part} is not installed in this cluster, but ${why}`
const noKubeVirt = not('KubeVirt', 'vm', 'runs every Machine: install it')
const noCdi = not('CDI', 'storage', 'a disk with a source needs it')
const noMultus = not('Multus', 'network', 'a network on a bridge or a nadRef needs it')
const slow = { storageClass: 'slow' }
const secretRef = (key?: string): Spec => ({ ...small, cloudInit: { secretRef: { name: 'init', ...(key && { key }) } } })
const source = (data?: Record<string, string>): Partial<Seen> => ({
  source: { metadata: { name: 'init' }, ...(data && { data }) }
})
const waiting = (what: string) => `CloudInitSecretNotFound (spec): waiting for the ${what}`
const theirVm = { ...vm('Running'), metadata: foreign('m') }
const ourVm = { ...vm('Running'), metadata: ours('m') }

const rows: Array<[name: string, seen: Seen, problems: string[]]> = [
  ['T1', seen({ template: 'huge' }), ['TemplateNotFound (spec, final): there is no template huge: use small, medium or large']],
  ['E6: one rule', seen(unsized(1)), [`InvalidSpec (spec, final): ${noSize(0)}`]],
  ['E6: five are told', seen(unsized(6)), [`InvalidSpec (spec, final): ${[0, 1, 2, 3, 4].map(noSize).join('; ')}`]],
  ['N2', seen(networks('nowhere')), [noNetwork('nowhere')]],
  ['N2: each once', seen(networks('a', 'pod', 'b', 'a')), [noNetwork('a'), noNetwork('b')]],
  ['S3', seen(disks({ name: 'root', ...slow })), [noClass('slow')]],
  ['S3: each once', seen(disks({ name: 'root', ...slow }, { name: 'b', size: '1Gi', ...slow })), [noClass('slow')]],
  ['S3: of a CD-ROM', seen(cdrom(slow)), [noClass('slow')]],
  ['C5: no Secret', seen(secretRef()), [waiting('Secret init with cloud-init user data')]],
  ['C5: no key', seen(secretRef(), source({ other: 'eA==' })), [waiting('key userdata in the Secret init')]],
  ['C5: an empty Secret', seen(secretRef('own'), source()), [waiting('key own in the Secret init')]],
  ['D3: no KubeVirt', seen(small, absent('KubeVirt', 'CDI', 'Multus')), [noKubeVirt]],
  ['D3: no CDI', seen(filled, absent('CDI')), [noCdi]],
  [
    'D3: no CDI for one of two disks',
    seen(disks({ name: 'a', size: '1Gi', source: http }, { name: 'b', size: '1Gi' }), absent('CDI')),
    [noCdi]
  ],
  ['D3: no CDI for a CD-ROM', seen(cdrom({}), absent('CDI')), [noCdi]],
  ['D3: no Multus', seen(networks('pod', 'prod'), absent('Multus')), [noMultus]],
  [
    'D3: all at once',
    seen({ ...filled, ...networks('prod') }, absent('KubeVirt', 'CDI', 'Multus')),
    [noKubeVirt, noCdi, noMultus]
  ],
  [
    'T6: all that is missing is told at once',
    seen({ ...secretRef(), ...disks({ name: 'root', ...slow }), ...networks('nowhere') }, { vm: ourVm, ...absent('KubeVirt') }),
    [noNetwork('nowhere'), noClass('slow'), waiting('Secret init with cloud-init user data'), noKubeVirt]
  ],
  ['S5: the VM of somebody else', seen(small, { vm: theirVm }), [taken('VirtualMachine', 'm', 'vm')]],
  [
    'S5: the claim of somebody else',
    seen(small, { claims: [claim(foreign('m-root'))] }),
    [taken('PersistentVolumeClaim', 'm-root', 'storage')]
  ],
  [
    'S7: a claim in the place of that of a DataVolume',
    seen(filled, { claims: [claim(foreign('m-data'))], dataVolumes: [volume(ours('m-data', 'dv'))] }),
    [taken('PersistentVolumeClaim', 'm-data', 'storage')]
  ],
  [
    'S7: a DataVolume of somebody else, with its claim',
    seen(filled, { claims: [claim(ofVolume('m-data', 'dv'))], dataVolumes: [volume(foreign('m-data', 'dv'))] }),
    [taken('PersistentVolumeClaim', 'm-data', 'storage'), taken('DataVolume', 'm-data', 'storage')]
  ],
  [
    'C3: the Secret of somebody else',
    seen({ ...small, cloudInit: { userData: '#cloud-config' } }, { own: { metadata: foreign('m-cloudinit') } }),
    [taken('Secret', 'm-cloudinit', 'vm')]
  ],
  [
    'N3: the attachment of somebody else',
    seen(networks('prod'), { attachments: [{ metadata: foreign('br0-vlan2101'), spec: { config: '{}' } }] }),
    [
      'NameConflict (network): the NetworkAttachmentDefinition br0-vlan2101 exists with another configuration and is not ours: rename it, or refer to it by nadRef'
    ]
  ]
]
for (const [name, given, problems] of rows)
  t.test(name, async t => {
    t.strictSame(problemsOf(given), problems)
    t.strictSame(actionsOf(given), [], 'nothing is made, changed or removed')
  })

t.test('N6: two network cards on the pod network are refused, since the networks are known', async t => {
  t.match(problemsOf(seen(networks('pod', 'pod'))).join(), /^InvalidSpec \(spec, final\): .*pod network/)
  t.strictSame(problemsOf(seen(networks('pod', 'prod'))), [])
})

t.test('N2, S5: what is missing is told beside a conflict', async t => {
  const both = seen(networks('nowhere'), { vm: ourVm, claims: [claim(foreign('m-root'))] })
  t.strictSame(problemsOf(both), [noNetwork('nowhere'), taken('PersistentVolumeClaim', 'm-root', 'storage')])
  t.strictSame(actionsOf(both), [])
})

const fine: Array<[name: string, seen: Seen]> = [
  ['S3: a class that is there', seen(disks({ name: 'root', storageClass: 'fast' }))],
  ['S3: the word default', seen(disks({ name: 'root', storageClass: 'default' }))],
  ['S3: a class of that name', seen(disks({ name: 'root', storageClass: 'default' }), { classes: new Set(['default']) })],
  ['S3: the claim is made already', seen(disks({ name: 'root', ...slow }), { claims: [claim(ours('m-root'), '20Gi')] })],
  ['S3: a container disk has none', seen(disks({ name: 'c', ...slow, source: { containerDisk: { image: 'x' } } }))],
  ['S3: a CD-ROM of a claim has none', seen(cdrom(slow, { pvc: { name: 'iso' } }))],
  ['S3: a CD-ROM of a container has none', seen(cdrom(slow, { containerDisk: { image: 'x' } }))],
  ['S3: a CD-ROM without a word of it', seen(cdrom({}))],
  ['C5: the Secret is there', seen(secretRef(), source({ userdata: 'eA==' }))],
  ['C4: in the other spelling', seen(secretRef(), source({ userData: 'eA==' }))],
  ['C2: inline wins', seen({ ...small, cloudInit: { userData: '#!', secretRef: { name: 'init' } } })],
  ['D3: no CDI, and no disk needs it', seen(small, absent('CDI'))],
  ['D3: CDI is there', seen(filled)],
  ['D3: no Multus, and only the pod network', seen(networks('pod'), absent('Multus'))],
  ['S5: a namesake that is not wanted', seen(small, { claims: [claim(foreign('m-other'))] })],
  ['S5: a DataVolume that is not wanted', seen(small, { dataVolumes: [volume(foreign('m-other'))] })],
  ['S7: our claim, its DataVolume gone', seen(filled, { claims: [claim(ours('m-data'), '10Gi')] })],
  [
    'S7: a claim of our DataVolume',
    seen(filled, {
      claims: [claim(ofVolume('m-data', 'dv'))],
      dataVolumes: [volume(foreign('x', 'x')), volume(ours('m-data', 'dv'))]
    })
  ],
  ['C3: our Secret', seen({ ...small, cloudInit: { userData: '#!' } }, { own: { metadata: ours('m-cloudinit') } })],
  ['C1: a Secret of somebody else that is not wanted', seen(small, { own: { metadata: foreign('m-cloudinit') } })],
  ['our VM', seen(small, { vm: ourVm })]
]
for (const [name, given] of fine) t.test(`${name}: nothing to tell`, async t => t.strictSame(problemsOf(given), []))
