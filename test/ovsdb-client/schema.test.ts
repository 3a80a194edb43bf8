import t from 'tap'
import { type Columns, column } from '../../shared/ovsdb-client/src/column.ts'
import { parseSchema, planFor } from '../../shared/ovsdb-client/src/schema.ts'
import { schema } from './fake-server.ts'

const { string, integer, safeInteger, optional, set, map } = column
const types = {
  one: 'string',
  maybe: { key: 'integer', min: 0, max: 1 },
  many: { key: { type: 'uuid', refTable: 'T' }, min: 0, max: 'unlimited' },
  pairs: { key: 'string', value: { type: 'integer', minInteger: 0 }, min: 0, max: 'unlimited' },
  enumerated: { key: { type: 'string', enum: ['set', ['a', 'b']] } }
}
const parsed = parseSchema(schema('Test', { T: types }))

const fitting: Array<[name: string, columns: Columns]> = [
  [
    'each as it is',
    { one: string, maybe: optional(integer), many: set(column.uuid), pairs: map(string, integer), enumerated: string }
  ],
  ['small integers', { maybe: optional(safeInteger), pairs: map(string, safeInteger) }],
  ['an optional seen as a set', { maybe: set(integer) }],
  ['no column at all', {}]
]
for (const [name, columns] of fitting) t.test(`fits: ${name}`, async t => t.ok(planFor({ T: columns }, parsed)))

const misfits: Array<[columns: Columns, message: string]> = [
  [{ one: integer }, 'T.one is one string in the database, but was declared as scalar integer'],
  [{ maybe: integer }, 'T.maybe is an optional integer in the database, but was declared as scalar integer'],
  [{ many: optional(column.uuid) }, 'T.many is a set of uuid in the database, but was declared as optional uuid'],
  [
    { pairs: map(string, string) },
    'T.pairs is a map of string to integer in the database, but was declared as map of string to string'
  ],
  [{ other: string }, 'there is no column T.other']
]
for (const [columns, message] of misfits)
  t.test(message, async t => t.throws(() => planFor({ T: columns }, parsed), { code: 'schema', message }))

t.test('a table that is not there', async t =>
  t.throws(() => planFor({ X: {} }, parsed), { code: 'schema', message: /no table X/ })
)

for (const wire of [null, {}, { name: 'T', version: '1', tables: { T: {} } }, schema('T', { T: { a: 'text' } })]) {
  t.test(`malformed: ${JSON.stringify(wire)}`, async t => t.throws(() => parseSchema(wire), { code: 'protocol' }))
}
