import * as fc from 'fast-check'
import t from 'tap'
import { column } from '../../shared/ovsdb-client/src/column.ts'
import { type Value, encodeValue, named, uuid } from '../../shared/ovsdb-client/src/notation.ts'

const { string, boolean, real, integer, safeInteger, optional, set, map } = column
const id = '5739687c-e054-4297-aa8c-bfcfb7d72e8a'
const wire = (value: Value): unknown => JSON.parse(JSON.stringify(encodeValue(value)))

const written: Array<[name: string, value: Value, wire: unknown]> = [
  ['a string', 'br0', 'br0'],
  ['a boolean', true, true],
  ['a number', 1.5, 1.5],
  ['a bigint', 5n, 5],
  ['a uuid', uuid(id), ['uuid', id]],
  ['a row of the same transaction', named('new_port'), ['named-uuid', 'new_port']],
  ['the empty set', [], ['set', []]],
  ['a list', ['a', 'b'], ['set', ['a', 'b']]],
  ['a set of uuids', new Set([uuid(id)]), ['set', [['uuid', id]]]],
  ['two strings that look like a uuid on the wire', ['uuid', id], ['set', ['uuid', id]]],
  [
    'an object',
    { a: 'b', c: 1 },
    [
      'map',
      [
        ['a', 'b'],
        ['c', 1]
      ]
    ]
  ],
  ['a map', new Map([[1, uuid(id)]]), ['map', [[1, ['uuid', id]]]]],
  ['an empty object', {}, ['map', []]]
]
for (const [name, value, then] of written) t.test(`writes ${name}`, async t => t.strictSame(wire(value), then))

const unwritable: Array<[name: string, make: () => unknown]> = [
  ['a uuid that is none', () => uuid('5739687c')],
  ['a name that is none', () => named('a-b')],
  ['a null character', () => encodeValue('a\0b')],
  ['half a surrogate pair', () => encodeValue(['\ud800'])],
  ['a bad key', () => encodeValue({ '\0': 1 })],
  ['infinity', () => encodeValue(Infinity)],
  ['not a number', () => encodeValue({ a: NaN })],
  ['more than 64 bits', () => encodeValue(2n ** 64n)]
]
for (const [name, make] of unwritable) t.test(`refuses to write ${name}`, async t => t.throws(make, { code: 'notation' }))

type Read = { decode: (wire: unknown) => unknown }
const read: Array<[name: string, column: Read, wire: unknown, value: unknown]> = [
  ['OV-13 a set of one as the bare element', set(string), 'a', new Set(['a'])],
  ['OV-13 a set of one uuid', set(column.uuid), ['uuid', id], new Set([id])],
  ['a set of many', set(safeInteger), ['set', [1, 2]], new Set([1, 2])],
  ['OV-13 an absent optional as the empty set', optional(string), ['set', []], undefined],
  ['an optional', optional(integer), 7, 7n],
  ['a map', map(string, integer), ['map', [['rx', 2]]], new Map([['rx', 2n]])],
  ['an integer as a bigint', integer, 7, 7n],
  ['a large integer', integer, 2n ** 62n, 2n ** 62n],
  ['a real without a fraction', real, 3, 3],
  ['a large real', real, 2n ** 60n, 2 ** 60]
]
for (const [name, { decode }, given, then] of read) t.test(`reads ${name}`, async t => t.strictSame(decode(given), then))

const unreadable: Array<[name: string, column: Read, wire: unknown]> = [
  ['a number for a string', string, 1],
  ['a string for a boolean', boolean, 'true'],
  ['a fraction for an integer', integer, 1.5],
  ['OV-4 an integer beyond 2^53 for a number', safeInteger, 2n ** 53n],
  ['a string for a uuid', column.uuid, id],
  ['a malformed uuid', column.uuid, ['uuid', 'x']],
  ['two elements for an optional', optional(string), ['set', ['a', 'b']]],
  ['a set for a map', map(string, string), ['set', []]],
  ['half a pair', map(string, string), ['map', [['a']]]],
  ['a set inside a set', set(string), ['set', [['set', []]]]],
  ['nothing', string, undefined]
]
for (const [name, { decode }, given] of unreadable)
  t.test(`refuses ${name}`, async t => t.throws(() => decode(given), { code: 'notation' }))

const text = fc.string({ maxLength: 4 }).filter(value => !value.includes('\0'))
const int64 = fc.bigInt(-(2n ** 53n), 2n ** 53n)

t.test('fuzz: what is written is read as it was', async t => {
  const sets = fc.property(fc.uniqueArray(text, { maxLength: 4 }), values =>
    set(string).same(set(string).decode(wire(values)), new Set(values))
  )
  const maps = fc.property(fc.array(fc.tuple(text, int64), { maxLength: 4 }), pairs => {
    const given = new Map(pairs)
    return map(string, integer).same(map(string, integer).decode(wire(given)), given)
  })
  t.equal(fc.check(sets, { numRuns: 30_000 }).failed, false)
  t.equal(fc.check(maps, { numRuns: 30_000 }).failed, false)
})

t.test('fuzz: an update2 difference turns the old value into the new', async t => {
  const elements = fc.uniqueArray(fc.nat(9), { maxLength: 6 })
  const ofSets = fc.property(elements, elements, (before, after) => {
    const [old, next] = [new Set(before), new Set(after)]
    const difference = [...before.filter(one => !next.has(one)), ...after.filter(one => !old.has(one))]
    return set(safeInteger).same(set(safeInteger).patch(old, ['set', difference]), next)
  })
  const pairs = fc.uniqueArray(fc.tuple(fc.nat(5), fc.nat(2)), { maxLength: 5, selector: ([key]) => key })
  const ofMaps = fc.property(pairs, pairs, (before, after) => {
    const [old, next] = [new Map(before), new Map(after)]
    // ovsdb-server(7) §4.1.14: pairs of one side only, and the new value where both have the key
    const difference = [...before.filter(([key]) => !next.has(key)), ...after.filter(([key, value]) => old.get(key) !== value)]
    return map(safeInteger, safeInteger).same(map(safeInteger, safeInteger).patch(old, ['map', difference]), next)
  })
  t.equal(fc.check(ofSets, { numRuns: 30_000 }).failed, false)
  t.equal(fc.check(ofMaps, { numRuns: 30_000 }).failed, false)
})

t.test('fuzz: nothing on the wire makes a column do anything but answer or refuse', async t => {
  const columns: Read[] = [
    string,
    boolean,
    real,
    integer,
    safeInteger,
    column.uuid,
    optional(string),
    set(integer),
    map(string, column.uuid)
  ]
  const noise = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('set', 'map', 'uuid', id, 1, 1.5, 2n ** 60n, true, null),
      fc.array(tie('value'), { maxLength: 3 })
    )
  })).value
  const property = fc.property(fc.constantFrom(...columns), noise, ({ decode }, given) => {
    try {
      decode(given)
      return true
    } catch (error) {
      return (error as { code?: string }).code === 'notation'
    }
  })
  t.equal(fc.check(property, { numRuns: 50_000 }).failed, false)
})
