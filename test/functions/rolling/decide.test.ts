import * as fc from 'fast-check'
import t from 'tap'
import { decide, readRoll, reasonOf, rollMark, sayPlan, type Plan, type Roll } from '../../../functions/rolling/decide.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, type Status } from '../host-life/fixtures.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const roll: Roll = { name: 'r', uid: 'u1', reason: 'kernel', maxUnavailable: 1, version: undefined }
const ready = condition('Ready', 'True', 'Ready')
function host(
  name: string,
  spec: Partial<Hypervisor['spec']> = {},
  status: Partial<Status> = {},
  zone: string | null = 'z1',
  mark?: string
): Hypervisor {
  const made = hypervisor(spec, { conditions: [ready], aggregates: [{ name: `in-${zone}`, uuid: 'u' }], ...status }, zone)
  return { ...made, metadata: { ...made.metadata, name, ...(mark && { annotations: { [rollMark]: mark } }) } }
}
const plan = (hosts: Hypervisor[], change: Partial<Roll> = {}, others: Hypervisor[] = []) =>
  decide({ ...roll, ...change }, hosts, [...hosts, ...others])

void t.test('HV-48: one at a time in each zone, by name', async t => {
  t.strictSame(plan([host('b'), host('a'), host('c', {}, {}, 'z2')]).start, ['a', 'c'])
  t.strictSame(plan([host('a'), host('b'), host('c')], { maxUnavailable: 2 }).start, ['a', 'b'])
  t.strictSame(plan([host('a')], {}, [host('x', {}, { conditions: [] })]).start, [], 'somebody else is away already')
  t.strictSame(plan([host('a')], {}, [host('x', { maintenance: 'manual' })]).start, [], 'or will be in a moment')
})

void t.test('HV-48: and in each aggregate, whatever the zone', async t => {
  const in2 = (name: string, zone: string) => host(name, {}, { aggregates: [{ name: 'gpu', uuid: 'u' }] }, zone)
  t.strictSame(plan([in2('a', 'z1'), in2('b', 'z2')]).start, ['a'])
  const both = host('b', {}, { aggregates: [{ name: 'gpu', uuid: 'u' }] })
  t.strictSame(plan([host('a'), both, in2('c', 'z2')]).start, ['a', 'c'], 'b stays, and takes no place in its aggregate')
  const bare = (name: string, zone: string | null) => host(name, {}, { aggregates: [] }, zone)
  t.strictSame(plan([bare('a', null), bare('b', '')]).start, ['a'], 'hosts without a zone are one group')
})

void t.test('HV-48: a host that is away by somebody else is not taken, and neither stops the roll nor belongs to it', async t => {
  const failing = condition('Evicting', 'True', 'Failed', { message: '2 left' })
  const away = host('a', { maintenance: 'manual' }, { conditions: [ready, failing] })
  const other = host('b', {}, {}, 'z2')
  const wanted: Plan = { start: ['b'], clear: [], done: [], underWay: [], waiting: ['a'], failed: [] }
  t.strictSame(plan([away, other], { maxUnavailable: 2 }), wanted)
})

void t.test('HV-48: the next only after the last is Ready', async t => {
  const busy = host('a', { maintenance: 'auto' }, { conditions: [condition('Ready', 'False', 'Evicting')] }, 'z1', 'u1')
  matchWhole(t, plan([busy, host('b')]), { start: [], underWay: ['a'], waiting: ['b'], done: [] })
  const cleared = host('a', {}, { conditions: [condition('Ready', 'False', 'Maintenance')] }, 'z1', 'u1')
  t.strictSame(plan([cleared, host('b')]).start, [], 'cleared, but not Ready')
  matchWhole(t, plan([host('a', {}, {}, 'z1', 'u1'), host('b')]), { start: ['b'], done: ['a'] })
  matchWhole(t, plan([host('a', {}, {}, 'z1', 'u0'), host('b')]).start, ['a'], 'an earlier roll does not count')
})

void t.test('HV-48: stops at the first failure', async t => {
  const stuck = (reason: string) =>
    host('a', { maintenance: 'auto' }, { conditions: [condition('Evicting', 'True', reason, { message: '2 left' })] }, 'z1', 'u1')
  for (const reason of ['Failed', 'Blocked']) {
    const stopped = plan([stuck(reason), host('b', {}, {}, 'z2')])
    matchWhole(t, stopped, { start: [], failed: [{ host: 'a', why: /2 left/ }] })
    t.match(sayPlan(stopped), /^stopped by a: .*; 0 of 2 done, under way: a$/)
  }
  t.strictSame(plan([stuck('Running'), host('b', {}, {}, 'z2')]).start, ['b'])
  const silent = condition('Evicting', 'True', 'Blocked')
  const failures = (spec: Partial<Hypervisor['spec']>, status: Partial<Status>) =>
    plan([host('a', spec, status, 'z1', 'u1'), host('b', {}, {}, 'z2')]).failed
  const because = (why: string) => [{ host: 'a', why }]
  const auto = { maintenance: 'auto' } as const
  t.strictSame(failures(auto, { conditions: [ready, silent] }), because('it could not be emptied: Blocked'))
  t.strictSame(failures({}, { conditions: [ready, silent] }), [], 'its maintenance was taken back')
  const updated = (status: 'True' | 'False', retry: number) =>
    failures(auto, {
      conditions: [ready, condition('OperatingSystemUpdate', status, 'Stopped')],
      updateStatus: { inProgress: false, retry }
    })
  t.strictSame(updated('False', 0), because('its operating system could not be updated'))
  t.strictSame(updated('False', 1), [], 'NA-24: tried again')
  t.strictSame(updated('True', 0), [], 'the last try went well')
})

void t.test('HV-48: with a version the roll clears the maintenance itself, when the host is drained and runs it', async t => {
  const drained = { evicted: true, conditions: [condition('Evicting', 'False')] }
  const at = (version: string, status: Partial<Status> = drained) =>
    plan([host('a', { maintenance: 'auto' }, { ...status, operatingSystem: { version } }, 'z1', 'u1')], { version: '2' }).clear
  t.strictSame(at('1'), [])
  t.strictSame(at('2'), ['a'])
  t.strictSame(at('2', { evicted: false, conditions: [] }), [])
  t.strictSame(at('2', { evicted: true, conditions: [condition('Evicting', 'True', 'Running')] }), [])
  t.strictSame(at('2', { evicted: false, conditions: [condition('Evicting', 'False')] }), [])
  const byHand = host('a', { maintenance: 'manual' }, { ...drained, operatingSystem: { version: '2' } }, 'z1', 'u1')
  t.strictSame(plan([byHand], { version: '2' }).clear, [], 'maintenance that a person has set since stays')
  const notReady = host('a', {}, { conditions: [], operatingSystem: { version: '2' } })
  matchWhole(t, plan([notReady], { version: '2' }), { start: [], done: [], waiting: ['a'] }, 'runs it, but is not Ready')
  matchWhole(
    t,
    plan([host('a', {}, { operatingSystem: { version: '2' } })], { version: '2' }),
    { start: [], done: ['a'] },
    'runs it already'
  )
})

void t.test('a roll that says too little, or nonsense', async t => {
  t.match(readRoll('r', 'u', {}), { problem: /selector/ })
  t.match(readRoll('r', 'u', { selector: 'a', maxUnavailable: '0' }), { problem: /maxUnavailable/ })
  t.match(readRoll('r', 'u', { selector: 'a', maxUnavailable: '1.5' }), { problem: /maxUnavailable/ })
  t.match(readRoll('r', 'u', { selector: 'a', version: 'latest' }), { problem: /latest/ })
  const least: Roll = { name: 'r', uid: 'u', reason: '', maxUnavailable: 1, version: undefined }
  t.strictSame(readRoll('r', 'u', { selector: 'a' }), least)
  t.strictSame(readRoll('r', 'u', { selector: 'a', version: '' }), least)
  t.strictSame(readRoll('r', 'u', { selector: 'a', reason: 'kernel', maxUnavailable: '2', version: '7' }), {
    ...least,
    reason: 'kernel',
    maxUnavailable: 2,
    version: '7'
  })
})

void t.test('what people read: the reason of each host, and how far the roll is', async t => {
  t.equal(rollMark, 'kvm.cloud.sap/rolling-maintenance')
  t.equal(reasonOf(roll), 'rolling r: kernel')
  t.equal(reasonOf({ ...roll, reason: '' }), 'rolling r')
  const busy = host('a', { maintenance: 'auto' }, {}, 'z1', 'u1')
  const done = host('b', {}, {}, 'z2', 'u1')
  t.equal(sayPlan(plan([busy, done, host('c', {}, {}, 'z3'), host('d')])), '1 of 4 done, under way: a, c')
  t.equal(sayPlan(plan([done])), '1 of 1 done')
})

void t.test('HV-48: whatever happens, no zone has more hosts away than allowed, and every host has its turn', async () => {
  const fleet = fc.array(fc.constantFrom('z1', 'z2', 'z3'), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(fleet, fc.integer({ min: 1, max: 3 }), fc.infiniteStream(fc.boolean()), (zones, maxUnavailable, isBack) => {
      let hosts = zones.map((zone, index) => host(`h${index}`, {}, {}, zone))
      for (let turn = 0; turn < 100; turn++) {
        const { start, done } = plan(hosts, { maxUnavailable })
        if (done.length === hosts.length) return true
        hosts = hosts.map((old, index) => {
          const { name } = old.metadata
          if (start.includes(name)) return host(name, { maintenance: 'auto' }, { conditions: [] }, zones[index], 'u1')
          const returns = old.spec.maintenance === 'auto' && isBack.next().value
          return returns ? host(name, {}, {}, zones[index], 'u1') : old
        })
        for (const zone of new Set(zones)) {
          const away = hosts.filter(({ metadata, spec }, index) => zones[index] === zone && metadata.name && spec.maintenance)
          if (away.length > maxUnavailable) return false
        }
      }
      return false
    }),
    { numRuns: 300 }
  )
})
