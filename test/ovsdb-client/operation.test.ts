import t from 'tap'
import type { OvsdbError } from '../../shared/ovsdb-client/src/error.ts'
import * as ovsdb from '../../shared/ovsdb-client/src/index.ts'
import { type Operation, decodeResults, encodeOperation } from '../../shared/ovsdb-client/src/operation.ts'

const { abort, assert, column, comment, commit, insert, mutate, named, remove, select, update, wait } = ovsdb
const id = '5739687c-e054-4297-aa8c-bfcfb7d72e8a'
const where = [['name', '==', 'a']] as const

const written: Array<[name: string, operation: Operation, wire: object]> = [
  [
    'insert',
    insert('T', { tags: ['x'] }, { named: 'new' }),
    { op: 'insert', table: 'T', row: { tags: ['set', ['x']] }, 'uuid-name': 'new' }
  ],
  ['insert with a uuid', insert('T', {}, { uuid: id }), { op: 'insert', table: 'T', row: {}, uuid: id }],
  ['select', select('T', where, { name: column.string }), { op: 'select', table: 'T', where, columns: ['_uuid', 'name'] }],
  ['update', update('T', where, { ref: named('new') }), { op: 'update', table: 'T', where, row: { ref: ['named-uuid', 'new'] } }],
  ['mutate', mutate('T', [], [['n', '+=', 1]]), { op: 'mutate', table: 'T', where: [], mutations: [['n', '+=', 1]] }],
  ['delete', remove('T', where), { op: 'delete', table: 'T', where }],
  [
    'wait',
    wait({ table: 'T', where, columns: ['name'], until: '==', rows: [{ name: 'a' }], timeoutMs: 5 }),
    { op: 'wait', table: 'T', where, columns: ['name'], until: '==', rows: [{ name: 'a' }], timeout: 5 }
  ],
  ['commit', commit({ durable: true }), { op: 'commit', durable: true }],
  ['abort', abort(), { op: 'abort' }],
  ['comment', comment('why'), { op: 'comment', comment: 'why' }],
  ['assert', assert('lock'), { op: 'assert', lock: 'lock' }]
]
for (const [name, operation, wire] of written) {
  t.test(`RFC 7047 §5.2 ${name}`, async t => t.strictSame(JSON.parse(JSON.stringify(encodeOperation(operation))), wire))
}

t.test('results are read by operation', async t => {
  const operations = [insert('T', {}), select('T', [], { n: column.integer }), remove('T', []), comment('')] as const
  const result = [{ uuid: ['uuid', id] }, { rows: [{ _uuid: ['uuid', id], n: 2n ** 60n }] }, { count: 3 }, {}]
  t.strictSame(decodeResults(operations, result), [{ uuid: id }, { rows: [{ _uuid: id, n: 2n ** 60n }] }, { count: 3 }, {}])
})

const two = [remove('T', []), insert('T', {})]
const failed: Array<[name: string, result: unknown, error: Pick<OvsdbError, 'code'> & Partial<OvsdbError>]> = [
  ['OV-13 an operation', [{ count: 0 }, { error: 'not owner', details: 'L' }], { code: 'not-owner', operation: 1, details: 'L' }],
  ['the first of them', [{ error: 'timed out' }, null], { code: 'wait-timed-out', operation: 0, retryable: true }],
  ['the commit', [{ count: 0 }, {}, { error: 'constraint violation' }], { code: 'constraint-violation', operation: undefined }],
  ['in a word not known', [{ error: 'bad weather' }, null], { code: 'refused', serverError: 'bad weather', retryable: false }],
  ['a result is missing', [{ count: 0 }], { code: 'protocol' }],
  ['a result is null', [{ count: 0 }, null], { code: 'protocol' }],
  ['the results are no list', {}, { code: 'protocol' }],
  ['a count is no number', [{ count: 'many' }, {}], { code: 'notation' }]
]
for (const [name, result, error] of failed)
  t.test(`refused: ${name}`, async t => t.throws(() => decodeResults(two, result), error))

t.test('a name that the server would refuse is refused here', async t => {
  t.throws(() => encodeOperation(insert('T', {}, { named: '1st' })), { code: 'notation' })
  t.throws(() => encodeOperation(insert('T', {}, { uuid: 'x' })), { code: 'notation' })
})
