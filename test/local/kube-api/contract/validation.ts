// What is refused, and how it is told.
import type { Test } from 'tap'
import { specs, unchecked } from './refused-specs.ts'
import { runCase, widget, type Api, type Case } from './target.ts'

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

function cases({ widgets, namespace }: Api): Case[] {
  const dry = `${widgets}?dryRun=All`
  const invalid = (name: string, body: unknown, message: string): Case => ({
    name,
    send: ['POST', dry, body],
    status: 422,
    reason: 'Invalid',
    message
  })
  const bad = (name: string, send: Case['send'], message: string | RegExp): Case => ({
    name,
    send,
    status: 400,
    reason: 'BadRequest',
    message
  })
  return [
    ...specs.map(([name, spec, message]) =>
      invalid(name, widget('a', spec as object), `Widget.contract.drover.dev "a" is invalid: ${message}`)
    ),
    invalid(
      'a bad name',
      widget('A_b'),
      `Widget.contract.drover.dev "A_b" is invalid: metadata.name: Invalid value: "A_b": ${subdomain}`
    ),
    {
      ...invalid(
        'no name',
        { ...widget(''), metadata: {} },
        `Widget.contract.drover.dev "" is invalid: [metadata.name: Required value: name or generateName is required, ${unchecked}]`
      ),
      causes: [
        ['FieldValueRequired', 'metadata.name'],
        ['FieldValueInvalid', '<nil>']
      ]
    },
    {
      name: 'a bad label',
      send: ['POST', dry, widget('a', undefined, { labels: { a: 'b c' } })],
      status: 422,
      message: /^Widget.contract.drover.dev "a" is invalid: metadata.labels: Invalid value: "b c": a valid label must/
    },
    {
      name: 'a bad label key',
      send: ['POST', dry, widget('a', undefined, { labels: { 'a b': 'c' } })],
      status: 422,
      message: /metadata.labels: Invalid value: "a b": name part must consist of/
    },
    invalid(
      'an owner without uid',
      widget('a', undefined, { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n' }] }),
      'Widget.contract.drover.dev "a" is invalid: metadata.ownerReferences.uid: Invalid value: "": must not be empty'
    ),
    invalid(
      'another kind',
      { ...widget('a'), kind: 'Foo' },
      'Foo.contract.drover.dev "a" is invalid: kind: Invalid value: "Foo": must be Widget'
    ),
    bad(
      'a label that is a number',
      ['POST', dry, widget('a', undefined, { labels: { a: 1 } })],
      'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string'
    ),
    bad(
      'another namespace',
      ['POST', dry, widget('a', undefined, { namespace: 'other' })],
      'the namespace of the provided object does not match the namespace sent on the request'
    ),
    bad(
      'another version',
      ['POST', dry, { ...widget('a'), apiVersion: 'contract.drover.dev/v2' }],
      'the API version in the data (contract.drover.dev/v2) does not match the expected API version (contract.drover.dev/v1)'
    ),
    bad(
      'garbage',
      ['POST', dry, '{garbage'],
      "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: invalid character 'g' looking for beginning of object key string ({garbage)"
    ),
    bad(
      'an empty body',
      ['POST', dry, ''],
      "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"
    ),
    bad(
      'a list',
      ['POST', dry, '[]'],
      /^the object provided is unrecognized \(must be of type Widget\): couldn't get version\/kind; json parse error: /
    ),
    {
      name: 'a body of 10 MB',
      send: ['POST', dry, JSON.stringify(widget('a', { color: 'x'.repeat(10_000_000) }))],
      status: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: limit is 3145728'
    },
    {
      name: 'an unknown content type',
      send: ['POST', dry, '{}', 'text/plain'],
      status: 415,
      reason: 'UnsupportedMediaType',
      message: /^the body of the request was in an unknown format - accepted media types include: application\/json/
    },
    {
      name: 'YAML',
      send: [
        'POST',
        dry,
        `apiVersion: contract.drover.dev/v1\nkind: Widget\nmetadata: {name: a}\nspec: {color: red}\n`,
        'application/yaml'
      ],
      status: 201
    },
    bad(
      'unknown fields, strictly',
      [
        'POST',
        `${dry}&fieldValidation=Strict`,
        widget('a', { color: 'red', nope: 1, free: { x: 1 }, ports: [{ port: 1, zap: 1 }] })
      ],
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.nope", unknown field "spec.ports[0].zap"'
    ),
    bad(
      'unknown metadata, strictly',
      ['POST', `${dry}&fieldValidation=Strict`, { ...widget('a', undefined, { foo: 1 }), top: 1 }],
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "metadata.foo", unknown field "top"'
    ),
    {
      name: 'unknown fields are warned about',
      send: ['POST', dry, widget('a', { color: 'red', nope: 1, nested: { zip: 1 } })],
      status: 201,
      warning: '299 - "unknown field \\"spec.nested.zip\\"", 299 - "unknown field \\"spec.nope\\""'
    },
    {
      name: 'unknown fields can be ignored',
      send: ['POST', `${dry}&fieldValidation=Ignore`, widget('a', { color: 'red', nope: 1 })],
      status: 201,
      warning: ''
    },
    {
      name: 'a finalizer without a domain is warned about',
      send: ['POST', dry, widget('a', undefined, { finalizers: ['x'] })],
      status: 201,
      warning:
        '299 - "metadata.finalizers: \\"x\\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"'
    },
    {
      name: 'an unknown fieldValidation',
      send: ['POST', `${dry}&fieldValidation=Foo`, widget('a')],
      status: 422,
      message:
        'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Foo": supported values: "", "Ignore", "Strict", "Warn"'
    },
    {
      name: 'an unknown dryRun',
      send: ['POST', `${widgets}?dryRun=Foo`, widget('a')],
      status: 422,
      message: 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Foo"]: supported values: "All"'
    },
    {
      name: 'a namespace that is not there',
      send: ['POST', widgets.replace(namespace, 'nowhere'), widget('a')],
      status: 404,
      reason: 'NotFound',
      message: 'namespaces "nowhere" not found'
    },
    {
      name: 'an object that is not there',
      send: ['GET', `${widgets}/none`],
      status: 404,
      reason: 'NotFound',
      message: 'widgets.contract.drover.dev "none" not found'
    },
    {
      name: 'a resource that is not there',
      send: ['GET', '/api/v1/things'],
      status: 404,
      reason: 'NotFound',
      message: 'the server could not find the requested resource'
    },
    { name: 'a null counts as absent', send: ['POST', dry, widget('a', { color: 'red', code: null, maybe: null })], status: 201 }
  ]
}

export async function validation(t: Test, api: Api): Promise<void> {
  for (const each of cases(api)) await runCase(t, api, each)
  await t.test('defaults are filled, unknown fields are pruned', async t => {
    const { spec } = await api.done(
      'POST',
      `${api.widgets}?dryRun=All`,
      widget('a', { color: 'red', nope: 1, maybe: null, code: null, free: { kept: [1] }, ports: [{ port: 1 }] })
    )
    t.strictSame(spec, {
      color: 'red',
      maybe: null,
      size: 3,
      nested: { on: true },
      free: { kept: [1] },
      ports: [{ port: 1, protocol: 'TCP' }]
    })
  })
}
