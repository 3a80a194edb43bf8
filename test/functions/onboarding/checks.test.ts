// HV-43: what can be known of a host before it is enabled.
import t from 'tap'
import { checkPattern, checksOf, parseCheckRule, withChecks, type Facts } from '../../../functions/onboarding/checks.ts'
import { condition, hypervisor, now, type Status } from '../host-life/fixtures.ts'

const rules = ['libvirt=fail', 'bridges=warn', 'storage=fail'].map(parseCheckRule)
const results = (facts: Partial<Facts>): string[] =>
  checksOf(rules, { hypervisor: hypervisor(), minLibvirt: '', diskGiB: 1, ...facts }).map(({ name, result, reason }) =>
    [name, result, ...(reason === undefined ? [] : [reason])].join(': ')
  )
const host = (libVirtVersion: string, ...conditions: NonNullable<Status['conditions']>) =>
  hypervisor({}, { libVirtVersion, conditions })
const connected = condition('LibVirtConnection', 'True', 'Connected')
const passed = ['check libvirt: Passed', 'check bridges: Passed', 'check storage: Passed']

void t.test('pre-checks are made of what the agents and Placement tell', async t => {
  const well = host('10.2.0', connected, condition('NetworkHealthy', 'True', 'AllHealthy'))
  t.strictSame(results({ hypervisor: well }), passed)
  t.strictSame(
    results({ diskGiB: undefined }),
    [
      'check libvirt: Failed: no agent has reached libvirt',
      'check bridges: Warned: no agent reports on Open vSwitch',
      'check storage: Failed: nova-compute reports no storage to Placement'
    ],
    'what nobody tells is not well'
  )
  t.strictSame(results({ diskGiB: 0 })[2], 'check storage: Failed: nova-compute reports no storage to Placement')
  const down = host(
    '10.0.0',
    condition('LibVirtConnection', 'False', 'ConnectFailed', { message: 'refused' }),
    condition('NetworkHealthy', 'False', 'NetworkDown', { message: 'BridgeMissing: br-ex' })
  )
  t.strictSame(results({ hypervisor: down }).slice(0, 2), [
    'check libvirt: Failed: refused',
    'check bridges: Warned: BridgeMissing: br-ex'
  ])
  const degraded = host('10.0.0', connected, condition('NetworkHealthy', 'False', 'NetworkDegraded', { message: 'x' }))
  t.strictSame(results({ hypervisor: degraded }), passed, 'the bridges are there')
})

const versions: Array<[have: string, least: string, isEnough: boolean]> = [
  ['10.2.0', '9.10', true], // numbers, not letters
  ['10.2.0', '10.10', false],
  ['10.2.0', '10.1', true],
  ['10.2.0', '10.2.0', true],
  ['10.2.0', '10.2.1', false],
  ['10', '10.0', true],
  ['10', '10.1', false],
  ['unknown', '9', false],
  ['unknown', '', true] // not asked for
]
for (const [have, least, isEnough] of versions) {
  void t.test(`libvirt ${have}, at least ${least || 'any'}`, async t => {
    const [libvirt] = results({ hypervisor: host(have, connected), minLibvirt: least })
    t.equal(libvirt, isEnough ? 'check libvirt: Passed' : `check libvirt: Failed: libvirt is ${have}, older than ${least}`)
  })
}

void t.test('a version that nobody told', async t => {
  const [libvirt] = results({ hypervisor: hypervisor({}, { conditions: [connected] }), minLibvirt: '9' })
  t.equal(libvirt, 'check libvirt: Failed: libvirt is unknown, older than 9')
})

void t.test('how a rule is written', async t => {
  for (const rule of ['libvirt=fail', 'bridges=warn', 'storage=fail']) t.match(rule, new RegExp(checkPattern))
  for (const rule of ['', 'libvirt', 'libvirt=maybe', 'disk=fail', 'xlibvirt=fail'])
    t.notMatch(rule, new RegExp(checkPattern), rule)
  t.strictSame(rules[1], { name: 'bridges', policy: 'warn' })
})

void t.test('HV-7: what says the same as before keeps its time', async t => {
  const [old, time] = ['2026-11-16T11:00:00Z', '2026-11-16T12:00:00Z']
  const begun = { name: 'ohooc-host-1-12345678-1', startedAt: old }
  const libvirt = { name: 'check libvirt', result: 'Failed', reason: 'too old' } as const
  const bridges = { ...libvirt, name: 'check bridges' }
  const before = [{ ...bridges, finishedAt: '2026-11-16T10:00:00Z' }, { ...libvirt, finishedAt: old }, begun]
  t.strictSame(withChecks([begun], [libvirt], now), [{ ...libvirt, finishedAt: time }, begun])
  t.strictSame(withChecks(before, [bridges, libvirt], now), before)
  t.strictSame(
    withChecks(before.slice(0, 1), [libvirt], now),
    [{ ...libvirt, finishedAt: time }, ...before.slice(0, 1)],
    'another check'
  )
  for (const other of [
    { ...libvirt, reason: 'gone' },
    { ...libvirt, result: 'Warned' as const }
  ])
    t.strictSame(withChecks(before.slice(1), [other], now), [{ ...other, finishedAt: time }, begun], JSON.stringify(other))
})
