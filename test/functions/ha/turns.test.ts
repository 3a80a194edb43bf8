import t from 'tap'
import { turns } from '../../../functions/ha/turns.ts'

t.test('HA-17: so many at a time, in order, and a failure gives its turn on', async t => {
  const inTurn = turns(2)
  let [now, most] = [0, 0]
  const begun: number[] = []
  const one = (n: number): Promise<number> =>
    inTurn(async () => {
      begun.push(n)
      most = Math.max(most, ++now)
      await Promise.resolve()
      now--
      if (n === 1) throw new Error('failed')
      return n
    })
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map(one))
  t.equal(most, 2)
  t.strictSame(begun, [0, 1, 2, 3, 4])
  t.strictSame(
    results.map(({ status }) => status === 'fulfilled'),
    [true, false, true, true, true]
  )
  t.equal(await one(5), 5)
})
