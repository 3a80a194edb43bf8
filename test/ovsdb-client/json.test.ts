import * as fc from 'fast-check'
import t from 'tap'
import { exactInteger, parseJson } from '../../shared/ovsdb-client/src/json.ts'
import { JsonStream } from '../../shared/ovsdb-client/src/json-stream.ts'

const read = (text: string) => new JsonStream().push(Buffer.from(text)).map(parseJson)[0]

const numbers: Array<[text: string, value: unknown]> = [
  ['0', 0],
  ['-1', -1],
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', 9007199254740992n],
  ['9007199254740993', 9007199254740993n],
  ['9223372036854775807', 9223372036854775807n],
  ['-9223372036854775808', -9223372036854775808n],
  ['1.5', 1.5],
  ['0.12345678901234567890', 0.12345678901234568],
  ['1e+20', 1e20],
  ['123456789012345678901', 1.2345678901234568e20]
]
for (const [text, value] of numbers) {
  t.test(`OV-4 ${text} is read with all its digits`, async t =>
    t.strictSame(read(`{"a":[{"b":${text}}]}`), { a: [{ b: value }] })
  )
}

t.test('OV-4 fuzz: a 64-bit integer is the same after a way there and back', async t => {
  const property = fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), value => {
    const back = (read(JSON.stringify({ value: exactInteger(value) })) as { value: number | bigint }).value
    return BigInt(back) === value
  })
  t.equal(fc.check(property, { numRuns: 20_000 }).failed, false)
})

t.test('what needs more than 64 bits is refused', async t => {
  t.throws(() => exactInteger(2n ** 63n), { code: 'notation', retryable: false })
  t.throws(() => exactInteger(-(2n ** 63n) - 1n), { code: 'notation' })
})

t.test('what is not JSON is a breach of the protocol', async t => {
  t.throws(() => parseJson({ text: '{"a":}', wide: false }), { code: 'protocol' })
  t.throws(() => parseJson({ text: '{"a":1234567890123456,}', wide: true }), { code: 'protocol' })
})
