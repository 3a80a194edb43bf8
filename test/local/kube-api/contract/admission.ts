// Validating webhooks: when they are asked, what they are told, what their answers do.
import type { Test } from 'tap'
import { matchWhole } from '../../../assert/match-whole.ts'
import { configure, settled, startHook } from './hook.ts'
import { merge, until, widget, type Api } from './target.ts'

export async function admission(t: Test, api: Api): Promise<void> {
  const { namespace, widgets, call, done } = api
  const hook = await startHook(t, api)
  const { asked, answer } = hook
  const clientConfig = { url: hook.url, caBundle: hook.ca }
  await done('DELETE', widgets)

  const set = async (webhook: object): Promise<string> => {
    const usual = { name: 'hook.contract.drover.dev', clientConfig }
    const path = await configure(api, 'Validating', `contract-${namespace}`, [{ ...usual, ...webhook }])
    await settled(api, hook)
    return path
  }
  const path = await set({})
  t.teardown(() => call('DELETE', path))

  await t.test('it is told what is to be written, and by whom', async t => {
    await done('POST', widgets, widget('told'))
    await done('PATCH', `${widgets}/told`, { spec: { size: 5 } }, merge)
    await done('PATCH', `${widgets}/told/status`, { status: { phase: 'x' } }, merge)
    await done('DELETE', `${widgets}/told`)
    matchWhole(t, asked, [
      {
        operation: 'CREATE',
        name: 'told',
        namespace,
        dryRun: false,
        object: { spec: { size: 3 } },
        oldObject: null,
        kind: { group: 'contract.drover.dev', version: 'v1', kind: 'Widget' },
        resource: { resource: 'widgets' },
        userInfo: { username: 'admin' }
      },
      { operation: 'UPDATE', object: { spec: { size: 5 } }, oldObject: { spec: { size: 3 } } },
      { operation: 'UPDATE', subResource: 'status', object: { status: { phase: 'x' } } },
      { operation: 'DELETE', object: null, oldObject: { metadata: { name: 'told' } } }
    ])
  })

  const denied = 'admission webhook "hook.contract.drover.dev" denied the request'
  const denials: Array<[name: string, status: object | undefined, expected: [number, string | undefined, string]]> = [
    ['a message', { message: 'not today' }, [400, undefined, `${denied}: not today`]],
    ['a code and a reason', { code: 422, reason: 'Invalid', message: 'wrong' }, [422, 'Invalid', `${denied}: wrong`]],
    ['no word', undefined, [400, undefined, `${denied} without explanation`]]
  ]
  await t.test('its refusal is told in its words', async t => {
    for (const [title, status, expected] of denials) {
      answer(() => ({ allowed: false, ...(status && { status }) }))
      const { status: code, body } = await call('POST', widgets, widget('refused'))
      t.strictSame([code, body.reason, body.message], expected, title)
    }
  })

  await t.test('its warnings reach the client', async t => {
    answer(() => ({ allowed: true, warnings: ['mind the gap'] }))
    const { status, headers } = await call('POST', `${widgets}?dryRun=All`, widget('warned'))
    t.strictSame([status, headers.warning], [201, '299 - "mind the gap"'])
  })

  await t.test('match conditions and selectors keep it out', async t => {
    await set({
      matchConditions: [
        { name: 'not-skipped', expression: "!has(object.metadata.labels) || !('skip' in object.metadata.labels)" }
      ],
      objectSelector: { matchExpressions: [{ key: 'hidden', operator: 'DoesNotExist' }] }
    })
    await done('POST', `${widgets}?dryRun=All`, widget('m1', undefined, { labels: { skip: 'yes' } }))
    await done('POST', `${widgets}?dryRun=All`, widget('m2', undefined, { labels: { hidden: 'yes' } }))
    await done('POST', `${widgets}?dryRun=All`, widget('m3'))
    t.strictSame(
      asked.map(review => review.name),
      ['m3']
    )
  })

  await t.test('a webhook that fails', async t => {
    await set({ failurePolicy: 'Fail', timeoutSeconds: 1 })
    answer(() => 'hang')
    const late = await call('POST', widgets, widget('late'))
    t.equal(late.status, 500)
    t.match(late.body, {
      reason: 'InternalError',
      message:
        /^Internal error occurred: failed calling webhook "hook.contract.drover.dev": failed to call webhook: Post "https:.*\/check\?timeout=1s": context deadline exceeded/
    })
    await set({ failurePolicy: 'Ignore' })
    answer(() => 'garbage')
    t.equal((await call('POST', widgets, widget('ignored'))).status, 201)
  })

  await t.test('a webhook that is not there', async t => {
    const { body: before } = await call('GET', path)
    const [webhook] = before.webhooks as object[]
    const refused = { ...webhook, clientConfig: { url: 'https://127.0.0.1:1/check' }, failurePolicy: 'Fail' }
    await done('PATCH', path, { webhooks: [refused] }, merge)
    const { body } = await until(
      () => call('POST', `${widgets}?dryRun=All`, widget('down')),
      ({ status }) => status === 500
    )
    t.equal(
      body.message,
      'Internal error occurred: failed calling webhook "hook.contract.drover.dev": failed to call webhook: Post "https://127.0.0.1:1/check?timeout=2s": dial tcp 127.0.0.1:1: connect: connection refused'
    )
  })
}
