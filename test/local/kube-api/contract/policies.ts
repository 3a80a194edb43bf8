// ValidatingAdmissionPolicies: what they refuse, with which words.
import type { Test } from 'tap'
import { group, policyRefusals, resourceRules } from './policy-refusals.ts'
import { apply, merge, runCase, until, widget, type Api } from './target.ts'

let rounds = 0

export async function policies(t: Test, api: Api): Promise<void> {
  const { namespace, widgets, call, done } = api
  const name = `policy-${namespace}` // policies are global: named after our namespace
  const paths = {
    policy: `${group}/validatingadmissionpolicies/${name}`,
    binding: `${group}/validatingadmissionpolicybindings/${name}`
  }
  t.teardown(async () => {
    await call('DELETE', paths.binding)
    await call('DELETE', paths.policy)
  })
  const write = (kind: 'Policy' | 'PolicyBinding', spec: object) =>
    done(
      'PATCH',
      `${kind === 'Policy' ? paths.policy : paths.binding}?fieldManager=contract&force=true`,
      { apiVersion: 'admissionregistration.k8s.io/v1', kind: `ValidatingAdmission${kind}`, metadata: { name }, spec },
      apply
    )
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }

  /** A policy counts a moment later: a widget called probe is refused with a word of this round. */
  const set = async (spec: object, binding: object = {}): Promise<void> => {
    const word = `round ${++rounds}`
    const validations = [
      { expression: "object == null || object.metadata.name != 'probe'", message: word },
      ...((spec as { validations?: object[] }).validations ?? [])
    ]
    await write('Policy', { matchConstraints: { resourceRules, namespaceSelector }, ...spec, validations })
    await write('PolicyBinding', { policyName: name, validationActions: ['Deny'], ...binding })
    await until(
      () => call('POST', `${widgets}?dryRun=All`, widget('probe')),
      ({ body, headers }) => (body.message ?? String(headers.warning ?? '')).includes(word)
    )
  }
  const refused = (object: string, message: string): string =>
    `widgets.contract.drover.dev "${object}" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: ${message}`

  await t.test('a rule that is broken is told in the words of the policy', async t => {
    await set({
      variables: [
        { name: 'colors', expression: "['red', 'blue']" },
        { name: 'shown', expression: "variables.colors.map(color, '<' + color + '>')" }
      ],
      validations: [
        { expression: "object == null || object.spec.color in variables.colors || object.spec.color == 'green'" },
        { expression: "object == null || object.spec.color != 'green' || object.spec.size > 3", message: 'a large green one' },
        {
          expression: 'object == null || !has(object.spec.code) || oldObject == null || object.spec.code == oldObject.spec.code',
          messageExpression: "'of ' + variables.shown.join(', ') + ' by ' + request.userInfo.username",
          reason: 'Forbidden'
        },
        {
          expression: "object != null || oldObject.spec.color != 'blue'",
          message: 'blue ones stay',
          reason: 'RequestEntityTooLarge'
        }
      ]
    })
    t.equal((await call('POST', widgets, widget('good', { color: 'red', code: 'aa' }))).status, 201)
    const small = await call('POST', widgets, widget('small', { color: 'green' }))
    t.strictSame([small.status, small.body.reason, small.body.message], [422, 'Invalid', refused('small', 'a large green one')])
    t.strictSame(small.body.details, {
      name: 'small',
      group: 'contract.drover.dev',
      kind: 'widgets',
      causes: [{ message: `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: a large green one` }]
    })
    const changed = await call('PATCH', `${widgets}/good`, { spec: { code: 'bb' } }, merge)
    t.strictSame(
      [changed.status, changed.body.reason, changed.body.message],
      [403, 'Forbidden', refused('good', 'of <red>, <blue> by admin')]
    )
    await done('POST', widgets, widget('blue', { color: 'blue' }))
    const stays = await call('DELETE', `${widgets}/blue`)
    t.strictSame(
      [stays.status, stays.body.reason, stays.body.message],
      [413, 'RequestEntityTooLarge', refused('blue', 'blue ones stay')]
    )
    t.equal((await call('DELETE', `${widgets}/good`)).status, 200)
  })

  await t.test('whom it is about: rules, selectors, match conditions, and those of the binding', async t => {
    const never = [{ expression: 'false', message: 'never' }]
    const status = async (object: object, path = widgets): Promise<number> =>
      (await call('POST', `${path}?dryRun=All`, object)).status
    await set({ validations: never })
    t.equal(await status(widget('any')), 422)
    t.equal(await status(widget('any'), widgets.replace(namespace, 'kube-public')), 201, 'another namespace')
    t.equal(
      (await call('POST', `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, { metadata: { name: 'free' } })).status,
      201
    )
    await set({
      validations: never,
      matchConditions: [{ name: 'big', expression: 'object.spec.size > 5 || object.metadata.name == "probe"' }]
    })
    t.strictSame(
      [await status(widget('a', { color: 'red', size: 6 })), await status(widget('a', { color: 'red', size: 5 }))],
      [422, 201]
    )
    await set(
      { validations: never },
      {
        matchResources: {
          namespaceSelector,
          objectSelector: { matchExpressions: [{ key: 'hidden', operator: 'DoesNotExist' }] },
          excludeResourceRules: [{ ...resourceRules[0], resourceNames: ['spared'] }]
        }
      }
    )
    t.strictSame(
      [
        await status(widget('a')),
        await status(widget('a', undefined, { labels: { hidden: '' } })),
        await status(widget('spared'))
      ],
      [422, 201, 201]
    )
  })

  await t.test('an expression that fails', async t => {
    const unknown = "object.metadata.annotations['who'] == 'me'"
    const fails = { validations: [{ expression: `object.metadata.name == 'probe' || ${unknown}` }] }
    const post = () => call('POST', `${widgets}?dryRun=All`, widget('a', undefined, { annotations: { some: 'x' } }))
    await set(fails)
    const { status, body } = await post()
    t.strictSame(
      [status, body.reason, body.message],
      [
        422,
        'Invalid',
        refused('a', `expression 'object.metadata.name == 'probe' || ${unknown}' resulted in error: no such key: who`)
      ]
    )
    await set({ ...fails, failurePolicy: 'Ignore' })
    t.equal((await post()).status, 201, 'is passed over when the policy says so')
    const condition = { matchConditions: [{ name: 'who', expression: `object.metadata.name == 'probe' || ${unknown}` }] }
    await set(condition)
    const unmatched = await post()
    t.strictSame(
      [unmatched.status, unmatched.body.message],
      [422, refused('a', `expression 'object.metadata.name == 'probe' || ${unknown}' resulted in error: no such key: who`)]
    )
    await set({ ...condition, failurePolicy: 'Ignore' })
    t.equal((await post()).status, 201, 'and then the policy is not about it')
  })

  await t.test('warned of, and let through', async t => {
    await set(
      { validations: [{ expression: "object.metadata.name == 'probe'", message: 'mind it' }] },
      { validationActions: ['Warn', 'Audit'] }
    )
    const { status, headers } = await call('POST', `${widgets}?dryRun=All`, widget('a'))
    t.strictSame(
      [status, headers.warning],
      [201, `299 - "Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}': mind it"`]
    )
  })

  await t.test('what no policy can be', async t => {
    for (const each of policyRefusals(name)) await runCase(t, api, each)
  })
}
