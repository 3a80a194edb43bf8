// Long: one account and its token serve all rows. Who one is and what one may do.
import type { Test } from 'tap'
import { matchWhole } from '../../../assert/match-whole.ts'
import { until, type Api, type Body } from './target.ts'

const core = '/api/v1'
const rbac = '/apis/rbac.authorization.k8s.io/v1'

export async function access(t: Test, api: Api): Promise<void> {
  const { namespace, call, done } = api
  const accounts = `${core}/namespaces/${namespace}/serviceaccounts`
  await done('POST', accounts, { metadata: { name: 'reader' } })
  const { status } = await done('POST', `${accounts}/reader/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 600 }
  })
  const token = String(status?.token)
  const username = `system:serviceaccount:${namespace}:reader`
  const asReader = (method: string, path: string, body?: unknown) =>
    call(method, path, body, undefined, { authorization: `Bearer ${token}` })
  const review = async (group: string, kind: string, spec: object, ask: typeof call = call): Promise<Body['status']> => {
    const answer = await ask('POST', `/apis/${group}/v1/${kind.toLowerCase()}s`, { apiVersion: `${group}/v1`, kind, spec })
    t.equal(answer.status, 201, kind)
    return answer.body.status
  }

  await t.test('a wrong token', async t => {
    const answer = await call('GET', core, undefined, undefined, { authorization: 'Bearer nonsense' })
    t.equal(answer.status, 401)
    t.match(answer.body, { kind: 'Status', status: 'Failure', message: 'Unauthorized', reason: 'Unauthorized', code: 401 })
  })

  await t.test('somebody else, as kubectl --as has it', async t => {
    const nodes = `${core}/nodes`
    const as = (name: string, group?: string) =>
      call('GET', nodes, undefined, undefined, { 'impersonate-user': name, ...(group && { 'impersonate-group': group }) })
    const { status: code, body } = await as('jane')
    t.strictSame(
      [code, body.message],
      [403, 'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope']
    )
    t.equal((await as('jane', 'system:masters')).status, 200)
    const reader = await call('GET', nodes, undefined, undefined, {
      authorization: `Bearer ${token}`,
      'impersonate-user': 'jane'
    })
    t.strictSame([reader.status, reader.body.reason], [403, 'Forbidden'])
    t.match(reader.body.message, `User "${username}" cannot impersonate`)
    const nobody = await call('GET', nodes, undefined, undefined, { 'impersonate-group': 'system:masters' })
    t.strictSame([nobody.status, nobody.body.reason], [400, 'BadRequest'], 'a group without a user')
    t.match(nobody.body.message, /without impersonating a user name$/)
    const self = await call(
      'POST',
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      undefined,
      { 'impersonate-user': 'jane', 'impersonate-extra-example.dev%2fplace': 'here' }
    )
    t.strictSame(self.body.status, {
      userInfo: { username: 'jane', groups: ['system:authenticated'], extra: { 'example.dev/place': ['here'] } }
    })
  })

  await t.test('who may be jane may not be in any group of her choice', async t => {
    const name = `${namespace}-jane`
    const apiGroup = 'rbac.authorization.k8s.io'
    t.teardown(() => Promise.all(['clusterroles', 'clusterrolebindings'].map(kind => call('DELETE', `${rbac}/${kind}/${name}`))))
    const rules = [{ apiGroups: [''], resources: ['users'], resourceNames: ['jane'], verbs: ['impersonate'] }]
    await done('POST', `${rbac}/clusterroles`, { metadata: { name }, rules })
    await done('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [{ apiGroup, kind: 'User', name: username }]
    })
    const as = (more: Record<string, string>) =>
      call('GET', `${core}/nodes`, undefined, undefined, {
        authorization: `Bearer ${token}`,
        'impersonate-user': 'jane',
        ...more
      })
    await until(
      () => as({}),
      ({ body }) => body.message?.includes('User "jane" cannot list') === true
    )
    const about = `is forbidden: User "${username}" cannot impersonate resource`
    t.equal(
      (await as({ 'impersonate-group': 'system:masters' })).body.message,
      `groups "system:masters" ${about} "groups" in API group "" at the cluster scope`
    )
    t.equal(
      (await as({ 'impersonate-extra-place': 'here' })).body.message,
      `userextras.authentication.k8s.io "here" ${about} "userextras/place" in API group "authentication.k8s.io" at the cluster scope`
    )
  })

  await t.test('what no role allows', async t => {
    const paths: Array<[method: string, path: string, message: string]> = [
      [
        'GET',
        `${core}/namespaces/${namespace}/secrets`,
        `secrets is forbidden: User "${username}" cannot list resource "secrets" in API group "" in the namespace "${namespace}"`
      ],
      [
        'GET',
        `${core}/nodes`,
        `nodes is forbidden: User "${username}" cannot list resource "nodes" in API group "" at the cluster scope`
      ],
      [
        'GET',
        `${core}/nodes/n1`,
        `nodes "n1" is forbidden: User "${username}" cannot get resource "nodes" in API group "" at the cluster scope`
      ],
      [
        'PATCH',
        `${api.widgets}/x/status`,
        `widgets.contract.drover.dev "x" is forbidden: User "${username}" cannot patch resource "widgets/status" in API group "contract.drover.dev" in the namespace "${namespace}"`
      ],
      ['GET', '/metrics', `forbidden: User "${username}" cannot get path "/metrics"`]
    ]
    for (const [method, path, message] of paths) {
      const { status: code, body } = await asReader(method, path)
      t.strictSame([code, body.reason, body.message], [403, 'Forbidden', message])
    }
  })

  await t.test('what everybody may see', async t => {
    for (const path of ['/api', '/apis', '/version', '/openapi/v3']) t.equal((await asReader('GET', path)).status, 200, path)
  })

  await t.test('a role opens what it names', async t => {
    await done('POST', `${rbac}/namespaces/${namespace}/roles`, {
      metadata: { name: 'reads' },
      rules: [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'patch'] },
        { apiGroups: [''], resources: ['secrets'], resourceNames: ['one'], verbs: ['get'] }
      ]
    })
    await done('POST', `${rbac}/namespaces/${namespace}/rolebindings`, {
      metadata: { name: 'reads' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reads' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }]
    })
    await until(
      () => asReader('GET', `${core}/namespaces/${namespace}/configmaps`),
      answer => answer.status === 200
    )
    t.equal((await asReader('GET', `${core}/configmaps`)).status, 403, 'not in all namespaces')
    t.equal((await asReader('DELETE', `${core}/namespaces/${namespace}/configmaps/x`)).status, 403, 'not to delete')
    t.equal(
      (await asReader('GET', `${core}/namespaces/${namespace}/secrets/one`)).status,
      404,
      'the named one is allowed, and not there'
    )
    t.equal((await asReader('GET', `${core}/namespaces/${namespace}/secrets/two`)).status, 403, 'another is not')
    const applied = async (name: string): Promise<unknown[]> => {
      const path = `${core}/namespaces/${namespace}/configmaps/${name}?fieldManager=reader`
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' } }
      const headers = { authorization: `Bearer ${token}` }
      const { status: code, body } = await call('PATCH', path, map, 'application/apply-patch+yaml', headers)
      return [code, body.message]
    }
    t.strictSame(
      await applied('absent'),
      [
        403,
        `configmaps "absent" is forbidden: User "${username}" cannot create resource "configmaps" in API group "" in the namespace "${namespace}"`
      ],
      'to apply what is not there is to create it'
    )
    await done('POST', `${core}/namespaces/${namespace}/configmaps`, { metadata: { name: 'present' } })
    t.equal((await applied('present'))[0], 200)
  })

  await t.test('reviews', async t => {
    const authentication = 'authentication.k8s.io'
    const authorization = 'authorization.k8s.io'
    matchWhole(t, await review(authentication, 'TokenReview', { token }), {
      authenticated: true,
      user: { username, groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'] }
    })
    t.notOk(
      (await review(authentication, 'TokenReview', { token, audiences: ['other'] }))?.authenticated,
      'not for another audience'
    )
    t.notOk((await review(authentication, 'TokenReview', { token: 'nonsense' }))?.authenticated)
    const attributes = { namespace, verb: 'list', resource: 'configmaps' }
    t.match(await review(authorization, 'SubjectAccessReview', { user: username, resourceAttributes: attributes }), {
      allowed: true
    })
    t.match(
      await review(authorization, 'SubjectAccessReview', {
        user: username,
        resourceAttributes: { ...attributes, verb: 'delete' }
      }),
      { allowed: false }
    )
    t.match(
      await review(authorization, 'SubjectAccessReview', { user: 'x', nonResourceAttributes: { verb: 'get', path: '/metrics' } }),
      { allowed: false }
    )
    const asked: typeof call = (method, path, body) => asReader(method, path, body)
    t.match(await review(authorization, 'SelfSubjectAccessReview', { resourceAttributes: attributes }, asked), { allowed: true })
    t.match(await review(authentication, 'SelfSubjectReview', {}, asked), { userInfo: { username } })
  })

  await t.test('a token of a pod names its node, and ends with the pod', async t => {
    const pods = `${core}/namespaces/${namespace}/pods`
    const ask = (boundObjectRef: object) => call('POST', `${accounts}/reader/token`, { spec: { boundObjectRef } })
    const pod = await done('POST', pods, {
      metadata: { name: 'bound' },
      spec: { serviceAccountName: 'reader', nodeName: 'far-away', containers: [{ name: 'c', image: 'i' }] }
    })
    const { uid } = pod.metadata
    const bound = String((await ask({ apiVersion: 'v1', kind: 'Pod', name: 'bound', uid })).body.status?.token)
    matchWhole(t, await review('authentication.k8s.io', 'TokenReview', { token: bound }), {
      user: {
        extra: {
          'authentication.kubernetes.io/node-name': ['far-away'],
          'authentication.kubernetes.io/pod-name': ['bound'],
          'authentication.kubernetes.io/pod-uid': [uid]
        }
      }
    })
    const refusals: Array<[reference: object, status: number, message: RegExp]> = [
      [{ kind: 'Pod', apiVersion: 'v1', name: 'none' }, 404, /^pods "none" not found$/],
      [
        { kind: 'Pod', apiVersion: 'v1', name: 'bound', uid: 'other' },
        409,
        /the UID in the bound object reference \(other\) does not match/
      ],
      [{ kind: 'ConfigMap', apiVersion: 'v1', name: 'c' }, 400, /^cannot bind token to object of type .*Kind=ConfigMap$/]
    ]
    for (const [reference, code, message] of refusals) {
      const answer = await ask(reference)
      t.equal(answer.status, code)
      t.match(answer.body.message, message)
    }
    await done('DELETE', `${pods}/bound?gracePeriodSeconds=0`)
    await until(
      () => call('GET', '/api', undefined, undefined, { authorization: `Bearer ${bound}` }),
      ({ status: code }) => code === 401
    )
  })

  await t.test('a token ends with its account', async t => {
    await done('DELETE', `${accounts}/reader`)
    const answer = await until(
      () => asReader('GET', '/api'),
      ({ status: code }) => code === 401
    )
    t.equal(answer.status, 401)
  })
}
