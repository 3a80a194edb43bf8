import * as fc from 'fast-check'
import t from 'tap'
import { many } from '../many.ts'
import { parseJson } from '../../shared/ovsdb-client/src/json.ts'
import { JsonStream } from '../../shared/ovsdb-client/src/json-stream.ts'

const bytes = (text: string) => Buffer.from(text)

/** What comes out when the input is cut at these places. */
function split(input: Uint8Array, cuts: readonly number[], stream = new JsonStream()): string[] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), input.length]
  return places.flatMap((from, at) => stream.push(input.subarray(from, places[at + 1])).map(({ text }) => text))
}

const messages = [
  '{}',
  '{"id":0,"result":[],"error":null}',
  String.raw`{"a":"}{][","b":"\"}","c":"\\","d":"\\\"{"}`,
  '{"umlaut":"ä","euro":"€","clef":"𝄞","key 𝄞":[{"x":[[]]}]}',
  '{"n":-9223372036854775808}'
]
const together = messages.join(' \n')

t.test('OV-11 splits at nesting, wherever the bytes are cut', async t => {
  const input = bytes(together)
  for (let cut = 0; cut <= input.length; cut++) t.strictSame(split(input, [cut]), messages, `cut at ${cut}`)
  const everyByte = Array.from(input, (_, at) => at)
  t.strictSame(split(input, everyByte), messages, 'byte for byte')
})

t.test('two cuts in every pair of places', async t => {
  const input = bytes(messages.slice(2, 4).join(''))
  let wrong = 0
  for (let first = 0; first < input.length; first++) {
    for (let second = first; second < input.length; second++)
      if (split(input, [first, second]).join('') !== input.toString()) wrong++
  }
  t.equal(wrong, 0)
})

t.test('a long number is pointed out, digits in strings are not', async t => {
  const wide = (text: string) => new JsonStream().push(bytes(text)).map(message => message.wide)
  t.strictSame(wide('{"a":9007199254740993}{"a":1}'), [true, false])
  t.strictSame(wide('{"a":"9007199254740993"}'), [false])
  t.strictSame(wide('{"a":[123456789012345,123456789012345]}'), [false])
})

const broken: Array<[name: string, input: string | Uint8Array, code: string]> = [
  ['garbage before a message', 'hello{}', 'protocol'],
  ['garbage behind a message', '{}]', 'protocol'],
  ['a list', '[1]', 'protocol'],
  ['a closing brace', '}', 'protocol'],
  ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), 'protocol'],
  ['too deep', `{"a":${'['.repeat(1000)}`, 'protocol'],
  ['too long, complete', `{"a":"${'x'.repeat(1000)}"}`, 'too-large'],
  ['too long, not yet complete', `{"a":"${'x'.repeat(1000)}`, 'too-large']
]
for (const [name, input, code] of broken) {
  t.test(`OV-11 refuses ${name}`, async t => {
    t.throws(() => new JsonStream(999).push(Buffer.from(input)), { name: 'OvsdbError', code })
  })
}

t.test('brackets that do not match are a message, but not JSON', async t => {
  const [message] = new JsonStream().push(bytes('{"a":[}]'))
  t.ok(message)
  t.throws(() => message && parseJson(message), { code: 'protocol' })
})

t.test('a message of many chunks counts against the bound as a whole', async t => {
  const stream = new JsonStream(100)
  stream.push(bytes('{"a":"'))
  for (let i = 0; i < 9; i++) stream.push(bytes('x'.repeat(10)))
  t.throws(() => stream.push(bytes('x'.repeat(10))), { code: 'too-large' })
})

t.test('fuzz: any objects, cut anywhere, come out as they went in', async t => {
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.integer(),
    fc.constantFrom('"', '\\', '}{', null, true, [], [{}], { '[': '\\"' })
  )
  const object = fc.dictionary(fc.string({ unit: 'binary', maxLength: 3 }), value, { maxKeys: 3 })
  const property = fc.property(fc.array(object, { maxLength: 3 }), fc.array(fc.nat(80), { maxLength: 3 }), (objects, cuts) => {
    const texts = objects.map(each => JSON.stringify(each))
    const input = bytes(texts.join(''))
    const out = split(
      input,
      cuts.filter(cut => cut <= input.length)
    )
    return out.length === texts.length && out.every((text, at) => text === texts[at])
  })
  t.equal(fc.check(property, { numRuns: many(50_000) }).failed, false)
})

t.test('fuzz: no bytes make it do anything but answer or refuse', async t => {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 24 }),
    fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', '1', ' ', 'é'), maxLength: 24 }).map(bytes)
  )
  const property = fc.property(noise, input => {
    try {
      new JsonStream(20).push(input).forEach(parseJson)
      return true
    } catch (error) {
      return (error as Error).name === 'OvsdbError'
    }
  })
  t.equal(fc.check(property, { numRuns: many(50_000) }).failed, false)
})
