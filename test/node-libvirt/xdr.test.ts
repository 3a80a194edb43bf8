import * as fc from 'fast-check'
import t from 'tap'
import { readDomain, writeDomain } from '../../shared/node-libvirt/src/domain.ts'
import { readTypedParams, type TypedParam, writeTypedParams } from '../../shared/node-libvirt/src/typed-param.ts'
import { Reader } from '../../shared/node-libvirt/src/xdr/reader.ts'
import { Writer } from '../../shared/node-libvirt/src/xdr/writer.ts'

/** Written, read again, nothing left, and always a multiple of four bytes. */
function roundTrip<T>(write: (w: Writer) => unknown, read: (r: Reader) => T): T {
  const w = new Writer()
  write(w)
  const bytes = w.take()
  t.equal(bytes.length % 4, 0)
  const r = new Reader(bytes)
  const value = read(r)
  r.end()
  return value
}

const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const uint = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const llong = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const ullong = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const text = fc.string({ unit: 'grapheme' })

const same = <T>(name: string, values: fc.Arbitrary<T>, write: (w: Writer, v: T) => unknown, read: (r: Reader) => T) =>
  t.test(name, async t => {
    fc.assert(
      fc.property(values, v =>
        t.strictSame(
          roundTrip(w => write(w, v), read),
          v
        )
      )
    )
  })

void same(
  'int',
  int,
  (w, v) => w.int(v),
  r => r.int()
)
void same(
  'unsigned int',
  uint,
  (w, v) => w.uint(v),
  r => r.uint()
)
void same(
  'hyper',
  llong,
  (w, v) => w.hyper(v),
  r => r.hyper()
)
void same(
  'unsigned hyper',
  ullong,
  (w, v) => w.uhyper(v),
  r => r.uhyper()
)
void same(
  'double',
  fc.double(),
  (w, v) => w.double(v),
  r => r.double()
)
void same(
  'bool',
  fc.boolean(),
  (w, v) => w.bool(v),
  r => r.bool()
)
void same(
  'string',
  text,
  (w, v) => w.string(v),
  r => r.string()
)
void same(
  'nullable string',
  fc.option(text),
  (w, v) => w.optional(v, s => w.string(s)),
  r => r.optional(() => r.string())
)
void same(
  'list',
  fc.array(text),
  (w, v) => w.list(v, s => w.string(s)),
  r => r.list(() => r.string())
)
void same(
  'opaque',
  fc.uint8Array().map(bytes => Buffer.from(bytes)),
  (w, v) => w.opaque(v),
  r => r.opaque()
)
const plain = { noNullPrototype: true } // as a decoder makes them
void same('domain', fc.record({ name: text, uuid: fc.uuid(), id: int }, plain), writeDomain, readDomain)

const param: fc.Arbitrary<TypedParam> = fc.oneof(
  fc.record({ field: text, type: fc.constant('int' as const), value: int }, plain),
  fc.record({ field: text, type: fc.constant('uint' as const), value: uint }, plain),
  fc.record({ field: text, type: fc.constant('llong' as const), value: llong }, plain),
  fc.record({ field: text, type: fc.constant('ullong' as const), value: ullong }, plain),
  fc.record({ field: text, type: fc.constant('double' as const), value: fc.double() }, plain),
  fc.record({ field: text, type: fc.constant('boolean' as const), value: fc.boolean() }, plain),
  fc.record({ field: text, type: fc.constant('string' as const), value: text }, plain)
)
void same('typed parameters', fc.array(param), writeTypedParams, readTypedParams)

t.test('what does not fit is refused before it is sent', async t => {
  const w = new Writer()
  const cases: Array<[name: string, write: () => unknown]> = [
    ['int', () => w.int(2 ** 31)],
    ['fraction', () => w.int(0.5)],
    ['unsigned', () => w.uint(-1)],
    ['hyper', () => w.hyper(2n ** 63n)],
    ['unsigned hyper', () => w.uhyper(-1n)],
    ['string', () => w.string('x'.repeat(4_194_305))],
    ['uuid', () => writeDomain(w, { name: 'a', uuid: 'no', id: 1 })]
  ]
  for (const [name, write] of cases) t.throws(write, { name: 'LibvirtError', code: 'argument', retryable: false }, name)
})

t.test('what is damaged is an error, and costs no memory', async t => {
  const bytes = (hex: string) => new Reader(Buffer.from(hex, 'hex'))
  const cases: Array<[name: string, read: () => unknown]> = [
    ['half a word', () => bytes('0000').int()],
    ['a string longer than the frame', () => bytes('ffffffff61626364').string()],
    ['padding cut off', () => bytes('0000000161').string()],
    ['a list of four billion', () => bytes('ffffffff00000000').list(r => r.int())],
    ['a typed parameter of a type that nobody knows', () => readTypedParams(bytes('00000001000000000000000900000000'))],
    ['bytes left over', () => bytes('00000000').end()]
  ]
  for (const [name, read] of cases) t.throws(read, { name: 'LibvirtError', code: 'decode' }, name)
})

t.test('a writer grows, and is empty after take', async t => {
  const w = new Writer()
  const long = 'ä'.repeat(100_000)
  t.equal(new Reader(w.string(long).take()).string(), long)
  t.equal(w.int(1).take().length, 4)
})
