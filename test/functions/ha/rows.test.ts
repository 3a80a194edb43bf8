// One server: every row of ha.md §2, as a table over the pure functions.
import t from 'tap'
import { rows } from '../../../functions/ha/reactions.ts'
import * as libvirt from '../../../shared/events/libvirt.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { calls, drover, iso, startMs, world } from './fixtures.ts'
import { table, toldOf, type Beside } from './table.ts'

const { domainControlLost } = libvirt

for (const row of table) {
  const { name, after, control, task, waits, ends, calls: expected } = row
  t.test(`ha.md §2: ${name}`, async t => {
    const it = world()
    if (after !== undefined) it.domain(after === 'gone' ? undefined : after)
    if (control !== undefined) it.control(control, control === 'error' ? 'monitor' : 'none')
    if (task !== undefined) it.nova({ taskState: task })
    for (const [kind, data, afterMs] of toldOf(row)) it.tell(kind, data, startMs + afterMs)
    it.pass(waits)
    t.strictSame(calls(it), expected)
    t.equal(it.ha.history?.at(-1)?.state, ends)
  })
}

t.test('ha.md §2: control info from before the event confirms nothing; by policy it is restarted', async t => {
  const it = world({}, parsePolicy('mode: drover\nvm: { answer: { controlLost: restart } }')).control('error', 'monitor')
  it.nowMs += 60_000
  it.tell(domainControlLost).pass(10)
  t.strictSame(calls(it), [], 'asked a minute ago')
  matchWhole(t, it.ha.incidents, [{ state: 'Checking', rule: 'ControlNotConfirmed' }])
  it.control('error', 'monitor').pass(3)
  t.strictSame(calls(it), ['restart 01'])
  matchWhole(t, it.ha.incidents, [
    { rule: 'Fault', reason: /running and cannot be managed \(error, monitor\)/, inputs: { control: 'error, monitor' } }
  ])
})

t.test('every row is reached by some event of the table, or is about the host', async t => {
  const aboutHosts = new Set(
    [libvirt.shutdownRequested, libvirt.shutdownCancelled, libvirt.kernelCrashed].map(({ type }) => type)
  )
  const told = table.flatMap(toldOf)
  const taker = ([kind, data]: Beside) =>
    rows.find(row => row.kind.type === kind.type && row.hear({ at: iso(startMs), ...data } as never, undefined, drover))
  const reached = new Set(told.map(one => taker(one)))
  for (const row of rows) if (!aboutHosts.has(row.kind.type)) t.ok(reached.has(row), `${row.kind.type}: ${row.when}`)
})
