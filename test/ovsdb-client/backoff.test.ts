import t from 'tap'
import { defaultBackoff, waitMs } from '../../shared/ovsdb-client/src/backoff.ts'

const waits = (remotes: number, random: number, attempts: number) =>
  Array.from({ length: attempts }, (_, attempt) => waitMs(attempt, remotes, defaultBackoff, () => random))

t.test('OV-16 at once, then 100 ms doubling to 1 s', async t =>
  t.strictSame(waits(1, 1, 8), [0, 100, 200, 400, 800, 1000, 1000, 1000])
)
t.test('OV-16 jittered down to a half', async t => t.strictSame(waits(1, 0, 6), [0, 50, 100, 200, 400, 500]))
t.test('every remote once before the first wait, then a wait for each round', async t =>
  t.strictSame(waits(3, 1, 9), [0, 0, 0, 100, 0, 0, 200, 0, 0])
)
