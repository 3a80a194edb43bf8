import t from 'tap'
import type { ManagedFields } from '../../shared/schema/kind.ts'
import { takeOver } from '../../shared/kube/take-over.ts'

const now = '2026-01-01T00:00:00Z'
const entry = (manager: string, operation: string, fieldsV1: object, more: object = {}): ManagedFields => ({
  manager,
  operation,
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more
})
const mine = (fieldsV1: object): ManagedFields => entry('me', 'Apply', fieldsV1, { time: now })
const data = (...names: string[]): object => ({
  'f:data': Object.fromEntries(names.map(name => [name === '.' ? '.' : `f:${name}`, {}]))
})
const item = (...names: string[]): object => ({ '.': {}, ...Object.fromEntries(names.map(name => [`f:${name}`, {}])) })
const want = (...names: string[]): object => ({ apiVersion: 'v1', data: Object.fromEntries(names.map(name => [name, '1'])) })

const cases: Array<[name: string, before: ManagedFields[] | undefined, wanted: object, after: ManagedFields[] | undefined]> = [
  ['nobody owns anything', undefined, want('a'), undefined],
  ['others own other fields', [entry('old', 'Update', data('b'))], want('a'), undefined],
  ['another manager applied it', [entry('old', 'Apply', data('a'))], want('a'), undefined],
  ['another version of the kind was written', [entry('old', 'Update', data('a'), { apiVersion: 'v0' })], want('a'), undefined],
  [
    'part of what an updater owns',
    [entry('old', 'Update', data('.', 'a', 'b'))],
    want('a'),
    [entry('old', 'Update', data('.', 'b')), mine(data('a'))]
  ],
  ['all that an updater owns', [entry('old', 'Update', data('.', 'a'))], want('a', 'b'), [mine(data('a'))]],
  ['our own creation', [entry('me', 'Update', data('.', 'a'))], want('a'), [mine(data('a'))]],
  [
    'several updaters',
    [entry('old', 'Update', data('a', 'x')), entry('older', 'Update', data('b', 'y')), entry('you', 'Apply', data('a'))],
    want('a', 'b'),
    [
      entry('old', 'Update', data('x')),
      entry('older', 'Update', data('y')),
      entry('you', 'Apply', data('a')),
      mine(data('a', 'b'))
    ]
  ],
  [
    'what we applied before and leave out now',
    [entry('me', 'Apply', data('a')), entry('before-first-apply', 'Update', data('.', 'a', 'x'))],
    want(),
    [entry('before-first-apply', 'Update', data('.', 'x')), mine(data('a'))]
  ],
  [
    'an item of a list-map, and not its neighbour',
    [
      entry('old', 'Update', { 'f:list': { 'k:{"type":"A"}': item('type', 'status'), 'k:{"type":"B"}': item('type', 'status') } })
    ],
    { apiVersion: 'v1', list: [{ type: 'A', status: 'True', more: 1 }] },
    [
      entry('old', 'Update', { 'f:list': { 'k:{"type":"B"}': item('type', 'status') } }),
      mine({ 'f:list': { 'k:{"type":"A"}': { 'f:type': {}, 'f:status': {} } } })
    ]
  ],
  [
    'a list that is owned as a whole',
    [entry('old', 'Update', { 'f:list': {}, 'f:x': {} })],
    { apiVersion: 'v1', list: [1, 2] },
    [entry('old', 'Update', { 'f:x': {} }), mine({ 'f:list': {} })]
  ]
]
for (const [name, managedFields, wanted, after] of cases) {
  t.test(`HV-5: ${name}: ${after ? 'handed over' : 'nothing to take'}`, async t => {
    t.strictSame(takeOver({ metadata: { ...(managedFields && { managedFields }) } }, wanted, 'me', undefined, now), after)
  })
}

t.test('HV-5: in the status it is the owner of the status that gains', async t => {
  const before = [entry('old', 'Update', { 'f:status': { 'f:a': {} } }, { subresource: 'status' }), mine(data('a'))]
  const after = takeOver(
    { metadata: { managedFields: before } },
    { apiVersion: 'v1', status: { a: 1 } } as object,
    'me',
    'status',
    now
  )
  t.strictSame(after, [mine(data('a')), { ...mine({ 'f:status': { 'f:a': {} } }), subresource: 'status' }])
})
