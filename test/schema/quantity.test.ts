import { assert, maxSafeInteger, nat, property } from 'fast-check'
import t from 'tap'
import { parseQuantity, toNumber } from '../../shared/schema/quantity.ts'

const billion = 10n ** 9n
const cases: Array<[text: string | number, billionths: bigint | undefined]> = [
  ['0', 0n],
  [5, 5n * billion],
  ['+5', 5n * billion],
  ['-5', -5n * billion],
  ['1Ki', 1024n * billion],
  ['1.5Gi', 1536n * 1024n * 1024n * billion],
  ['.5', billion / 2n],
  ['5.', 5n * billion],
  ['500m', billion / 2n],
  ['1u', 1000n],
  ['1n', 1n],
  ['0.1n', 1n], // finer than a billionth: rounded away from zero
  ['-0.1n', -1n],
  ['1e3', 1000n * billion],
  ['1E', 10n ** 18n * billion],
  ['1E3', 1000n * billion],
  ['12e-1', 12n * 10n ** 8n],
  ['1e999999999', 10n ** 99n * billion], // bounded, and at once
  ['1e-999999999', 1n],
  ['', undefined],
  ['Gi', undefined],
  ['4GB', undefined],
  ['1 Gi', undefined],
  ['1.2.3', undefined],
  ['1K', undefined]
]

for (const [text, billionths] of cases) t.test(`quantity ${text}`, async t => t.equal(parseQuantity(text), billionths))

t.test('whole numbers and thousandths come out as they went in', async t => {
  const whole = property(maxSafeInteger(), n => parseQuantity(n) === BigInt(n) * billion)
  const thousandths = property(nat(), n => toNumber(parseQuantity(`${n}m`) ?? -1n) === n / 1000)
  t.doesNotThrow(() => assert(whole))
  t.doesNotThrow(() => assert(thousandths))
})
