import t from 'tap'
import { eventKinds, procedures, toSafeNumber } from 'node-libvirt'
import { eventRows } from '../../shared/node-libvirt/src/events/index.ts'

const isRow = (value: unknown): value is { number: number } => typeof value === 'object' && value !== null && 'number' in value

t.test('no procedure number occurs twice, and each is one that libvirt has', async t => {
  const numbers = Object.values<unknown>(procedures)
    .filter(isRow)
    .map(({ number }) => number)
  t.equal(new Set(numbers).size, numbers.length)
  t.ok(numbers.length > 50)
  for (const number of numbers) t.ok(Number.isInteger(number) && number >= 1 && number <= 453, `${number}`)
})

t.test('event kinds 0 to 25, each once, in that order', async t => {
  t.strictSame(
    eventKinds.map(kind => eventRows[kind].id),
    Array.from({ length: 26 }, (_, id) => id)
  )
  t.equal(new Set(eventKinds.map(kind => eventRows[kind].number)).size, 26)
})

t.test('64-bit values become numbers only where they are exact', async t => {
  t.equal(toSafeNumber(9_007_199_254_740_991n), Number.MAX_SAFE_INTEGER)
  t.throws(() => toSafeNumber(9_007_199_254_740_992n), { code: 'argument' })
  t.throws(() => toSafeNumber(-9_007_199_254_740_992n), { code: 'argument' })
})

t.test('versions', async t => t.equal(procedures.formatVersion(9_000_012n), '9.0.12'))
