import t from 'tap'
import { EventQueue } from '../../shared/node-libvirt/src/event-queue.ts'

const value = <T>(value: T) => ({ done: false, value })
const done = { done: true, value: undefined }

t.test('in order, pushed before or after the listener asks', async t => {
  const queue = new EventQueue<number>({ capacity: 10 })
  const early = queue.next()
  queue.push(1)
  queue.push(2)
  t.strictSame(await early, value(1))
  t.strictSame(await queue.next(), value(2))
})

t.test('several may ask at once', async t => {
  const queue = new EventQueue<number>({ capacity: 10 })
  const asked = [queue.next(), queue.next(), queue.next()]
  for (const n of [1, 2, 3]) queue.push(n)
  t.strictSame(await Promise.all(asked), [value(1), value(2), value(3)])
})

t.test('a full queue keeps the oldest, says how many were lost, and goes on', async t => {
  const queue = new EventQueue<number>({ capacity: 2 })
  for (const n of [1, 2, 3, 4, 5]) queue.push(n)
  t.strictSame(await queue.next(), value(1))
  queue.push(6) // room again, but it would come before the news of the loss
  t.strictSame(await queue.next(), value(2))
  t.strictSame(await queue.next(), value({ kind: 'overflow', dropped: 4 }))
  queue.push(7)
  t.strictSame(await queue.next(), value(7))
})

t.test('an end with an error: first what is queued, then the error, once', async t => {
  const queue = new EventQueue<number>({ capacity: 2 })
  queue.push(1)
  queue.end(new Error('lost'))
  queue.push(2)
  t.strictSame(await queue.next(), value(1))
  await t.rejects(queue.next(), /lost/)
  t.strictSame(await queue.next(), done)
})

t.test('an end wakes who waits', async t => {
  const queue = new EventQueue<number>({ capacity: 2 })
  const waiting = queue.next()
  queue.end()
  t.strictSame(await waiting, done)
})

t.test('a listener that leaves is told to the owner, and frees the queue', async t => {
  let left = 0
  const queue = new EventQueue<number>({ capacity: 2, onReturn: async () => void left++ })
  for (const n of [1, 2, 3]) queue.push(n)
  for await (const n of queue) {
    t.equal(n, 1)
    break
  }
  t.equal(left, 1)
  t.strictSame(await queue.next(), done)
})
