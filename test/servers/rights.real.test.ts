// The judge of all roles, judged: what it finds when a role is too large, and when it is too small.
import t from 'tap'
import { connect, Node, Pod } from '../../shared/kube/index.ts'
import { asServiceAccount } from './identity.ts'
import { ownKubernetes } from './kubernetes.ts'
import { rightsOf } from './rights.ts'

t.setTimeout(120_000)

t.test('rights that nobody used, and requests that were not granted, are both told', async t => {
  const api = await ownKubernetes(t)
  const kubeconfig = await asServiceAccount(t, api, 'hypervisor.yaml', 'hypervisor')
  const kube = await connect({ manager: 'test', kubeconfig })
  t.teardown(() => kube.close())
  await kube.list(Node, {})
  await t.rejects(kube.list(Pod, { namespace: 'kube-system' }), { code: 'Forbidden' })
  const { unused, refused } = await rightsOf(api, 'hypervisor.yaml', 'hypervisor')
  t.notOk(unused.includes('list nodes'))
  t.ok(unused.includes('get nodes'))
  t.equal(refused.length, 1)
  t.match(refused[0], /^list \/api\/v1\/namespaces\/kube-system\/pods/)
})
