import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ConfigMap, connect, Role, RoleBinding, Secret } from '../../shared/kube/index.ts'
import { kubernetes } from '../servers/kubernetes.ts'
import { connected, folder, kubeconfig, until } from './connected.ts'
import { relay } from './relay.ts'

const api = await kubernetes(t)
const { namespace } = api
const admin = await connected(t, api)

t.test('health: one call that says it is there', async t => {
  await t.resolves(admin.health())
  const lost = await connected(t, api, { server: 'https://127.0.0.1:1' })
  await t.rejects(lost.health(), { code: 'Unreachable', retryable: true })
})

t.test('a certificate of another authority is not trusted', async t => {
  const kube = await connect({
    manager: 'm',
    kubeconfig: await kubeconfig(t, api.server, { token: api.adminToken }, api.webhookCert)
  })
  t.teardown(() => kube.close())
  await t.rejects(kube.health(), { code: 'Unreachable', cause: { code: String } })
})

t.test('a user without rights is Forbidden; with a role, what it allows and no more', async t => {
  const dev = await connected(t, api, { user: { token: api.devToken } })
  await t.rejects(dev.list(Secret, { namespace }), {
    code: 'Forbidden',
    status: 403,
    retryable: false,
    message: /"dev" cannot list resource "secrets"/
  })
  await t.rejects(dev.apply(ConfigMap, { metadata: { name: 'a', namespace } }), { code: 'Forbidden' })
  const metadata = { name: 'reader', namespace }
  const apiGroup = 'rbac.authorization.k8s.io'
  await admin.apply(Role, { metadata, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }] })
  await admin.apply(RoleBinding, {
    metadata,
    roleRef: { apiGroup, kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup, kind: 'User', name: 'dev' }]
  })
  await until(() =>
    dev.list(ConfigMap, { namespace }).then(
      () => true,
      () => false
    )
  )
  t.equal(await dev.find(ConfigMap, 'nothing', namespace), undefined)
  const nobody = new AbortController().signal
  await t.rejects(dev.watch(Secret, { namespace, signal: nobody }).next(), { code: 'Forbidden' })
})

t.test('a rotated token file is read again as soon as the old token is refused', async t => {
  const tokenFile = join(await folder(t), 'token')
  await writeFile(tokenFile, 'expired')
  const user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } } as const
  const kube = await connected(t, api, { user })
  await t.rejects(kube.list(ConfigMap, { namespace }), { code: 'Unauthorized', status: 401, retryable: false })
  await writeFile(tokenFile, api.adminToken)
  await t.resolves(kube.list(ConfigMap, { namespace }))
})

t.test('200 calls, one after the other, over one connection', async t => {
  const network = await relay(t, api.server)
  const kube = await connected(t, api, { server: network.server })
  for (let call = 0; call < 200; call++) await kube.find(ConfigMap, 'nothing', namespace)
  t.equal(network.connections, 1)
})
