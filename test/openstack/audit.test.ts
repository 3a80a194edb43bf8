import t from 'tap'
import { historyAfter, tellActions, type Action, type Line } from '../../shared/openstack/audit.ts'
import { hypervisor } from '../functions/host-life/fixtures.ts'
import { testPlatform } from '../runtime/platform.ts'
import { matchWhole } from '../assert/match-whole.ts'

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 16, 12, 0, second))
const joined: Action = { kind: 'aggregate general', from: 'not a member', to: 'member', reason: 'Succeeded' }
const left: Action = { kind: 'aggregate tests', from: 'member', to: 'not a member', reason: 'Succeeded' }

void t.test('HV-67: an action is a line of the history: actor, reason, before, after', async t => {
  const [line, ...more] = historyAfter(undefined, 'drover-aggregates', [joined], at(1))
  t.strictSame(more, [])
  t.match(line, { ...joined, actor: 'drover-aggregates', time: '2026-11-16T12:00:01Z' })
  t.strictSame(historyAfter(line && [line], 'drover-aggregates', [], at(2)), [line], 'kept by repeating it')
  t.strictSame(historyAfter(line && [line], 'drover-traits', [], at(2)), [], 'what others wrote is theirs')
  t.strictSame(historyAfter(line && [line], 'drover-aggregates', [joined], at(2)), [line], 'the same again is not news')
  t.equal(historyAfter(line && [line], 'drover-aggregates', [left, joined], at(2)).length, 2)
})

void t.test('HV-5: no two lines share an id, and the newest twenty of all writers are kept', async t => {
  const others = Array.from({ length: 12 }, (_, n): Line => ({ id: `o${n}`, time: at(n).toISOString(), actor: 'drover-traits' }))
  let own: Line[] = []
  for (let n = 0; n < 30; n++) {
    const now = at(20 + n)
    own = historyAfter([...others, ...own], 'drover-aggregates', [n % 2 === 0 ? joined : left, { ...joined, to: `x${n}` }], now)
    t.equal(new Set(own.map(({ id }) => id)).size, own.length)
  }
  t.equal(own.length, 20)
  t.equal(own.at(-1)?.time, '2026-11-16T12:00:49Z')
  const long = historyAfter(undefined, 'a', [{ ...joined, reason: 'x'.repeat(5000) }], at(1))
  t.ok((long[0]?.reason?.length ?? 0) <= 256)
  t.strictSame(historyAfter(long, 'a', [{ ...joined, reason: 'x'.repeat(5000) }], at(2)), long)
})

void t.test('HV-67: each action is told as an Event and logged', async t => {
  const platform = testPlatform()
  const notes: string[] = []
  const kube = { event: async (_: object, { note }: { note: string }) => void notes.push(note) }
  await tellActions(hypervisor(), 'drover-aggregates', [joined, { kind: 'test x', to: 'ordered', reason: 'why' }], {
    log: platform.log,
    kube: kube as unknown as Parameters<typeof tellActions>[3]['kube']
  })
  t.strictSame(notes, ['aggregate general: not a member → member (Succeeded)', 'test x: ordered (why)'])
  matchWhole(t, platform.lines(), [
    { host: 'host-1', actor: 'drover-aggregates', before: 'not a member', after: 'member', reason: 'Succeeded' },
    { action: 'test x' }
  ])
})
