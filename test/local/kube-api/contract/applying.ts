// Server-side apply: who owns what, who may change it, what goes when nobody wants it.
import type { Test } from 'tap'
import { matchWhole } from '../../../assert/match-whole.ts'
import { applier, empty, owners } from './applied.ts'
import { applyingStatus } from './applying-status.ts'
import { apply, merge, runCase, widget, type Api, type Body, type Case } from './target.ts'

function refusals({ widgets }: Api): Case[] {
  const path = `${widgets}/shared`
  const typed = 'failed to create typed patch object (/shared; contract.drover.dev/v1, Kind=Widget): .spec.'
  const send = (body: unknown, query = 'fieldManager=x'): Case['send'] => ['PATCH', `${path}?${query}`, body, apply]
  return [
    {
      name: 'without a field manager',
      send: send(widget('shared'), ''),
      status: 422,
      message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
    },
    {
      name: 'with managedFields',
      send: send(widget('shared', undefined, { managedFields: [{ manager: 'x' }] })),
      status: 400,
      message: 'metadata.managedFields must be nil'
    },
    {
      name: 'of another name',
      send: send(widget('other')),
      status: 400,
      message: 'the name of the object (other) does not match the name on the URL (shared)'
    },
    { name: 'of no kind', send: send({ spec: {} }), status: 400, message: 'invalid object type: /, Kind=' },
    {
      name: 'against an old resourceVersion',
      send: send(widget('shared', undefined, { resourceVersion: '1' })),
      status: 409,
      reason: 'Conflict',
      message: /the object has been modified/
    },
    {
      name: 'the same key twice',
      send: send(widget('shared', { color: 'red', ports: [{ port: 1 }, { port: 1 }] })),
      status: 500,
      message: `${typed}ports: duplicate entries for key [port=1,protocol="TCP"]`
    },
    {
      name: 'a map for a list',
      send: send(widget('shared', { color: 'red', ports: {} })),
      status: 500,
      message: `${typed}ports: expected list, got &{map[]}`
    },
    {
      name: 'an unknown field',
      send: send(widget('shared', { color: 'red', zip: 1 })),
      status: 500,
      message: `${typed}zip: field not declared in schema`
    },
    {
      name: 'two conflicts with a plain writer',
      send: send(widget('shared', { color: 'blue', size: 9 })),
      status: 409,
      reason: 'Conflict',
      message: 'Apply failed with 2 conflicts: conflicts with "one" using contract.drover.dev/v1:\n- .spec.color\n- .spec.size',
      causes: [
        ['FieldManagerConflict', '.spec.color'],
        ['FieldManagerConflict', '.spec.size']
      ]
    }
  ]
}

export async function applying(t: Test, api: Api): Promise<void> {
  const { widgets, done, call } = api
  const applied = applier(api)

  await t.test('a plain write owns every field that it set, defaults included', async t => {
    const spec = {
      color: 'red',
      tags: ['x'],
      ports: [{ port: 1 }],
      options: { a: 'b' },
      atom: { a: '1' },
      free: { l: [1], m: { n: 1 } },
      nested: {}
    }
    const made = await done(
      'POST',
      `${widgets}?fieldManager=one`,
      widget('shared', spec, { labels: { l: '1' }, finalizers: ['contract.drover.dev/x'] })
    )
    t.strictSame(owners(made), [
      [
        'one',
        'Update',
        '',
        {
          'f:metadata': {
            'f:finalizers': { '.': empty, 'v:"contract.drover.dev/x"': empty },
            'f:labels': { '.': empty, 'f:l': empty }
          },
          'f:spec': {
            '.': empty,
            'f:atom': empty,
            'f:color': empty,
            'f:free': { '.': empty, 'f:l': empty, 'f:m': { '.': empty, 'f:n': empty } },
            'f:nested': empty,
            'f:options': { '.': empty, 'f:a': empty },
            'f:ports': { '.': empty, 'k:{"port":1,"protocol":"TCP"}': { '.': empty, 'f:port': empty, 'f:protocol': empty } },
            'f:size': empty,
            'f:tags': { '.': empty, 'v:"x"': empty }
          }
        }
      ]
    ])
    for (const each of refusals(api)) await runCase(t, api, each)
    await done('PATCH', `${widgets}/shared`, { metadata: { finalizers: null } }, merge)
  })

  await t.test('an applied configuration owns its own fields; lists and maps are merged', async t => {
    const config = {
      color: 'blue',
      options: { c: 'd' },
      ports: [
        { port: 2, name: 'q' },
        { port: 1, protocol: 'TCP', name: 'p' }
      ],
      tags: ['y'],
      atom: { b: '3' },
      free: { z: { y: 1 } }
    }
    const forced = await applied('shared', 'two', config, true)
    matchWhole(t, forced.spec, {
      color: 'blue',
      options: { a: 'b', c: 'd' },
      ports: [
        { port: 2, name: 'q', protocol: 'TCP' },
        { port: 1, name: 'p', protocol: 'TCP' }
      ],
      tags: ['x', 'y'],
      free: { l: [1], m: { n: 1 }, z: { y: 1 } }
    })
    t.strictSame(forced.spec?.atom, { b: '3' }, 'an atomic map is replaced')
    t.strictSame(owners(forced)[0], [
      'two',
      'Apply',
      '',
      {
        'f:spec': {
          'f:atom': empty,
          'f:color': empty,
          'f:free': { 'f:z': { '.': empty, 'f:y': empty } },
          'f:options': { 'f:c': empty },
          'f:ports': {
            'k:{"port":1,"protocol":"TCP"}': { '.': empty, 'f:name': empty, 'f:port': empty, 'f:protocol': empty },
            'k:{"port":2,"protocol":"TCP"}': { '.': empty, 'f:name': empty, 'f:port': empty }
          },
          'f:tags': { 'v:"y"': empty }
        }
      }
    ])
    const less = await applied('shared', 'two', { color: 'blue' })
    const { atom, options, ports, tags, free } = less.spec ?? {}
    t.strictSame(
      { atom, options, ports, tags, free },
      { atom: undefined, options: { a: 'b' }, ports: [{ port: 1, protocol: 'TCP' }], tags: ['x'], free: { l: [1], m: { n: 1 } } },
      'what is no longer applied goes'
    )
  })

  await t.test('two managers share a value; the conflict names the other', async t => {
    await applied('both', 'one', { color: 'red', size: 4 })
    const both = await applied('both', 'two', { color: 'red' })
    t.strictSame(
      owners(both).map(([manager]) => manager),
      ['one', 'two']
    )
    const { status, body } = await call(
      'PATCH',
      `${widgets}/both?fieldManager=two`,
      widget('both', { color: 'red', size: 5 }),
      apply
    )
    t.equal(status, 409)
    t.equal(body.message, 'Apply failed with 1 conflict: conflict with "one": .spec.size')
    t.strictSame(body.details?.causes, [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.size' }])
    const forced = await applied('both', 'two', { color: 'red', size: 5 }, true)
    t.equal(forced.spec?.size, 5)
    t.strictSame(owners(forced), [
      ['one', 'Apply', '', { 'f:spec': { 'f:color': empty } }],
      ['two', 'Apply', '', { 'f:spec': { 'f:color': empty, 'f:size': empty } }]
    ])
    const kept = await applied('both', 'one', { color: 'red' })
    t.equal(kept.spec?.size, 5, 'what the other owns stays')
    const left = await applied('both', 'two', { color: 'red' })
    t.equal(left.spec?.size, 3, 'what nobody owns falls back to its default')
  })

  await t.test('labels and annotations by key; the map goes with its last key', async t => {
    await applied('keys', 'one', { color: 'red' }, false, { labels: { a: '1' } })
    const both = await applied('keys', 'two', { color: 'red' }, false, { labels: { b: '2' }, annotations: { x: 'y' } })
    t.strictSame(both.metadata.labels, { a: '1', b: '2' })
    const one = await applied('keys', 'two', { color: 'red' })
    t.strictSame([one.metadata.labels, one.metadata.annotations], [{ a: '1' }, undefined])
    t.equal((await applied('keys', 'one', { color: 'red' })).metadata.labels, undefined)
  })

  await t.test('lists of others keep their order', async t => {
    const ports = (...list: number[]): object => ({ color: 'red', ports: list.map(port => ({ port })) })
    const order = (object: Body): unknown => (object.spec?.ports as Array<{ port: number }> | undefined)?.map(({ port }) => port)
    await applied('order', 'one', ports(1, 2, 3))
    t.strictSame(order(await applied('order', 'two', ports(5, 3, 4))), [1, 2, 5, 3, 4])
    t.strictSame(order(await applied('order', 'two', ports(3, 1))), [2, 3, 1])
    t.strictSame(order(await applied('order', 'one', ports(2))), [2, 3, 1])
    t.strictSame(order(await applied('order', 'two', ports(9))), [2, 9])
  })

  await t.test('status has its own owners', t => applyingStatus(t, api))

  await t.test('an apply that changes nothing is not a write', async t => {
    const first = await applied('still', 'one', { color: 'red', ports: [{ port: 1 }] })
    const second = await applied('still', 'one', { color: 'red', ports: [{ port: 1 }] })
    t.equal(second.metadata.resourceVersion, first.metadata.resourceVersion)
  })

  await t.test('a plain write takes over what it changes and leaves the rest', async t => {
    await applied('taken', 'one', { color: 'red', size: 4 })
    const taken = await done('PATCH', `${widgets}/taken?fieldManager=hand`, { spec: { size: 6 } }, merge)
    t.strictSame(owners(taken), [
      ['one', 'Apply', '', { 'f:spec': { 'f:color': empty } }],
      ['hand', 'Update', '', { 'f:spec': { 'f:size': empty } }]
    ])
    const cleared = await done('PATCH', `${widgets}/taken?fieldManager=hand`, { metadata: { managedFields: [{}] } }, merge)
    t.notOk(
      cleared.metadata.managedFields?.some(({ manager }) => manager === 'one'),
      'ownership can be reset'
    )
  })
}
