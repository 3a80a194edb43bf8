// Deletion: preconditions, finalizers, collections, and what becomes of dependents.
import type { Test } from 'tap'
import { matchWhole } from '../../../assert/match-whole.ts'
import { apply, merge, runCase, until, widget, type Api, type Body } from './target.ts'

export async function deleting(t: Test, api: Api): Promise<void> {
  const { widgets, done, call } = api
  await done('DELETE', widgets)
  const isGone = (name: string): Promise<boolean> => call('GET', `${widgets}/${name}`).then(({ status }) => status === 404)
  const gone = (name: string): Promise<boolean> =>
    until(
      () => isGone(name),
      answer => answer
    )
  const owned = (name: string, owner: Body, more: object = {}): Promise<Body> => {
    const { name: of, uid } = owner.metadata
    return done(
      'POST',
      widgets,
      widget(name, undefined, {
        ownerReferences: [{ apiVersion: 'contract.drover.dev/v1', kind: 'Widget', name: of, uid, ...more }]
      })
    )
  }

  await t.test('preconditions and dry run', async t => {
    const kind = { apiVersion: 'contract.drover.dev/v1', kind: 'Widget' }
    const { metadata } = await done('POST', widgets, widget('d1'))
    const path = `${widgets}/d1`
    const about = 'Operation cannot be fulfilled on Widget.contract.drover.dev "d1": '
    await runCase(t, api, {
      name: 'another uid',
      send: ['DELETE', path, { preconditions: { uid: 'nope' } }],
      status: 409,
      reason: 'Conflict',
      message: `${about}the UID in the precondition (nope) does not match the UID in record (UID). The object might have been deleted and then recreated`
    })
    await runCase(t, api, {
      name: 'another version',
      send: ['DELETE', path, { preconditions: { resourceVersion: '1' } }],
      status: 409,
      reason: 'Conflict',
      message: `${about}the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`
    })
    await runCase(t, api, { name: 'dry', send: ['DELETE', `${path}?dryRun=All`], status: 200 })
    t.equal(await isGone('d1'), false)
    const { body } = await call('DELETE', path)
    t.strictSame(body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'd1', group: 'contract.drover.dev', kind: 'widgets', uid: metadata.uid }
    })
    await runCase(t, api, {
      name: 'again',
      send: ['DELETE', path],
      status: 404,
      message: 'widgets.contract.drover.dev "d1" not found'
    })
    await runCase(t, api, {
      name: 'an apply that means the object that is gone',
      send: ['PATCH', `${path}?fieldManager=x`, { ...kind, metadata: { name: 'd1', uid: metadata.uid } }, apply],
      status: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on widgets.contract.drover.dev "d1": uid mismatch: the provided object specified uid UID, and no existing object was found'
    })
  })

  await t.test('a finalizer holds an object', async t => {
    const path = `${widgets}/held`
    await done('POST', widgets, widget('held', undefined, { finalizers: ['contract.drover.dev/x'] }))
    const waiting = await done('DELETE', path)
    t.match(waiting.metadata, { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0, generation: 2 })
    const again = await done('DELETE', path)
    t.equal(again.metadata.resourceVersion, waiting.metadata.resourceVersion, 'a second deletion changes nothing')
    await runCase(t, api, {
      name: 'no finalizer can be added now',
      send: ['PATCH', path, { metadata: { finalizers: ['contract.drover.dev/x', 'contract.drover.dev/y'] } }, merge],
      status: 422,
      message:
        'Widget.contract.drover.dev "held" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"contract.drover.dev/y"}'
    })
    t.equal((await done('PATCH', path, { spec: { size: 5 } }, merge)).spec?.size, 5, 'it can still be written')
    await done('PATCH', path, { metadata: { finalizers: null } }, merge)
    t.ok(await isGone('held'))
  })

  await t.test('a collection, by label', async t => {
    for (const name of ['c1', 'c2', 'c3'])
      await done('POST', widgets, widget(name, undefined, { labels: { third: String(name === 'c3') } }))
    const { kind, items } = await done('DELETE', `${widgets}?labelSelector=third%3Dfalse`)
    t.strictSame([kind, items?.map(({ metadata }) => metadata.name)], ['WidgetList', ['c1', 'c2']])
    t.strictSame([await isGone('c1'), await isGone('c2'), await isGone('c3')], [true, true, false])
  })

  await t.test('background: the owner goes at once, dependents follow', async t => {
    const owner = await done('POST', widgets, widget('owner'))
    await owned('child', owner)
    await owned('grandchild', await done('GET', `${widgets}/child`))
    await done('DELETE', `${widgets}/owner`, { propagationPolicy: 'Background' })
    t.ok(await isGone('owner'))
    t.ok(await gone('child'))
    t.ok(await gone('grandchild'))
  })

  await t.test('foreground: the owner waits for its dependents', async t => {
    const owner = await done('POST', widgets, widget('first'))
    await owned('second', owner, { blockOwnerDeletion: true })
    await done('PATCH', `${widgets}/second`, { metadata: { finalizers: ['contract.drover.dev/x'] } }, merge)
    const waiting = await done('DELETE', `${widgets}/first`, { propagationPolicy: 'Foreground' })
    t.strictSame(waiting.metadata.finalizers, ['foregroundDeletion'])
    await until(
      () => done('GET', `${widgets}/second`),
      ({ metadata }) => metadata.deletionTimestamp !== undefined
    )
    t.equal(await isGone('first'), false)
    await done('PATCH', `${widgets}/second`, { metadata: { finalizers: null } }, merge)
    t.ok(await gone('first'))
    t.ok(await isGone('second'))
  })

  await t.test('orphan: dependents stay, without the reference', async t => {
    const owner = await done('POST', widgets, widget('parent'))
    await owned('orphan', owner)
    await done('DELETE', `${widgets}/parent`, { propagationPolicy: 'Orphan' })
    t.ok(await gone('parent'))
    t.equal((await done('GET', `${widgets}/orphan`)).metadata.ownerReferences, undefined)
  })

  await t.test('a dependent of two stays with the other', async t => {
    const [a, b] = [await done('POST', widgets, widget('a')), await done('POST', widgets, widget('b'))]
    const references = [a, b].map(({ metadata: { name, uid } }) => ({
      apiVersion: 'contract.drover.dev/v1',
      kind: 'Widget',
      name,
      uid
    }))
    await done('POST', widgets, widget('both', undefined, { ownerReferences: references }))
    await done('DELETE', `${widgets}/a`)
    const both = await until(
      () => done('GET', `${widgets}/both`),
      ({ metadata }) => (metadata.ownerReferences as unknown[]).length === 1
    )
    matchWhole(t, both.metadata.ownerReferences, [{ name: 'b' }])
  })
}
