// Nobody gives away rights that they do not have.
import type { Test } from 'tap'
import { merge, until, type Api } from './target.ts'

const group = 'rbac.authorization.k8s.io'
const rbac = `/apis/${group}/v1`

export async function escalation(t: Test, api: Api): Promise<void> {
  const { namespace, call, done } = api
  const user = `officer-${namespace}` // cluster roles are global: named after our namespace
  const path = (plural: string): string => `${rbac}/namespaces/${namespace}/${plural}`
  const as = (method: string, to: string, body?: unknown, type?: string) =>
    call(method, to, body, type, { 'impersonate-user': user })
  const names = [`keeper-${namespace}`, `more-${namespace}`, `granted-${namespace}`]
  t.teardown(async () => {
    for (const name of names) {
      await call('DELETE', `${rbac}/clusterroles/${name}`)
      await call('DELETE', `${rbac}/clusterrolebindings/${name}`)
    }
  })
  const [keeper = '', more = '', granted = ''] = names
  const grant = async (name: string, rules: object[]): Promise<void> => {
    await done('POST', `${rbac}/clusterroles`, { metadata: { name }, rules })
    await done('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects: [{ apiGroup: group, kind: 'User', name: user }]
    })
  }
  await grant(keeper, [
    { apiGroups: [group], resources: ['*'], verbs: ['get', 'create', 'update', 'patch'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['*/status'], verbs: ['get'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['one'], verbs: ['get'] },
    { nonResourceURLs: ['/logs/*'], verbs: ['get'] }
  ])
  const reading = (apiGroups: string[], resources: string[], verbs: string[], resourceNames?: string[]): object => ({
    apiGroups,
    resources,
    verbs,
    ...(resourceNames && { resourceNames })
  })
  await until(
    () => as('GET', path('roles') + '/none'),
    ({ status }) => status === 404
  )
  const role = (rules: object[], name = 'r'): object => ({ metadata: { name }, rules })
  const words = (plural: string, name: string, lines: string[]): string =>
    `${plural}.${group} "${name}" is forbidden: user "${user}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`

  await t.test('a role may hold what its writer has', async t => {
    const rules = [
      reading([''], ['configmaps'], ['get']),
      reading([''], ['pods/status'], ['get']),
      reading([''], ['secrets'], ['get'], ['one'])
    ]
    t.equal((await as('POST', path('roles'), role(rules, 'held'))).status, 201)
    const url = { nonResourceURLs: ['/logs/a'], verbs: ['get'] }
    t.equal((await as('POST', `${rbac}/clusterroles?dryRun=All`, role([url], granted))).status, 201)
  })

  await t.test('and nothing else', async t => {
    const { status, body } = await as(
      'POST',
      path('roles'),
      role([
        reading(['', 'apps'], ['configmaps', 'pods'], ['get', 'list', 'watch']),
        reading([''], ['secrets'], ['get'], ['one', 'two']),
        reading([''], ['secrets'], ['get'])
      ])
    )
    t.strictSame([status, body.reason], [403, 'Forbidden'])
    t.equal(
      body.message,
      words('roles', 'r', [
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["watch"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list" "watch"]}',
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["two"], Verbs:["get"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
        '{APIGroups:["apps"], Resources:["configmaps"], Verbs:["get" "list" "watch"]}',
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list" "watch"]}'
      ])
    )
    const changed = await as('PATCH', `${path('roles')}/held`, { rules: [reading(['*'], ['*'], ['*'])] }, merge)
    t.strictSame(
      [changed.status, changed.body.message],
      [403, words('roles', 'held', ['{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'])]
    )
    const urls = await as(
      'POST',
      `${rbac}/clusterroles`,
      role([{ nonResourceURLs: ['/logs/a', '/metrics'], verbs: ['get'] }], granted)
    )
    t.strictSame(
      [urls.status, urls.body.message],
      [403, words('clusterroles', granted, ['{NonResourceURLs:["/metrics"], Verbs:["get"]}'])]
    )
    const label = await as('PATCH', `${path('roles')}/held`, { metadata: { finalizers: ['contract.drover.dev/x'] } }, merge)
    t.equal(label.status, 200, 'what garbage collection writes is not asked about')
    await done('PATCH', `${path('roles')}/held`, { metadata: { finalizers: null } }, merge)
  })

  const binding = (kind: string, name: string): object => ({
    metadata: { name: granted },
    roleRef: { apiGroup: group, kind, name },
    subjects: [{ kind: 'User', apiGroup: group, name: 'friend' }]
  })
  await t.test('nor do they bind a role that holds more', async t => {
    await done('POST', path('roles'), role([reading([''], ['secrets'], ['list'])], 'other'))
    t.equal((await as('POST', `${path('rolebindings')}?dryRun=All`, binding('Role', 'held'))).status, 201)
    const other = await as('POST', path('rolebindings'), binding('Role', 'other'))
    t.strictSame(
      [other.status, other.body.message],
      [403, words('rolebindings', granted, ['{APIGroups:[""], Resources:["secrets"], Verbs:["list"]}'])]
    )
    const cluster = await as('POST', `${rbac}/clusterrolebindings`, binding('ClusterRole', 'cluster-admin'))
    t.strictSame(
      [cluster.status, cluster.body.message],
      [
        403,
        words('clusterrolebindings', granted, [
          '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
          '{NonResourceURLs:["*"], Verbs:["*"]}'
        ])
      ]
    )
    const none = await as('POST', path('rolebindings'), binding('Role', 'none'))
    t.strictSame([none.status, none.body.message], [404, `rolebindings.${group} "none" not found`])
  })

  await t.test('unless they may escalate or bind', async t => {
    await grant(more, [
      reading([group], ['roles'], ['escalate']),
      reading([group], ['roles', 'clusterroles'], ['bind'], ['other', 'cluster-admin'])
    ])
    await until(
      () => as('POST', `${path('roles')}?dryRun=All`, role([reading(['*'], ['*'], ['*'])])),
      ({ status }) => status === 201
    )
    t.equal((await as('POST', `${rbac}/clusterroles?dryRun=All`, role([reading(['*'], ['*'], ['*'])], granted))).status, 403)
    t.equal((await as('POST', `${path('rolebindings')}?dryRun=All`, binding('Role', 'other'))).status, 201)
    t.equal((await as('POST', `${rbac}/clusterrolebindings?dryRun=All`, binding('ClusterRole', 'cluster-admin'))).status, 201)
  })
}
