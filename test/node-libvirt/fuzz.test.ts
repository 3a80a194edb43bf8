import t from 'tap'
import { fuzz } from './fuzz.ts'

t.test('1,000,000 damaged frames: refused or decoded, no crash, no hang, no growth', async t => {
  Error.stackTraceLimit = 0 // nobody looks at them
  fuzz(20_000, 1) // so that what is compiled and cached once is there
  const before = process.memoryUsage.rss()
  const { refused } = fuzz(1_000_000, 42)
  t.ok(refused > 300_000 && refused < 1_000_000, `${refused} refused`)
  const grownMiB = (process.memoryUsage.rss() - before) / 2 ** 20
  t.ok(grownMiB < 128, `${grownMiB.toFixed(0)} MiB more`)
})
