// A disk paused a server (ha.md §2): once it is resumed, by the agent, as the status asks for it.
import t from 'tap'
import { wishesOf } from '../../../agents/hypervisor/work/resume.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import type { Policy } from '../../../functions/ha/policy.ts'
import { diskFailed } from '../../../shared/events/libvirt.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { calls, drover, evidence, iso, serverId, startMs, world, type World } from './fixtures.ts'

const s = 1000
const full = { device: 'vda', path: '/dev/sda', action: 'pause', reason: 'enospc' }
const paused = (policy: Policy = drover): World => world({}, policy).domain('paused').tell(diskFailed, full)
const wishes = ({ hypervisor, nowMs }: World) => wishesOf(hypervisor, nowMs)
const states = ({ ha }: World) => ha.history?.map(({ state }) => state) ?? []

t.test('its disk is well again: resumed, and after a minute it counts as recovered', async t => {
  const it = paused().pass(29)
  t.strictSame(wishes(it), [], 'short outages heal by themselves')
  it.pass(2)
  t.equal(it.ha.incidents?.[0]?.state, 'Resuming')
  t.strictSame(wishes(it), [{ server: serverId(), at: iso(startMs + 30 * s) }])
  it.domain('running').pass(3)
  t.equal(it.ha.incidents?.[0]?.state, 'Proving')
  t.strictSame(wishes(it), [])
  it.pass(61)
  matchWhole(t, it.ha.history, [{ state: 'Recovered', action: 'resume' }])
  t.strictSame(calls(it), [], 'Nova has no part in it')
})

t.test('its disk is still broken: once, then a report', async t => {
  const never = paused().pass(60)
  t.strictSame(states(never), ['Reported'])
  const again = paused().pass(31).domain('running').pass(3)
  again.domain('paused').tell(diskFailed, full).pass(120)
  t.strictSame(states(again), ['Reported'])
  t.equal(again.ha.incidents?.[0]?.attempts?.length, 1)
  t.strictSame(wishes(again), [])
})

t.test(
  'not resumed: observed, switched off, unwanted, paused by somebody, a storage outage; and an old wish is none',
  async t => {
    t.strictSame(states(paused(parsePolicy('mode: observe')).pass(60)), ['WouldResume'])
    t.strictSame(states(paused(parsePolicy('mode: external')).pass(60)), ['Reported'])
    const cases: Array<[string, World]> = [
      ['switched off', paused(parsePolicy('mode: drover\nvm: { resumeAfterDisk: false }'))],
      ['its owner says no', paused().nova({ metadata: { HA_Enabled: 'false' } })],
      ['paused by a user', paused().nova({ status: 'PAUSED', vmState: 'paused' })]
    ]
    for (const [name, it] of cases) t.strictSame(wishes(it.pass(31)), [], name)
    const outage = paused()
    for (const n of [2, 3]) {
      outage.evidence.set(serverId(n), evidence({ id: serverId(n) }))
      outage.tell(diskFailed, { ...full, server: serverId(n), path: 'rbd:vms/x' })
    }
    outage.tell(diskFailed, { ...full, path: 'rbd:vms/x' })
    const faults = [{ server: serverId(9), kind: 'disk', atMs: startMs, storage: 'rbd:vms' }]
    outage.fleet = [{ name: 'b', domains: 10, faults, signals: [] }]
    t.strictSame(wishes(outage.pass(31)), [], 'a storage outage')
    const old = paused().pass(31)
    t.equal(wishes(old).length, 1)
    t.strictSame(wishesOf(old.hypervisor, old.nowMs + 60 * s), [])
  }
)
