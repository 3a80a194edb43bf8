// When a host is emptied, and when that is called off.
import t from 'tap'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { calls, iso, world, type World } from './fixtures.ts'
import { at, first, ovs, run, s } from './host-fixtures.ts'

const drained = 'network: { migrationBonds: [bond1] }'

t.test('a drain is asked for once, after new servers are kept away, and called off when healed', async t => {
  const it = world({}, parsePolicy(drained))
  it.ovsNode = ovs(['BondDown', 'bond0'])
  run(it, 60)
  t.ok(first(it, 'disable')! < first(it, 'drain')!)
  t.equal(calls(it).filter(call => call === 'drain').length, 1)
  const { name, uid } = it.ha.evictionRef!
  t.match(name, /^host-1-ha-[0-9a-f]{8}$/)
  t.equal(uid, `uid of ${name}`)
  it.ovsNode = ovs()
  it.eviction = { ...it.eviction!, status: { startedAt: at } }
  it.look()
  matchWhole(t, it.steps.at(-1)?.calls, [{ do: 'stop-drain', over: false }])
  it.eviction = { ...it.eviction, spec: { ...it.eviction.spec, cancel: 'Finish' } }
  t.equal(first(run(it, 20), 'enable'), undefined, 'running moves end first')
  t.ok(it.ha.nextCheckAt, 'and nobody forgets to look whether they did')
  it.eviction = { ...it.eviction, status: { ...it.eviction.status!, verdict: 'Cancelled' } }
  run(it, 15)
  t.equal(it.eviction, undefined)
  t.not(first(it, 'enable'), undefined)
})

t.test('a drain that was noted and not made is made; one that somebody took away is not', async t => {
  const it = world({}, parsePolicy(drained))
  it.ovsNode = ovs(['BondDown', 'bond0'])
  run(it, 0)
  it.look() // and then the process dies
  t.ok(it.ha.evictionRef?.name)
  t.ok(it.ha.nextCheckAt, 'somebody comes back')
  it.nowMs += 12 * s
  run(it, 30)
  t.equal(calls(it).filter(call => call === 'drain').length, 2)
  t.ok(it.eviction)
  it.eviction = undefined
  run(it, 60)
  t.equal(calls(it).filter(call => call === 'drain').length, 2)
})

t.test('healed while the process that noted a drain may still make it: the note is kept for a while', async t => {
  const it = world({}, parsePolicy(drained))
  it.ovsNode = ovs(['BondDown', 'bond0'])
  run(it, 0)
  const { calls: late } = it.look()
  it.ovsNode = ovs()
  it.nowMs += s
  it.look()
  it.eviction = { metadata: { name: 'late', uid: 'u' }, spec: { hypervisor: 'host-1', reason: '' } } as World['eviction']
  matchWhole(t, late, [{ do: 'drain' }])
  run(it, 20)
  t.equal(it.eviction, undefined, 'called off all the same')
  t.not(first(it, 'enable'), undefined)
})

t.test('what could not be asked for is asked for again soon: no host waits for the slow tick', async t => {
  const away = world()
  const { service } = away
  away.ovsNode = ovs(['BondDown', 'bond0'])
  away.service = undefined
  away.outage = 'no answer'
  away.look()
  t.equal(away.ha.nextCheckAt, iso(away.nowMs + 15 * s), 'Nova is away')
  away.outage = undefined
  away.service = service
  t.not(first(run(away, 1), 'disable'), undefined)
  const died = world()
  died.ovsNode = ovs(['BondDown', 'bond0'])
  died.look()
  t.strictSame(calls(died), ['disable'])
  t.equal(died.ha.nextCheckAt, iso(died.nowMs + 5 * s), 'whoever wrote this may be dead')
  died.nowMs += 5 * s
  died.look()
  t.strictSame(calls(died), ['disable', 'disable'])
})
