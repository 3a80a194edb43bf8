// Mutating webhooks: what their patches do, in which order, and who sees the outcome.
import type { Test } from 'tap'
import { matchWhole } from '../../../assert/match-whole.ts'
import { configure, settled, startHook, type Reply } from './hook.ts'
import { jsonPatch, merge, widget, type Api, type Body } from './target.ts'

const patching = (...operations: object[]): Reply => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64')
})
const annotate = (name: string, value: string, { metadata }: Body): Reply =>
  metadata.annotations
    ? patching({ op: 'add', path: `/metadata/annotations/${name}`, value })
    : patching({ op: 'add', path: '/metadata/annotations', value: { [name]: value } })

export async function mutation(t: Test, api: Api): Promise<void> {
  const { namespace, widgets, call, done } = api
  const [first, second, judge] = [await startHook(t, api), await startHook(t, api), await startHook(t, api)]
  const config = ({ url, ca }: { url: string; ca: string }): object => ({ clientConfig: { url, caBundle: ca } })
  await done('DELETE', widgets)
  const paths = [
    await configure(api, 'Mutating', `contract-${namespace}`, [
      { name: 'first.contract.drover.dev', reinvocationPolicy: 'IfNeeded', ...config(first) },
      { name: 'second.contract.drover.dev', ...config(second) }
    ]),
    await configure(api, 'Validating', `contract-${namespace}`, [{ name: 'judge.contract.drover.dev', ...config(judge) }])
  ]
  t.teardown(() => Promise.all(paths.map(path => call('DELETE', path))))
  for (const hook of [first, second, judge]) {
    for (const each of [first, second, judge]) each.answer(() => ({ allowed: true }))
    await settled(api, hook)
  }
  const reset = (): void => {
    for (const { answer, asked } of [first, second, judge]) {
      answer(() => ({ allowed: true }))
      asked.length = 0
    }
  }

  await t.test('its patch is what is stored, and what validating webhooks see', async t => {
    reset()
    first.answer(({ object }) => annotate('stamp', 'first', object!))
    const made = await done('POST', `${widgets}?fieldManager=me`, widget('stamped'))
    t.match(made.metadata, { annotations: { stamp: 'first' }, generation: 1 })
    matchWhole(t, judge.asked, [{ operation: 'CREATE', object: { metadata: { annotations: { stamp: 'first' } } } }])
    t.match(await done('GET', `${widgets}/stamped`), { metadata: { annotations: { stamp: 'first' } } })
    t.notMatch(JSON.stringify(made.metadata.managedFields), 'f:stamp', 'nobody owns it')
    matchWhole(t, first.asked[0]?.object, {
      metadata: { name: 'stamped', managedFields: [{ manager: 'me' }] },
      spec: { size: 3 }
    })
  })

  await t.test('a change of the spec counts, one of an update is not owned by its writer', async t => {
    reset()
    first.answer(() => patching({ op: 'replace', path: '/spec/size', value: 7 }))
    const changed = await done('PATCH', `${widgets}/stamped?fieldManager=me`, { metadata: { labels: { a: 'b' } } }, merge)
    t.match(changed, { spec: { size: 7 }, metadata: { generation: 2, labels: { a: 'b' } } })
    matchWhole(t, first.asked, [{ operation: 'UPDATE', object: { spec: { size: 3 } }, oldObject: { spec: { size: 3 } } }])
  })

  await t.test('one after the other, and the first once more when the second changed something', async t => {
    reset()
    first.answer(({ object }) => annotate('stamp', String(object?.spec?.size), object!))
    second.answer(() => patching({ op: 'replace', path: '/spec/size', value: 9 }))
    const made = await done('POST', `${widgets}?dryRun=All`, widget('twice'))
    t.match(made, { spec: { size: 9 }, metadata: { annotations: { stamp: '9' } } })
    t.strictSame([first.asked.length, second.asked.length], [2, 1])
    t.match(second.asked[0]?.object, { metadata: { annotations: { stamp: '3' } } })
  })

  await t.test('through the status endpoint only the status counts', async t => {
    reset()
    first.answer(() =>
      patching({ op: 'replace', path: '/spec/size', value: 1 }, { op: 'add', path: '/status', value: { phase: 'patched' } })
    )
    const changed = await done('PATCH', `${widgets}/stamped/status`, { status: { count: 4 } }, merge)
    t.match(changed, { spec: { size: 7 }, status: { phase: 'patched' } })
  })

  await t.test('what it adds is pruned and validated like anything', async t => {
    reset()
    first.answer(() => patching({ op: 'add', path: '/spec/nosuch', value: 1 }))
    const pruned = await done('POST', `${widgets}?dryRun=All&fieldValidation=Strict`, widget('pruned'))
    t.notHas(pruned.spec, { nosuch: Number })
    first.answer(() => patching({ op: 'replace', path: '/spec/size', value: 99 }))
    const { status, body } = await call('POST', widgets, widget('invalid'))
    t.strictSame([status, body.reason], [422, 'Invalid'])
    t.match(body.message, 'spec.size in body should be less than or equal to 10')
  })

  await t.test('answers that are none', async t => {
    reset()
    const answers: Array<[name: string, reply: Reply, status: number, message: RegExp]> = [
      [
        'a refusal',
        { allowed: false, status: { message: 'no' } },
        400,
        /^admission webhook "first\.contract\.drover\.dev" denied the request: no$/
      ],
      ['a patch that does not apply', patching({ op: 'remove', path: '/spec/none' }), 500, /^Internal error occurred: /],
      [
        'a patch without a type',
        { allowed: true, patch: 'W10=' },
        500,
        /^Internal error occurred: failed calling webhook "first\.contract\.drover\.dev": /
      ]
    ]
    for (const [name, reply, status, message] of answers) {
      first.answer(() => reply)
      const answer = await call('POST', `${widgets}?dryRun=All`, widget('none'))
      t.equal(answer.status, status, name)
      t.match(answer.body.message, message, name)
    }
  })

  await t.test('an apply that it answers is an apply still', async t => {
    reset()
    first.answer(({ object }) => annotate('stamp', 'first', object!))
    const config = { ...widget('applied'), spec: { color: 'red' } }
    const path = `${widgets}/applied?fieldManager=me`
    await done('PATCH', path, config, 'application/apply-patch+yaml')
    const again = await done('PATCH', path, config, 'application/apply-patch+yaml')
    t.match(again.metadata, { annotations: { stamp: 'first' }, generation: 1 })
    const removed = await done('PATCH', `${widgets}/applied`, [{ op: 'remove', path: '/spec/size' }], jsonPatch)
    t.match(removed.spec, { size: 3 })
  })
}
