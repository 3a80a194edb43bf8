import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import t from 'tap'
import { Type } from 'typebox'
import type { Received } from '../../shared/events/kind.ts'
import { nodeChanged } from '../../shared/events/objects.ts'
import { decode, Malformed, type Headers } from '../../shared/runtime/decode.ts'
import { encode, traceOf } from '../../shared/runtime/emitter.ts'
import { matchWhole } from '../assert/match-whole.ts'

const required = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 'a.b' }
const event = { specversion: '1.0', id: '1', source: '/s', type: 'a.b' }
const structured = { 'content-type': 'application/cloudevents+json; charset=UTF-8' }
const batch = { 'content-type': 'application/cloudevents-batch+json' }
const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const otherTrace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

const one = (headers: Headers, body: string | Buffer = ''): Received => {
  const [first, ...rest] = decode(headers, Buffer.from(body))
  if (!first || rest.length > 0) throw new Error('one event was expected')
  return first
}

t.test('events recorded from a real Knative', async t => {
  const recorded = readFileSync(new URL('../fixtures/knative/recorded.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
  t.equal(recorded.length, 8)
  for (const line of recorded) {
    const { headers, data } = JSON.parse(line) as { headers: Record<string, string>; data: unknown }
    const read = one(headers, JSON.stringify(data))
    t.strictSame(read.data, data)
    t.match(read, { id: headers['ce-id'], type: headers['ce-type'], source: headers['ce-source'], time: headers['ce-time'] })
    t.equal(read.subject, headers['ce-subject'])
    t.equal(read.extensions.namespace, headers['ce-namespace'] || undefined, 'an empty ce-namespace is no namespace')
    t.equal(read.extensions.knativearrivaltime, headers['ce-knativearrivaltime'], 'nanoseconds are kept')
    t.strictSame(one(structured, JSON.stringify(toStructured(headers, data))), read, 'and the same in structured mode')
  }
})

function toStructured(headers: Record<string, string>, data: unknown): Record<string, unknown> {
  const attributes = Object.entries(headers).filter(([name]) => name.startsWith('ce-'))
  return { ...Object.fromEntries(attributes.map(([name, value]) => [name.slice(3), value])), data }
}

const readable: Array<[name: string, headers: Headers, body: string, then: Partial<Received>]> = [
  ['binary without data', required, '', { id: '1', data: undefined }],
  ['binary without content type is JSON', required, '[1]', { data: [1] }],
  ['any +json type', { ...required, 'content-type': 'application/vnd.x+json' }, '{"a":1}', { data: { a: 1 } }],
  ['no data, whatever its type', { ...required, 'content-type': 'text/plain' }, '', { data: undefined }],
  ['percent-encoding', { ...required, 'ce-subject': 'Euro%20%E2%82%AC%20%F0%9F%98%80%25' }, '', { subject: 'Euro € 😀%' }],
  ['one round of decoding only', { ...required, 'ce-subject': '%2525' }, '', { subject: '%25' }],
  ['a per cent sign that encodes nothing', { ...required, 'ce-subject': '50%' }, '', { subject: '50%' }],
  ['bytes that are no UTF-8', { ...required, 'ce-subject': '%ff' }, '', { subject: '%ff' }],
  ['a quoted value', { ...required, 'ce-subject': '"a \\"b\\" %20"' }, '', { subject: 'a "b"  ' }],
  ['an empty header is absent', { ...required, 'ce-namespace': '', 'ce-subject': '' }, '', { extensions: {} }],
  ['changed', { ...required, 'ce-changed': 'labels, spec' }, '', { changed: ['labels', 'spec'] }],
  ['a change this version does not know', { ...required, 'ce-changed': 'labels,smell' }, '', { changed: undefined as never }],
  ['order', { ...required, 'ce-partitionkey': 'hv1', 'ce-sequence': '7' }, '', { partitionkey: 'hv1', sequence: '7' }],
  ['trace as extension', { ...required, 'ce-traceparent': trace, traceparent: otherTrace }, '', { traceparent: trace }],
  ['trace that a broker class left', { ...required, 'ce-trace': trace }, '', { traceparent: trace, extensions: {} }],
  ['trace as header', { ...required, traceparent: otherTrace }, '', { traceparent: otherTrace }],
  ['a malformed trace is none', { ...required, traceparent: 'x' }, '', { traceparent: undefined as never }],
  ['structured', structured, JSON.stringify({ ...event, data: { a: 1 } }), { data: { a: 1 }, id: '1' }],
  [
    'structured, numbers and booleans',
    structured,
    JSON.stringify({ ...event, n: 1, b: false, z: null }),
    { extensions: { n: '1', b: 'false' } }
  ],
  ['structured, base64', structured, JSON.stringify({ ...event, data_base64: 'eyJhIjoxfQ==' }), { data: { a: 1 } }],
  [
    'names of Object.prototype are plain extensions',
    { ...required, 'ce-constructor': 'x' },
    '',
    { extensions: { constructor: 'x' } }
  ]
]
for (const [name, headers, body, then] of readable) {
  t.test(`reads ${name}`, async t => {
    const read = one(headers, body)
    for (const [attribute, value] of Object.entries(then)) t.strictSame(read[attribute as keyof Received], value, attribute)
  })
}

t.test('headers as they came: any case, and one that comes twice is a list', async t => {
  const list = ['Host', 'x', 'Ce-Specversion', '1.0', 'ce-id', '1', 'CE-SOURCE', '/s', 'Ce-Type', 'a.b', 'ce-x', 'a', 'Ce-X', 'b']
  t.match(one(list), { id: '1', source: '/s', type: 'a.b', extensions: { x: 'a, b' } })
  matchWhole(
    t,
    one([...list, 'Content-Type', 'application/json', 'content-type', 'text/csv'], '[1]').data,
    [1],
    'the first type holds'
  )
  t.equal(one([...list, 'Traceparent', trace]).traceparent, trace)
  t.equal(one([...list, 'traceparent', trace, 'traceparent', otherTrace]).traceparent, undefined, 'two traces are none')
  const names = Array.from({ length: 1000 }, (_, i) => `a${i}`)
  const read = names.map(name => one([...list, `x-${name}`, 'y', `ce-${name}`, name]).extensions[name])
  t.strictSame(read, names, 'more names than are kept in mind')
})

t.test('names that only look like attributes do not matter to a structured event', async t => {
  t.equal(one({ ...structured, 'ce-some-thing': 'x' }, JSON.stringify(event)).id, '1')
})

const unreadable: Array<[name: string, status: number, headers: Headers, body: string | Buffer]> = [
  ['nothing at all', 400, {}, ''],
  ['plain JSON', 400, { 'content-type': 'application/json' }, '{}'],
  ['no id', 400, { ...required, 'ce-id': '' }, ''],
  ['no type', 400, { ...required, 'ce-type': undefined }, ''],
  ['another version', 400, { ...required, 'ce-specversion': '0.3' }, ''],
  ['a time that is none', 400, { ...required, 'ce-time': 'yesterday' }, ''],
  ['an attribute name with a hyphen', 400, { ...required, 'ce-some-thing': 'x' }, ''],
  ['data that is no JSON', 400, { ...required, 'content-type': 'application/json' }, '{"a":'],
  ['data that is no UTF-8', 400, required, Buffer.from([0x22, 0xff, 0x22])],
  ['a prototype key', 400, required, '{"a":{"__proto__":{"admin":true}}}'],
  ['an escaped prototype key', 400, required, '{"\\u005f_proto\\u005f_" : 1}'],
  ['XML data', 415, { ...required, 'content-type': 'application/xml' }, '<a/>'],
  ['an event in XML', 415, { 'content-type': 'application/cloudevents+xml' }, '<event/>'],
  ['structured garbage', 400, structured, 'garbage'],
  ['structured, no object', 400, structured, '[]'],
  ['structured null', 400, structured, 'null'],
  ['structured, an object as attribute', 400, structured, JSON.stringify({ ...event, a: {} })],
  ['structured, a bad attribute name', 400, structured, JSON.stringify({ ...event, someThing: 'x' })],
  ['structured, other data', 415, structured, JSON.stringify({ ...event, datacontenttype: 'text/plain', data: 'x' })],
  ['structured, data twice', 400, structured, JSON.stringify({ ...event, data: 1, data_base64: 'MQ==' })],
  ['a batch that is no list', 400, batch, JSON.stringify(event)],
  ['a batch with one bad event', 400, batch, JSON.stringify([event, {}])]
]
for (const [name, status, headers, body] of unreadable) {
  t.test(`refuses ${name} with ${status}`, async t => {
    const error = t.throws(() => decode(headers, Buffer.from(body))) as unknown
    t.ok(error instanceof Malformed && error.status === status)
  })
}

t.test('a batch has any number of events', async t => {
  t.strictSame(decode(batch, Buffer.from('[]')), [])
  const events = decode(batch, Buffer.from(JSON.stringify([event, { ...event, id: '2' }])))
  t.strictSame(
    events.map(({ id }) => id),
    ['1', '2']
  )
})

const ownFields = new Set([
  'specversion',
  'id',
  'source',
  'type',
  'subject',
  'time',
  'changed',
  'partitionkey',
  'sequence',
  'traceparent'
])

t.test('what is encoded is decoded to the same', async () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 })
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,12}$/).filter(key => !ownFields.has(key) && !key.startsWith('data'))
  const attributes = fc.record({
    subject: text,
    partitionkey: text,
    id: text,
    extensions: fc.dictionary(name, text, { noNullPrototype: true }),
    data: fc.object({
      key: text.filter(key => key !== '__proto__'),
      values: [text, fc.integer(), fc.boolean(), fc.constant(null)]
    })
  })
  fc.assert(
    fc.property(attributes, ({ data, ...given }) => {
      const message = encode({ ...given, kind: { ...nodeChanged, data: Type.Unknown() }, data }, '/s')
      const { time: _, ...read } = one(message.headers, message.body)
      assert.deepEqual(read, {
        ...given,
        data: JSON.parse(JSON.stringify(data)),
        type: nodeChanged.type,
        source: '/s',
        traceparent: traceOf('/s', given.id)
      })
    }),
    { numRuns: 200 }
  )
})

t.test('garbage is refused and never crashes', async () => {
  const header = fc.oneof(fc.string(), fc.constant('1.0'), fc.constant('application/cloudevents+json'))
  const key = fc.oneof(
    fc.constantFrom('content-type', 'ce-specversion', 'ce-id', 'ce-type', 'ce-source', 'ce-time', 'ce-x'),
    fc.string()
  )
  fc.assert(
    fc.property(
      fc.dictionary(key, header),
      fc.oneof(
        fc.uint8Array(),
        fc.json().map(text => Buffer.from(text))
      ),
      (headers, body) => {
        try {
          decode(headers, Buffer.from(body))
        } catch (error) {
          if (!(error instanceof Malformed)) throw error
        }
      }
    ),
    { numRuns: 500 }
  )
})
