import t from 'tap'
import { Crowded, keyLock } from '../../shared/runtime/key-lock.ts'

t.test('in the order they came, a failing one not in the way', async t => {
  const lock = keyLock()
  const order: number[] = []
  const task = (n: number) =>
    lock('k', async () => {
      order.push(n)
      await new Promise(resolve => setImmediate(resolve))
      if (n === 1) throw new Error('one')
      return n
    })
  const results = await Promise.allSettled([task(0), task(1), task(2), task(3)])
  t.strictSame(order, [0, 1, 2, 3])
  t.strictSame(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled']
  )
})

t.test('a newcomer does not overtake one that waits', async t => {
  const lock = keyLock()
  const order: string[] = []
  const first = lock('k', async () => void order.push('first'))
  const second = lock('k', async () => void order.push('second'))
  const third = first.then(() => lock('k', async () => void order.push('third')))
  await Promise.all([first, second, third])
  t.strictSame(order, ['first', 'second', 'third'])
})

t.test('what waits is bounded over all keys, and room comes back', async t => {
  const lock = keyLock({ maxWaiting: 2 })
  const gate = Promise.withResolvers<void>()
  const held = [lock('a', () => gate.promise), lock('b', () => gate.promise)]
  const waiting = [lock('a', async () => {}), lock('b', async () => {})]
  await t.rejects(
    lock('a', async () => {}),
    Crowded
  )
  await lock('c', async () => {})
  gate.resolve()
  await Promise.all([...held, ...waiting])
  const again = [lock('a', async () => {}), lock('a', async () => {})]
  t.strictSame(await Promise.all(again), [undefined, undefined])
})
