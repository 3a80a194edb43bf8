// R1–R5 and HV-11…HV-14 (spec/hypervisor.md §1.2).
import t from 'tap'
import { hostOf, type Host } from '../../shared/rules/fleet.ts'
import { checkHypervisor } from '../../shared/rules/hypervisor.ts'
import { withDefaults } from '../../shared/schema/defaults.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { agent, asked, type Given, ha, jane, said, silence } from './asked.ts'

const uuid = '6fa459ea-ee8a-3ca4-894e-db77e160355e'
type Status = NonNullable<Hypervisor['status']>
const hv = (spec: object = {}, name = 'h', status?: Partial<Status>, zone?: string): Hypervisor => {
  const labels = zone === undefined ? {} : { labels: { 'topology.kubernetes.io/zone': zone } }
  return withDefaults(Hypervisor, { metadata: { name, ...labels }, spec, ...(status && { status }) }) as unknown as Hypervisor
}
const ask = (object: Hypervisor, more: Given<Hypervisor> = {}) => said(checkHypervisor(asked(object, more)))

const trait = (name: string) => ({ trait: { name } })
const aggregate = (id: string) => ({ aggregate: { name: 'a', uuid: id } })

type Case = [id: string, path: string, bad: object, good: object, was?: object]
const refusals: Case[] = [
  ['R1', 'spec', { maintenance: 'auto' }, { maintenance: 'ha', version: '2' }, { maintenance: 'termination' }],
  ['R1', 'spec', { maintenance: 'termination', version: '2' }, { maintenance: 'termination' }, { maintenance: 'termination' }],
  ['R2', 'spec.maintenanceReason', { maintenance: 'manual' }, { maintenance: 'manual', maintenanceReason: 'disk' }],
  ['R2', 'spec.maintenanceReason', { maintenance: 'manual', maintenanceReason: '' }, { maintenance: '' }],
  ['R3', 'spec.overcommit.cpu', { overcommit: { cpu: 0.99 } }, { overcommit: { cpu: 1, memory: 1.5 } }],
  ['R4', 'spec.groups[0]', { groups: [{}] }, { groups: [trait('A')] }],
  [
    'R4',
    'spec.groups[1]',
    { groups: [trait('A'), { ...trait('B'), ...aggregate(uuid) }] },
    { groups: [trait('A'), aggregate(uuid)] }
  ],
  ['R5', 'spec.groups[0].trait.name', { groups: [trait('')] }, { groups: [trait('A')] }],
  ['R5', 'spec.groups[0].aggregate.uuid', { groups: [aggregate('6fa459ea')] }, { groups: [aggregate(uuid)] }]
]
for (const [id, path, bad, good, was] of refusals) {
  t.test(`${id} at ${path}: ${JSON.stringify(bad)}`, async t => {
    const before = was && { old: hv(was), user: ha }
    t.strictSame(ask(hv(bad), before), { refused: [`${id} ${path}`], warned: [] })
    t.strictSame(ask(hv(good), before), silence)
  })
}
t.test('R5: a host may be made in termination', async t => {
  t.strictSame(
    ask(hv({ maintenance: 'termination' }), { user: { username: 'system:serviceaccount:drover:hypervisor' } }),
    silence
  )
})

/** A warning out of the box, a refusal where objections are enforced. */
const objections: Array<[name: string, id: string, object: Hypervisor, more?: Given<Hypervisor>]> = [
  ['a trait twice', 'HV-11', hv({ groups: [trait('A'), trait('B'), trait('A')] })],
  ['an aggregate twice, however it is written', 'HV-11', hv({ groups: [aggregate(uuid), aggregate(uuid.toUpperCase())] })],
  ['ha by a person', 'HV-13', hv({ maintenance: 'ha' }), { old: hv() }],
  ['termination by a person', 'HV-13', hv({ maintenance: 'termination' }), { old: hv({ maintenance: 'auto' }) }],
  ['termination from the start by a person', 'HV-13', hv({ maintenance: 'termination' })]
]
for (const [name, id, object, more] of objections) {
  t.test(`${id}: ${name}`, async t => {
    const warned = ask(object, more)
    t.strictSame(warned.refused, [])
    matchWhole(t, warned.warned, [id])
    t.strictSame(ask(object, { ...more, enforce: true }), { refused: warned.warned, warned: [] })
  })
}
t.test('HV-11: names of another kind are not the same', async t => {
  t.strictSame(ask(hv({ groups: [trait(uuid), aggregate(uuid)] })), silence)
})
t.test('HV-13: the identity itself, and another service where HA is external', async t => {
  t.strictSame(ask(hv({ maintenance: 'ha' }), { old: hv(), user: ha }), silence)
  t.strictSame(ask(hv({ maintenance: 'ha' }), { old: hv(), policy: { haMode: 'external' } }), silence)
  t.strictSame(
    ask(hv({ maintenance: 'ha', version: '2' }), { old: hv({ maintenance: 'ha' }) }),
    silence,
    'what was so is not asked again'
  )
  t.strictSame(ask(hv({ maintenance: 'ha' }), { old: hv(), user: undefined }), silence, 'a file has no user')
})

const size = (cpu: number, used: number): Partial<Status> => ({
  numInstances: 0,
  capacity: { cpu, memory: `${cpu}Gi` },
  allocation: { cpu: used, memory: `${used}Gi` }
})
const zone = (used: number, names = ['h', 'b', 'c']): Host[] => names.map(name => hostOf(hv({}, name, size(10, used), 'z')))
const drain = (
  hosts: Host[] | undefined,
  more: Given<Hypervisor> = {},
  object = hv({ maintenance: 'auto' }, 'h', size(10, 8), 'z')
) => ask(object, { old: hv({}, 'h'), hosts: hosts ? { known: true, value: hosts } : { known: false }, ...more })

t.test('HV-12: N−1 capacity of the zone', async t => {
  const short = ['HV-12 spec.maintenance', 'HV-12 spec.maintenance'] // cpu, and memory
  t.strictSame(drain(zone(8)), { refused: [], warned: short })
  t.strictSame(drain(zone(8), { enforce: true }), { refused: short, warned: [] })
  // 10 are left of three hosts with one drained and one failed: 8 + 1 + 1 fit to the last
  t.strictSame(drain(zone(1)), silence)
  t.strictSame(drain([...zone(1), hostOf(hv({}, 'd', undefined, 'y'))]), silence, 'other zones are not asked')
  const gone = [...zone(1, ['h', 'c']), hostOf(hv({ maintenance: 'auto' }, 'b', size(10, 1), 'z'))]
  t.strictSame(drain(gone).warned, short, 'a host that is away holds nothing')
  const away = (spec: object, used: number) => [...zone(1), hostOf(hv(spec, 'd', size(10, used), 'z'))]
  t.strictSame(drain(away({ maintenance: 'auto' }, 0)), silence, 'another is empty')
  t.strictSame(drain(away({ maintenance: 'auto' }, 1)).warned, short, 'what another is yet to be rid of needs a place too')
  t.strictSame(drain(away({ maintenance: 'ha' }, 9)), silence, 'of a dead host nobody counts any more')
})
t.test('HV-12: who is not asked', async t => {
  t.strictSame(drain(zone(8), { user: ha }, hv({ maintenance: 'ha' }, 'h', size(10, 8), 'z')), silence, 'the host is dead')
  t.strictSame(
    drain(
      zone(8),
      { old: hv({ maintenance: 'auto' }) },
      hv({ maintenance: 'manual', maintenanceReason: 'x' }, 'h', size(10, 8), 'z')
    ),
    silence
  )
  const leaves = hv({ maintenance: 'termination' }, 'h', size(10, 8), 'z')
  t.strictSame(
    drain(zone(8), { user: { username: 'system:serviceaccount:drover:hypervisor' } }, leaves),
    silence,
    'the node goes anyway'
  )
})
t.test('HV-12: what could not be read is said, and never refuses', async t => {
  for (const enforce of [false, true]) {
    t.strictSame(drain(undefined, { enforce }), { refused: [], warned: ['HV-12 spec.maintenance'] }, 'the fleet')
    t.strictSame(
      drain([], { enforce }, hv({ maintenance: 'auto' }, 'h', undefined, 'z')).refused,
      [],
      'a host that tells no size'
    )
    const { warnings } = checkHypervisor(asked(hv({ maintenance: 'auto' }), { old: hv(), enforce }))
    matchWhole(t, warnings, [{ id: 'HV-12', message: /was not checked: the host has no zone/ }])
  }
})
t.test('HV-12: maxUnavailable of an aggregate', async t => {
  const budget = (maxUnavailable?: string) => ({
    ...size(10, 0),
    aggregates: [{ name: 'gpu', uuid, ...(maxUnavailable && { metadata: { maxUnavailable } }) }]
  })
  const others = (away: number, of: number, limit?: string): Host[] => {
    const all = Array.from({ length: of }, (_, i) => hv(i < away ? { maintenance: 'auto' } : {}, `n${i}`, budget(limit), 'z'))
    return [hv({}, 'h', budget(limit), 'z'), ...all].map(hostOf)
  }
  const leaving = (limit?: string) => hv({ maintenance: 'auto' }, 'h', budget(limit), 'z')
  t.strictSame(drain(others(1, 3, '1'), {}, leaving('1')).warned, ['HV-12 spec.maintenance'])
  t.strictSame(drain(others(0, 3, '1'), {}, leaving('1')), silence)
  t.strictSame(drain(others(1, 7, '25%'), {}, leaving('25%')), silence, 'a quarter of eight is two')
  t.strictSame(drain(others(2, 7, '25%'), {}, leaving('25%')).warned, ['HV-12 spec.maintenance'])
  t.strictSame(drain(others(1, 4, '25%'), {}, leaving('25%')), silence, 'a quarter of five is rounded up')
  t.strictSame(drain(others(2, 7), {}, leaving()), silence, 'no budget, no objection')
  t.strictSame(
    drain(others(2, 7), { policy: { maxUnavailable: '2' } }, leaving()).warned,
    ['HV-12 spec.maintenance'],
    'but for a default'
  )
  t.strictSame(drain(others(2, 7, 'some'), {}, leaving('some')), silence, 'what nobody can read is no budget')
})

t.test('HV-14: an agent writes its own fields of its own host, whatever is enforced', async t => {
  const old = hv({}, 'node-a', { numInstances: 1, evicted: false, conditions: [] })
  const write = (change: object, user: object = agent('node-a'), more: object = {}) =>
    ask({ ...old, ...change }, { old, user: user as typeof jane, subresource: 'status', ...more }).refused
  const status = (change: object) => ({ status: { ...old.status, ...change } })
  const condition = (type: string) => ({
    conditions: [{ type, status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-11-01T00:00:00Z' }]
  })
  t.strictSame(write(status({ numInstances: 2, agent: { version: '1' } })), [])
  t.strictSame(write(status(condition('LibVirtConnection'))), [])
  t.strictSame(
    write({ metadata: { ...old.metadata, resourceVersion: '2', managedFields: [] } }),
    [],
    'bookkeeping of every write'
  )
  t.strictSame(write(status({ numInstances: 2 }), agent('node-b')), ['HV-14 metadata.name'])
  t.strictSame(write(status({ numInstances: 2 }), agent()), ['HV-14 metadata.name'], 'a token of no pod')
  t.strictSame(write(status({ evicted: true })), ['HV-14 status.evicted'])
  t.strictSame(write(status(condition('Ready'))), ['HV-14 status.conditions[Ready]'])
  t.strictSame(write({ spec: { ...old.spec, maintenance: 'auto' } }), ['HV-14 spec'])
  t.strictSame(write({ metadata: { ...old.metadata, labels: { a: 'b' } } }), ['HV-14 metadata'])
  t.strictSame(write({}, agent('node-a'), { operation: 'DELETE', old: undefined }), ['HV-14'])
  t.strictSame(write({}, agent('node-a'), { operation: 'CREATE', old: undefined }), ['HV-14'])
  t.strictSame(write(status({ evicted: true }), jane), [], 'status of others is none of its business')
})

t.test('words of a newer status hold up neither the agent nor who changes the spec', async t => {
  const newer = { numInstances: 1, phase: 'Polishing', conditions: [] } as unknown as Status
  const old = hv({}, 'node-a', newer)
  const beat = { ...old, status: { ...newer, numInstances: 2 } }
  t.strictSame(ask(beat, { old, user: agent('node-a'), subresource: 'status' }), silence)
  t.strictSame(ask({ ...old, spec: { ...old.spec, version: '2' } }, { old }), silence)
  const broken = { ...old, status: { numInstances: 'many' } } as unknown as Hypervisor
  t.strictSame(ask({ ...broken, spec: { ...old.spec, version: '2' } }, { old }).refused, ['schema status.numInstances'])
})

t.test('whatever leaves the spec alone, or is on its way out, is not judged', async t => {
  const broken = hv({ groups: [{}] })
  t.strictSame(ask({ ...broken, metadata: { name: 'h', labels: { a: 'b' } } }, { old: broken }), silence)
  t.strictSame(ask({ ...broken, metadata: { name: 'h', deletionTimestamp: '2026-11-01T00:00:00Z' } }, { old: hv() }), silence)
  t.strictSame(ask(broken, { operation: 'DELETE' }), silence)
  t.strictSame(ask(broken, { old: hv(), subresource: 'status' }), silence)
})
