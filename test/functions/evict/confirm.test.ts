// EV-17: the confirmation of a cold move.
import t from 'tap'
import { judge } from '../../../functions/evict/judge.ts'
import type { Entry } from '../../../functions/evict/seen.ts'
import { place, seen } from './seen.ts'
import { agoMs, now, record, server } from './server.ts'
import { options } from './options.ts'

const resized = server({ host: 'hv2', status: 'VERIFY_RESIZE', vmState: 'resized' })
const cold = [record({ type: 'migration', status: 'finished' })]

t.test('EV-17: a cold move is confirmed; after each refusal again in 5 s, three times', async t => {
  const state = { id: 's', name: 's', attempts: 0, state: 'Confirming', reason: 'Confirming' } as const
  const confirm = { call: { do: 'confirm', server: 's' } as const }
  const found = (before: Partial<Entry>) => {
    const {
      server: _,
      here: __,
      ...rest
    } = judge('s', resized, { id: 's', state: 'Confirming', ...before }, cold, seen(), place, options)
    return rest
  }
  const refused = (confirmFailures: number, ms: number) => ({ confirmFailures, message: 'no', finishedAt: agoMs(ms) })
  t.strictSame(found({ message: 'of before' }), { entry: { ...state, confirmFailures: 0 }, ...confirm })
  t.strictSame(found({ finishedAt: agoMs(1) }), { entry: { ...state, confirmFailures: 0, finishedAt: agoMs(1) }, ...confirm })
  t.strictSame(found(refused(1, 4999)), { entry: { ...state, ...refused(1, 4999) }, dueMs: now + 1 })
  t.strictSame(found(refused(2, 5000)), { entry: { ...state, ...refused(2, 5000) }, ...confirm })
  t.strictSame(found({ confirmFailures: 1 }), { entry: { ...state, confirmFailures: 1 }, ...confirm })
  t.strictSame(found(refused(3, 0)), { entry: { ...state, ...refused(3, 0), state: 'Failed', reason: 'ConfirmFailed' } })
})
