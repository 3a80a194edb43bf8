import t from 'tap'
import type { Condition, Verdict } from '../../shared/kube/conditions.ts'
import { conditionSet, findCondition, isFalse, isTrue } from '../../shared/kube/conditions.ts'
import { matchWhole } from '../assert/match-whole.ts'

const now = new Date('2026-03-04T05:06:07.890Z')
const verdict = (change: Partial<Verdict> = {}): Verdict => ({
  type: 'Ready',
  status: 'True',
  reason: 'Fine',
  message: 'all well',
  ...change
})
const before: Condition[] = [
  { type: 'Theirs', status: 'False', reason: 'Other', message: '', lastTransitionTime: '2001-01-01T00:00:00Z' },
  {
    type: 'Ready',
    status: 'True',
    reason: 'Fine',
    message: 'all well',
    lastTransitionTime: '2002-02-02T00:00:00Z',
    observedGeneration: 1
  }
]

const cases: Array<[name: string, previous: Condition[] | undefined, wanted: Verdict, then: Partial<Condition>]> = [
  ['HV-6: a new condition turns now, in whole seconds', undefined, verdict(), { lastTransitionTime: '2026-03-04T05:06:07Z' }],
  ['HV-6: the same status keeps its time', before, verdict(), { lastTransitionTime: '2002-02-02T00:00:00Z' }],
  [
    'HV-6: another reason and message keep the time',
    before,
    verdict({ reason: 'Better', message: 'very well' }),
    { lastTransitionTime: '2002-02-02T00:00:00Z', reason: 'Better', message: 'very well' }
  ],
  [
    'HV-6: another status moves the time',
    before,
    verdict({ status: 'False' }),
    { lastTransitionTime: '2026-03-04T05:06:07Z', status: 'False' }
  ],
  ['HV-6: Unknown is another status', before, verdict({ status: 'Unknown' }), { lastTransitionTime: '2026-03-04T05:06:07Z' }],
  [
    'HV-6: the time of another type is not taken',
    before,
    verdict({ type: 'New' }),
    { lastTransitionTime: '2026-03-04T05:06:07Z' }
  ],
  ['HV-6: the generation is the one that was looked at', before, verdict(), { observedGeneration: 4 }]
]
for (const [name, previous, wanted, then] of cases) {
  t.test(name, async t => matchWhole(t, conditionSet(previous, [wanted], now, 4), [then]))
}

t.test('HV-5: only the wanted ones are returned, in their order', async t => {
  const types = conditionSet(before, [verdict({ type: 'B' }), verdict(), verdict({ type: 'A' })], now).map(({ type }) => type)
  t.strictSame(types, ['B', 'Ready', 'A'])
})

t.test('without a generation there is no observedGeneration', async t => {
  t.notOk('observedGeneration' in conditionSet(before, [verdict()], now)[0]!)
})

t.test('a second run over its own result changes nothing', async t => {
  const first = conditionSet(before, [verdict()], now, 4)
  t.strictSame(conditionSet(first, [verdict()], new Date(), 4), first)
})

t.test('HV-6: a message ends at 1 KiB, within no character', async t => {
  for (const character of ['a', 'ü', '漢', '🐂']) {
    for (const length of [1, 255, 256, 341, 342, 512, 513, 1024, 1025, 4000]) {
      const whole = character.repeat(length)
      const { message } = conditionSet(undefined, [verdict({ message: whole })], now)[0]!
      t.ok(Buffer.byteLength(message) <= 1024)
      if (Buffer.byteLength(whole) <= 1024) t.equal(message, whole)
      else t.equal(message, `${character.repeat((message.length - 1) / character.length)}…`)
    }
  }
})

t.test('HV-6: neither a missing nor an unknown condition is success, or failure', async t => {
  const object = { status: { conditions: [...before, { type: 'Odd', status: 'Perhaps' }] } }
  t.match(findCondition(object, 'Ready'), { reason: 'Fine' })
  t.ok(isTrue(object, 'Ready'))
  t.ok(isFalse(object, 'Theirs'))
  for (const type of ['Odd', 'Missing']) t.notOk(isTrue(object, type) || isFalse(object, type))
  for (const empty of [undefined, {}, { status: {} }]) t.notOk(isTrue(empty, 'Ready') || isFalse(empty, 'Ready'))
})
