import t from 'tap'
import { ownKubernetes } from './real-kubernetes.ts'
import { request } from './request.ts'

t.setTimeout(120_000)

t.test('is the release that Drover is for, and keeps its data over a killed etcd', async t => {
  const api = await ownKubernetes(t)
  const version = await request<{ gitVersion: string }>(api, 'GET', '/version')
  t.equal(version.body.gitVersion, 'v1.36.3')
  await request(api, 'POST', `/api/v1/namespaces/${api.namespace}/configmaps`, { metadata: { name: 'kept' } })
  await api.kill('kube-apiserver')
  await api.kill('etcd')
  await api.up()
  t.equal((await request(api, 'GET', `/api/v1/namespaces/${api.namespace}/configmaps/kept`)).status, 200)
})
