import t from 'tap'
import type { KubeObject, ManagedFields } from '../../shared/schema/kind.ts'
import { unchanged } from '../../shared/kube/unchanged.ts'

// As the real server wrote them: an apply of `wanted` beside fields of other managers. apply.real.test.ts proves the same on live objects.
const wanted = {
  apiVersion: 'example.dev/v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'n', labels: { 'example.dev/x': '1' }, finalizers: ['example.dev/guard'] },
  spec: {
    size: 3,
    empty: {},
    atomic: [{ a: 1 }, { b: 2 }],
    ports: [
      { name: 'http', port: 80 },
      { name: 'dns', port: 53, options: { fast: true } }
    ]
  }
}
const fields = {
  'f:metadata': { 'f:labels': { 'f:example.dev/x': {} }, 'f:finalizers': { 'v:"example.dev/guard"': {} } },
  'f:spec': {
    'f:size': {},
    'f:empty': {},
    'f:atomic': {},
    'f:ports': {
      'k:{"name":"http"}': { '.': {}, 'f:name': {}, 'f:port': {} },
      'k:{"name":"dns"}': { '.': {}, 'f:name': {}, 'f:port': {}, 'f:options': { 'f:fast': {} } }
    }
  }
}
const own = (change: object = {}): ManagedFields => ({
  manager: 'me',
  operation: 'Apply',
  apiVersion: 'example.dev/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: fields,
  ...change
})

interface Thing extends KubeObject {
  spec: Record<string, unknown>
  status?: object
}

function live(change: (thing: Thing) => void = () => undefined, entry: ManagedFields = own()): Thing {
  const other = { name: 'ftp', port: 21 }
  const { spec, metadata } = structuredClone(wanted)
  const thing = {
    apiVersion: 'example.dev/v1',
    kind: 'Thing',
    metadata: {
      ...metadata,
      uid: 'u',
      resourceVersion: '7',
      labels: { ...metadata.labels, theirs: '2' },
      finalizers: ['theirs', ...metadata.finalizers],
      managedFields: [{ manager: 'other', operation: 'Update', fieldsV1: {} }, entry]
    },
    spec: { ...spec, theirs: true, ports: [spec.ports[0], other, spec.ports[1]] },
    status: { anything: 1 }
  }
  change(thing)
  return thing
}

const ports = (thing: Thing): Array<Record<string, unknown>> => thing.spec['ports'] as Array<Record<string, unknown>>
const want = (change: (thing: Thing) => void): Thing => {
  const thing = structuredClone(wanted) as unknown as Thing
  change(thing)
  return thing
}

const cases: Array<[name: string, live: Thing, wanted: KubeObject, then: boolean]> = [
  ['the same, beside fields and items of others', live(), wanted, true],
  ['what is undefined is not wanted', live(), want(thing => void (thing.spec['more'] = undefined)), true],
  [
    'the version and uid it names are the live ones',
    live(),
    want(thing => Object.assign(thing.metadata!, { uid: 'u', resourceVersion: '7' })),
    true
  ],
  ['another value', live(thing => void (thing.spec['size'] = 4)), wanted, false],
  ['a value of another type', live(thing => void (thing.spec['size'] = '3')), wanted, false],
  ['a value that is gone', live(thing => void delete thing.spec['size']), wanted, false],
  ['an item that is gone', live(thing => void ports(thing).pop()), wanted, false],
  ['another value in an item', live(thing => void (ports(thing)[2]!['port'] = 54)), wanted, false],
  ['another value deep in an item', live(thing => void (ports(thing)[2]!['options'] = { fast: false })), wanted, false],
  ['our items in another order', live(thing => void ports(thing).reverse()), wanted, false],
  ['a list that became something else', live(thing => void (thing.spec['ports'] = {})), wanted, false],
  ['an item in a list that is owned as a whole', live(thing => void (thing.spec['atomic'] as object[]).push({})), wanted, false],
  ['a set without our value', live(thing => void thing.metadata!.finalizers!.pop()), wanted, false],
  ['a map without our key', live(thing => void (thing.metadata!.labels = {})), wanted, false],
  ['one field more wanted', live(), want(thing => void (thing.spec['theirs'] = true)), false],
  ['one field less wanted', live(), want(thing => void delete thing.spec['size']), false],
  ['one item less wanted', live(), want(thing => void ports(thing).pop()), false],
  [
    'one item more wanted, though it is there',
    live(),
    want(thing => void ports(thing).splice(1, 0, { name: 'ftp', port: 21 })),
    false
  ],
  ['one item wanted twice', live(), want(thing => void (ports(thing)[1] = ports(thing)[0]!)), false],
  ['one label less wanted', live(), want(thing => void delete thing.metadata!.labels), false],
  ['a null wanted', live(), want(thing => void (thing.spec['size'] = null)), false],
  ['never applied', live(undefined, own({ manager: 'you' })), wanted, false],
  ['written by update', live(undefined, own({ operation: 'Update' })), wanted, false],
  ['applied to the status', live(undefined, own({ subresource: 'status' })), wanted, false],
  ['applied in another version', live(undefined, own({ apiVersion: 'example.dev/v1beta1' })), wanted, false],
  ['another object of that name', live(), want(thing => void (thing.metadata!.uid = 'v')), false],
  ['a version it no longer has', live(), want(thing => void (thing.metadata!.resourceVersion = '6')), false],
  ['nothing wanted, nothing owned', live(undefined, own({ manager: 'you' })), { metadata: { name: 'a' } }, true],
  ['nothing wanted any more', live(), { metadata: { name: 'a' } }, false],
  ['something wanted for the first time', live(undefined, own({ fieldsV1: {} })), wanted, false]
]
for (const [name, given, then, expected] of cases) {
  t.test(`HV-7: ${name}: ${expected ? 'unchanged' : 'changed'}`, async t => t.equal(unchanged(given, then, 'me'), expected))
}

t.test('HV-7: the status has an owner of its own', async t => {
  const want = (anything: number): object => ({ apiVersion: 'example.dev/v1', metadata: { name: 'a' }, status: { anything } })
  const entry = own({ subresource: 'status', fieldsV1: { 'f:status': { 'f:anything': {} } } })
  t.ok(unchanged(live(undefined, entry), want(1), 'me', 'status'))
  t.notOk(unchanged(live(undefined, entry), want(1), 'me'))
  t.notOk(unchanged(live(undefined, entry), want(2), 'me', 'status'))
})
