import t from 'tap'
import { delayOf, retry, type RetryPolicy } from '../../shared/runtime/retry.ts'

const policy: RetryPolicy = { attempts: 4, minDelayMs: 100, maxDelayMs: 350, jitter: 0 }

const failing = (times: number, error: Error = new Error('again')) => {
  const seen: number[] = []
  return {
    seen,
    attempt: async (n: number) => {
      seen.push(n)
      if (n <= times) throw error
      return 'done'
    }
  }
}
const recorded = () => {
  const waits: number[] = []
  return { waits, delay: async (ms: number) => void waits.push(ms) }
}

t.test('until it succeeds', async t => {
  const { seen, attempt } = failing(3)
  const { waits, delay } = recorded()
  t.equal(await retry(policy, attempt, { delay }), 'done')
  t.strictSame(seen, [1, 2, 3, 4])
  t.strictSame(waits, [100, 200, 350], 'growing, bounded')
})

t.test('until the tries are used up', async t => {
  await t.rejects(retry(policy, failing(9).attempt, { delay: recorded().delay }), { message: 'again' })
})

t.test('not when the error says that it is final', async t => {
  const { seen, attempt } = failing(9, Object.assign(new Error('no'), { retryable: false }))
  await t.rejects(retry(policy, attempt), { message: 'no' })
  t.strictSame(seen, [1])
})

t.test('jitter takes its share', async t => {
  t.equal(
    delayOf({ ...policy, jitter: 0.5 }, 1, () => 1),
    50
  )
  t.equal(
    delayOf({ ...policy, jitter: 1 }, 1, () => 0.25),
    75
  )
})

t.test('an abort ends the wait, and no try is made after it', async t => {
  const stop = new AbortController()
  const { seen, attempt } = failing(9)
  const onRetry = () => stop.abort()
  await t.rejects(retry({ ...policy, minDelayMs: 60_000, maxDelayMs: 60_000 }, attempt, { signal: stop.signal, onRetry }), {
    name: 'AbortError'
  })
  await t.rejects(retry(policy, attempt, { signal: stop.signal }), { name: 'AbortError' })
  t.strictSame(seen, [1])
})
