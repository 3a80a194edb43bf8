// What becomes of a review whose stored object another version of Drover wrote.
import t from 'tap'
import { review } from '../../../functions/admission/handler.ts'
import { readReview } from '../../../functions/admission/review.ts'
import { deps, golden, reviewOf } from './fuzz-bases.ts'

interface Answered {
  response: { allowed: boolean; auditAnnotations?: { refused?: string } }
}

const update = async (spec: object, old: object): Promise<Answered['response']> => {
  const asked = reviewOf('vitistack.io', 'machines', { ...golden, spec }, { operation: 'UPDATE', oldObject: old })
  return (JSON.parse(await review(readReview(asked), deps)) as Answered).response
}
const before = { template: 'small', disks: [{ name: 'data', size: '1Gi' }] }

t.test('A16: a status in words that this version does not know makes no disk forgotten', async t => {
  const old = { ...golden, spec: before, status: { phase: 'Hibernating' } }
  t.match(await update({ template: 'small' }, old), { allowed: false, auditAnnotations: { refused: 'A16' } })
  t.match(await update({ ...before, powerState: 'Stopped' }, old), { allowed: true })
})

t.test('nor does a spec whose limits are narrower today', async t => {
  const old = { ...golden, spec: { ...before, bootOrder: ['floppy'] } }
  t.match(await update({ template: 'small' }, old), { allowed: false, auditAnnotations: { refused: 'A16' } })
})

t.test('A18: what no rule can read may be put right', async t => {
  const old = { ...golden, spec: { template: 'small', disks: 'none' } }
  t.match(await update({ template: 'small' }, old), { allowed: true })
})
