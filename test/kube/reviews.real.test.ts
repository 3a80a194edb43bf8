import t from 'tap'
import { ServiceAccount } from '../../shared/kube/index.ts'
import { kubernetes } from '../servers/kubernetes.ts'
import { request } from '../servers/request.ts'
import { connected } from './connected.ts'

const api = await kubernetes(t)
const { namespace } = api
const kube = await connected(t, api)
await kube.apply(ServiceAccount, { metadata: { name: 'agent', namespace } })
const issued = await request<{ status: { token: string } }>(
  api,
  'POST',
  `/api/v1/namespaces/${namespace}/serviceaccounts/agent/token`,
  { spec: { audiences: ['drover'] } }
)
const { token } = issued.body.status

t.test('TokenReview: whose token it is', async t => {
  t.match(await kube.reviewToken(api.devToken), {
    authenticated: true,
    user: { username: 'dev', groups: ['devs', 'system:authenticated'] }
  })
  t.match(await kube.reviewToken(token, ['drover']), {
    authenticated: true,
    user: { username: `system:serviceaccount:${namespace}:agent` }
  })
})

const wrong: Array<[name: string, token: string, audiences?: string[]]> = [
  ['an unknown token', 'nonsense'],
  ['no token', ''],
  ['a token for others', token, ['other']],
  ['a token that is not for the API server', token]
]
for (const [name, token, audiences] of wrong) {
  t.test(`TokenReview: ${name}`, async t => t.strictSame(await kube.reviewToken(token, audiences), { authenticated: false }))
}

t.test('SubjectAccessReview: on objects and on paths', async t => {
  const dev = { username: 'dev', groups: ['devs', 'system:authenticated'] }
  const admin = { username: 'admin', groups: ['system:masters'] }
  const secrets = { verb: 'get', resource: 'secrets', namespace }
  t.match(await kube.reviewAccess(admin, secrets), { allowed: true })
  t.match(await kube.reviewAccess(dev, secrets), { allowed: false })
  t.match(await kube.reviewAccess(dev, { verb: 'get', path: '/version' }), { allowed: true })
  t.match(await kube.reviewAccess(dev, { verb: 'get', path: '/metrics' }), { allowed: false })
  t.match(
    await kube.reviewAccess(dev, { verb: 'patch', group: 'kvm.cloud.sap', resource: 'hypervisors', subresource: 'status' }),
    { allowed: false }
  )
})
