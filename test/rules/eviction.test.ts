// Evictions: what stays as it is (spec/hypervisor.md §1.5), evacuate, and a second one for a host (HV-13).
import t from 'tap'
import { checkEviction, isActive } from '../../shared/rules/eviction.ts'
import type { Eviction } from '../../shared/schema/eviction.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { asked, type Given, ha, said, silence } from './asked.ts'

const eviction = (spec: object = {}, name = 'e', status?: object): Eviction => ({
  metadata: { name },
  spec: { hypervisor: 'h', reason: 'r', ...spec },
  ...(status && { status })
})
const ask = (object: Eviction, more: Given<Eviction> = {}) => said(checkEviction(asked(object, more)))

t.test('1.5: hypervisor and mode stay, all else may change', async t => {
  const old = eviction()
  t.strictSame(ask(eviction({ hypervisor: 'b' }), { old }).refused, ['1.5 spec.hypervisor'])
  t.strictSame(ask(eviction({ mode: 'evacuate' }), { old, user: ha }).refused, ['1.5 spec.mode'])
  t.strictSame(
    ask(eviction({ hypervisor: 'b', mode: 'evacuate' }), { old }).refused,
    ['1.5 spec.hypervisor', '1.5 spec.mode'],
    'both at once'
  )
  t.strictSame(ask(eviction({ mode: 'drain' }), { old }), silence, 'drain is what it was')
  t.strictSame(ask(eviction({ reason: 'other', maxParallel: 2, cancel: 'Finish' }), { old }), silence)
})

t.test('HV-13: evacuate by others is refused, enforced or not', async t => {
  for (const enforce of [false, true]) {
    t.strictSame(ask(eviction({ mode: 'evacuate' }), { enforce }).refused, ['HV-13 spec.mode'])
    t.strictSame(ask(eviction({ mode: 'evacuate' }), { enforce, user: ha }), silence)
  }
})

t.test('HV-13: a second active Eviction', async t => {
  const others = (...value: Eviction[]) => ({ evictions: { known: true as const, value } })
  const second = others(eviction({}, 'first'))
  t.strictSame(ask(eviction(), second), { refused: [], warned: ['HV-13 spec.hypervisor'] })
  t.strictSame(ask(eviction(), { ...second, enforce: true }).refused, ['HV-13 spec.hypervisor'])
  matchWhole(t, checkEviction(asked(eviction(), second)).warnings, [{ message: /by the Eviction first already/ }], 'names it')
  t.strictSame(ask(eviction({ hypervisor: 'b' }), second), silence, 'of another host')
  t.strictSame(ask(eviction(), others(eviction())), silence, 'itself is no other')
  t.strictSame(
    ask(eviction({ mode: 'evacuate' }), { ...second, user: ha, enforce: true }),
    silence,
    'an evacuation supersedes a drain'
  )
  t.strictSame(ask(eviction({ reason: 'new' }), { ...second, old: eviction() }), silence, 'one that is there already')
})

t.test('HV-13: what could not be read is said, and never refuses', async t => {
  for (const enforce of [false, true])
    t.strictSame(ask(eviction(), { evictions: { known: false }, enforce }), { refused: [], warned: ['HV-13 spec.hypervisor'] })
})

t.test('active is what has not said how it ended', async t => {
  const evicting = (status: string) => ({
    conditions: [{ type: 'Evicting', status, reason: 'R', message: '', lastTransitionTime: '2026-11-01T00:00:00Z' }]
  })
  for (const status of [undefined, {}, { phase: 'Draining' }, evicting('True'), evicting('Unknown')])
    t.ok(isActive(eviction({}, 'e', status)), JSON.stringify(status))
  for (const status of [{ phase: 'Done' }, { verdict: 'Cancelled' }, { finishedAt: '2026-11-01T00:00:00Z' }, evicting('False')])
    t.notOk(isActive(eviction({}, 'e', status)), JSON.stringify(status))
})

t.test('whatever leaves the spec alone, or is on its way out, is not judged; the schema is', async t => {
  const broken = eviction({ hypervisor: '' })
  matchWhole(t, ask(broken).refused, ['schema spec.hypervisor'])
  t.strictSame(ask(broken, { old: broken }), silence)
  t.strictSame(ask(broken, { operation: 'DELETE' }), silence)
  t.strictSame(ask(broken, { subresource: 'status', old: eviction() }), silence)
  t.strictSame(
    ask({ ...broken, metadata: { name: 'e', deletionTimestamp: '2026-11-01T00:00:00Z' } }, { old: eviction() }),
    silence
  )
})
