// Built-in kinds as Drover writes them, definitions of kinds, and sizes: what is refused.
import type { Test } from 'tap'
import { merge, runCase, widget, type Api, type Case } from './target.ts'
import { widgets } from './widgets.ts'

type Causes = NonNullable<Case['causes']>
const required = 'FieldValueRequired'
const invalid = 'FieldValueInvalid'
const unsupported = 'FieldValueNotSupported'
const immutable = 'FieldValueForbidden'

function rows({ namespace }: Api): Case[] {
  const core = `/api/v1/namespaces/${namespace}`
  const apps = `/apis/apps/v1/namespaces/${namespace}`
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
  const post = (name: string, path: string, body: object, causes: Causes): Case => ({
    name,
    send: ['POST', `${path}?dryRun=All`, { metadata: { name: 'x' }, ...body }],
    status: 422,
    reason: 'Invalid',
    causes
  })
  const taint = (name: string, taints: object[], causes: Causes): Case =>
    post(name, '/api/v1/nodes', { spec: { taints } }, causes)
  const deployment = (name: string, spec: object, causes: Causes): Case =>
    post(name, `${apps}/deployments`, { spec: { selector: { matchLabels: { a: 'b' } }, template, ...spec } }, causes)
  const containers = [{ name: 'c', image: 'i' }]
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers } }
  const mebibyte = 'x'.repeat(1024 * 1024)
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }
  return [
    post('a ConfigMap of more than 1 MiB', `${core}/configmaps`, { data: { a: mebibyte, b: 'x' } }, [
      ['FieldValueTooLong', '[]']
    ]),
    {
      name: 'a Secret of more than 1 MiB',
      send: ['POST', `${core}/secrets?dryRun=All`, { metadata: { name: 'x' }, stringData: { a: mebibyte, b: 'x' } }],
      status: 422,
      message: 'Secret "x" is invalid: data: Too long: may not be more than 1048576 bytes',
      causes: [['FieldValueTooLong', 'data']]
    },
    {
      name: 'one of just 1 MiB',
      send: ['POST', `${core}/configmaps?dryRun=All`, { metadata: { name: 'x' }, data: { a: mebibyte } }],
      status: 201
    },
    post('a key with a blank', `${core}/configmaps`, { data: { 'a b': 'x' } }, [[invalid, 'data[a b]']]),
    post('a certificate without its key', `${core}/secrets`, { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } }, [
      [required, 'data[tls.key]']
    ]),
    taint('a taint without effect', [{ key: 'a' }], [[required, 'metadata.taints[0].effect']]),
    taint('a taint of an unknown effect', [{ key: 'a', effect: 'Maybe' }], [[unsupported, 'metadata.taints[0].effect']]),
    taint('a taint with a blank', [{ key: 'a b', effect: 'NoSchedule' }], [[invalid, 'metadata.taints[0].key']]),
    taint(
      'a taint with a value that is none',
      [{ key: 'a', value: '!', effect: 'NoSchedule' }],
      [[invalid, 'metadata.taints[0].value']]
    ),
    taint(
      'a taint twice',
      [
        { key: 'a', effect: 'NoSchedule' },
        { key: 'a', value: 'b', effect: 'NoSchedule' }
      ],
      [['FieldValueDuplicate', 'metadata.taints[1]']]
    ),
    post(
      'a lease of no time',
      `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
      { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
      [
        [invalid, 'spec.leaseDurationSeconds'],
        [invalid, 'spec.leaseTransitions']
      ]
    ),
    deployment('a Deployment that selects others', { selector: { matchLabels: { a: 'c' } } }, [
      [invalid, 'spec.template.metadata.labels']
    ]),
    deployment('a Deployment that selects everything', { selector: {} }, [[invalid, 'spec.selector']]),
    deployment('a Deployment without containers', { template: { ...template, spec: { containers: [] } } }, [
      [required, 'spec.template.spec.containers']
    ]),
    deployment('a container without image', { template: { ...template, spec: { containers: [{ name: 'c' }] } } }, [
      [required, 'spec.template.spec.containers[0].image']
    ]),
    post(
      'a budget that says it twice',
      `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`,
      { spec: { minAvailable: 1, maxUnavailable: 1 } },
      [[invalid, 'spec']]
    ),
    post('a role without verbs', `${rbac}/roles`, { rules: [{ apiGroups: [''], resources: ['pods'] }] }, [
      [required, 'rules[0].verbs']
    ]),
    post('a role without groups', `${rbac}/roles`, { rules: [{ resources: ['pods'], verbs: ['get'] }] }, [
      [required, 'rules[0].apiGroups']
    ]),
    post('a binding to nothing', `${rbac}/rolebindings`, { roleRef: { ...roleRef, name: '' } }, [[required, 'roleRef.name']]),
    post('a binding of nobody', `${rbac}/rolebindings`, { roleRef, subjects: [{ kind: 'User', apiGroup: roleRef.apiGroup }] }, [
      [required, 'subjects[0].name']
    ])
  ]
}

function definitions(): Case[] {
  const [version] = widgets.spec.versions
  const definition = (name: string, code: object, place: string, message: RegExp): Case => ({
    name,
    send: [
      'POST',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      {
        ...widgets,
        metadata: { name: 'things.contract.drover.dev' },
        spec: {
          group: widgets.spec.group,
          scope: 'Namespaced',
          names: { plural: 'things', kind: 'Thing' },
          versions: [
            {
              name: version?.name,
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', properties: { code } } }
            }
          ]
        }
      }
    ],
    status: 422,
    reason: 'Invalid',
    causes: [[invalid, `spec.validation.openAPIV3Schema.properties[code].${place}`]],
    message
  })
  const pattern = (name: string, text: string, why: RegExp): Case =>
    definition(name, { type: 'string', pattern: text }, 'pattern', why)
  const rule = (name: string, text: string, why: RegExp): Case =>
    definition(
      name,
      { type: 'string', maxLength: 9, 'x-kubernetes-validations': [{ rule: text }] },
      'x-kubernetes-validations[0].rule',
      why
    )
  return [
    pattern(
      'a pattern that looks ahead',
      '^(?!x)a',
      /must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: `\(\?!`$/
    ),
    pattern('a pattern that looks behind', '(?<=x)a', /error parsing regexp: invalid named capture: `\(\?<=x\)a`$/),
    pattern('a pattern that goes back to a group', '(a)\\1', /error parsing regexp: invalid escape sequence: `\\1`$/),
    pattern('a pattern of too many', 'a{1001}', /error parsing regexp: invalid repeat count: `\{1001\}`$/),
    rule(
      'a rule whose pattern looks ahead',
      "self.matches('(?=a)')",
      /compilation failed: ERROR: <input>:1:\d+: invalid matches argument/
    ),
    rule('a rule that is none', 'self.', /compilation failed: ERROR: <input>:1:\d+: /)
  ]
}

export async function refused(t: Test, api: Api): Promise<void> {
  const { namespace, call, done } = api
  for (const each of [...rows(api), ...definitions()]) await runCase(t, api, each)

  await t.test('what may not change', async t => {
    const core = `/api/v1/namespaces/${namespace}`
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`
    const selected = (value: string): object => ({
      selector: { matchLabels: { a: value } },
      template: { metadata: { labels: { a: value } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    })
    await done('POST', `${core}/secrets`, { metadata: { name: 'fixed' }, stringData: { a: 'b' } })
    await done('POST', `${core}/configmaps`, { metadata: { name: 'fixed' }, data: { a: 'b' }, immutable: true })
    await done('POST', deployments, { metadata: { name: 'fixed' }, spec: { replicas: 0, ...selected('b') } })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one' }
    await done('POST', rbac, { metadata: { name: 'fixed' }, roleRef })
    const changes: Array<[path: string, body: object, causes: Causes]> = [
      [`${core}/secrets/fixed`, { type: 'other' }, [[invalid, 'type']]],
      [`${core}/configmaps/fixed`, { data: { a: 'c' } }, [[immutable, 'data']]],
      [`${core}/configmaps/fixed`, { immutable: false }, [[immutable, 'immutable']]],
      [`${deployments}/fixed`, { spec: selected('c') }, [[invalid, 'spec.selector']]],
      [`${rbac}/fixed`, { roleRef: { name: 'other' } }, [[invalid, 'roleRef']]]
    ]
    for (const [path, body, causes] of changes)
      await runCase(t, api, {
        name: `${path} ${JSON.stringify(body)}`,
        send: ['PATCH', path, body, merge],
        status: 422,
        reason: 'Invalid',
        causes
      })
  })

  await t.test('an object that etcd does not take', async t => {
    const path = api.widgets
    const heavy = (mebibytes: number): object =>
      widget('heavy', { color: 'red', free: { text: 'x'.repeat(mebibytes * 1024 * 1024) } })
    const { status, body } = await call('POST', path, heavy(1.6))
    t.strictSame([status, body.reason, body.message], [500, undefined, 'etcdserver: request is too large'])
    t.equal((await call('GET', `${path}/heavy`)).status, 404)
    t.equal((await call('POST', path, heavy(1.4))).status, 201)
    const grown = await call('PATCH', `${path}/heavy`, { spec: { plain: ['y'.repeat(200 * 1024)] } }, merge)
    t.strictSame([grown.status, grown.body.message], [500, 'etcdserver: request is too large'])
    await done('DELETE', `${path}/heavy`)
  })
}
