// Create, update, patch: metadata that the server keeps, preconditions, subresources.
import type { Test } from 'tap'
import { matchWhole } from '../../../assert/match-whole.ts'
import { jsonPatch, merge, runCase, strategic, widget, type Api, type Case } from './target.ts'

const modified = 'the object has been modified; please apply your changes to the latest version and try again'
const about = (name: string): string => `Operation cannot be fulfilled on widgets.contract.drover.dev "${name}": `

function refusals({ widgets }: Api, name: string, version: string): Case[] {
  const path = `${widgets}/${name}`
  const put = (metadata: object): Case['send'] => ['PUT', path, widget(name, undefined, metadata)]
  return [
    {
      name: 'a second one of that name',
      send: ['POST', widgets, widget(name)],
      status: 409,
      reason: 'AlreadyExists',
      message: `widgets.contract.drover.dev "${name}" already exists`
    },
    {
      name: 'an update without resourceVersion',
      send: put({}),
      status: 422,
      reason: 'Invalid',
      message: `widgets.contract.drover.dev "${name}" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`
    },
    {
      name: 'an update of an old version',
      send: put({ resourceVersion: '1' }),
      status: 409,
      reason: 'Conflict',
      message: about(name) + modified
    },
    {
      name: 'an update of another uid',
      send: put({ resourceVersion: version, uid: 'other' }),
      status: 409,
      reason: 'Conflict',
      message: /Precondition failed: UID in precondition: other, UID in object meta: /
    },
    {
      name: 'an update of another name',
      send: ['PUT', path, widget('other', undefined, { resourceVersion: version })],
      status: 400,
      message: `the name of the object (other) does not match the name on the URL (${name})`
    },
    {
      name: 'an update of nothing',
      send: ['PUT', `${widgets}/none`, widget('none', undefined, { resourceVersion: version })],
      status: 404,
      message: 'widgets.contract.drover.dev "none" not found'
    },
    {
      name: 'a patch of an old version',
      send: ['PATCH', path, { metadata: { resourceVersion: '1' } }, merge],
      status: 409,
      message: about(name) + modified
    },
    {
      name: 'a patch of nothing',
      send: ['PATCH', `${widgets}/none`, { spec: {} }, merge],
      status: 404,
      message: 'widgets.contract.drover.dev "none" not found'
    },
    {
      name: 'a strategic patch of a custom kind',
      send: ['PATCH', path, { spec: {} }, strategic],
      status: 415,
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml'
    },
    {
      name: 'a JSON patch whose test fails',
      send: ['PATCH', path, [{ op: 'test', path: '/spec/color', value: 'blue' }], jsonPatch],
      status: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request'
    },
    {
      name: 'a JSON patch that is no list',
      send: ['PATCH', path, { op: 'remove', path: '/x' }, jsonPatch],
      status: 400,
      message: 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'
    },
    {
      name: 'a merge patch that is garbage',
      send: ['PATCH', path, '{x', merge],
      status: 400,
      message: "error decoding patch: invalid character 'x' looking for beginning of object key string"
    },
    {
      name: 'a strict patch with an unknown field',
      send: ['PATCH', `${path}?fieldValidation=Strict`, { spec: { zip: 1 } }, merge],
      status: 422,
      message: /: strict decoding error: unknown field "spec.zip"$/
    },
    {
      name: 'a patch that breaks a transition rule',
      send: ['PATCH', path, { spec: { fixed: 'other' } }, merge],
      status: 422,
      message: `Widget.contract.drover.dev "${name}" is invalid: spec.fixed: Invalid value: "other": fixed is immutable`
    }
  ]
}

export async function writing(t: Test, api: Api): Promise<void> {
  const { widgets, namespace, call, done } = api

  await t.test('a new object gets its metadata', async t => {
    const answer = await call('POST', widgets, { ...widget('new', { color: 'red', fixed: 'x' }), status: { phase: 'mine' } })
    t.equal(answer.status, 201)
    const { metadata, status } = answer.body
    t.match(metadata, {
      name: 'new',
      namespace,
      generation: 1,
      uid: /^[\da-f-]{36}$/,
      creationTimestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
      resourceVersion: /^\d+$/
    })
    t.equal(status, undefined, 'status is not taken from a create')
    for (const each of refusals(api, 'new', metadata.resourceVersion ?? '')) await runCase(t, api, each)
  })

  await t.test('generateName', async t => {
    const { metadata } = await done('POST', widgets, { ...widget(''), metadata: { generateName: 'gen-' } })
    t.match(metadata.name, /^gen-[a-z0-9]{5}$/)
  })

  await t.test('a dry run stores nothing', async t => {
    t.equal((await call('POST', `${widgets}?dryRun=All`, widget('dry'))).status, 201)
    t.equal((await call('GET', `${widgets}/dry`)).status, 404)
  })

  await t.test('generation counts changes of the spec alone', async t => {
    const made = await done('POST', widgets, widget('gen'))
    const version = async (path: string, body: object): Promise<[unknown, boolean]> => {
      const before = await done('GET', `${widgets}/gen`)
      const after = await done('PATCH', `${widgets}/gen${path}`, body, merge)
      return [after.metadata.generation, after.metadata.resourceVersion !== before.metadata.resourceVersion]
    }
    t.equal(made.metadata.generation, 1)
    t.strictSame(await version('', { metadata: { labels: { a: 'b' } } }), [1, true], 'a label')
    t.strictSame(await version('', { spec: { size: 4 } }), [2, true], 'the spec')
    t.strictSame(await version('', { spec: { size: 4 } }), [2, false], 'nothing: no write, no new resourceVersion')
    t.strictSame(await version('/status', { status: { phase: 'x' } }), [2, true], 'the status')
  })

  await t.test('status and the rest are written apart', async t => {
    await done('POST', widgets, widget('split'))
    const status = await done(
      'PATCH',
      `${widgets}/split/status`,
      { metadata: { labels: { no: 'no' } }, spec: { size: 9 }, status: { phase: 'a', count: 1 } },
      merge
    )
    t.match(status, { spec: { size: 3 }, status: { phase: 'a', count: 1 } })
    t.equal(status.metadata.labels, undefined)
    const main = await done('PUT', `${widgets}/split`, { ...status, spec: { color: 'blue' }, status: { phase: 'b' } })
    t.match(main, { spec: { color: 'blue', size: 3 }, status: { phase: 'a' } })
    const emptied = await done('PUT', `${widgets}/split/status`, { ...main, status: {} })
    t.strictSame(emptied.status, {})
  })

  await t.test('what was wrong before and is not touched does not stop an update', async t => {
    const path = `${widgets}/ratchet`
    await done('POST', widgets, widget('ratchet', { color: 'red', fixed: 'x' }))
    const kept = await done('PATCH', path, { metadata: { labels: { a: 'b' } } }, merge)
    t.match(kept.metadata.labels, { a: 'b' })
  })

  await t.test('merge and JSON patches change what they say', async t => {
    await done('POST', widgets, widget('patched', { color: 'red', options: { a: '1', b: '2' }, plain: ['x'] }))
    const merged = await done('PATCH', `${widgets}/patched`, { spec: { options: { a: null, c: '3' }, plain: ['y'] } }, merge)
    matchWhole(t, merged.spec, { options: { b: '2', c: '3' }, plain: ['y'] })
    t.notHas(merged.spec?.options, { a: String })
    const patched = await done(
      'PATCH',
      `${widgets}/patched`,
      [
        { op: 'add', path: '/spec/plain/-', value: 'z' },
        { op: 'remove', path: '/spec/options/b' }
      ],
      jsonPatch
    )
    matchWhole(t, patched.spec, { options: { c: '3' }, plain: ['y', 'z'] })
  })
}
