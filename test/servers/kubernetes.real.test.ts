import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { ownKubernetes } from './kubernetes.ts'
import { request } from './request.ts'

t.test('keeps its data over a killed API server and a killed etcd', async t => {
  const api = await ownKubernetes(t)
  const version = await request<{ gitVersion: string }>(api, 'GET', '/version')
  t.equal(version.body.gitVersion, 'v1.36.3')
  await request(api, 'POST', `/api/v1/namespaces/${api.namespace}/configmaps`, { metadata: { name: 'kept' } })
  await api.kill('kube-apiserver')
  await t.rejects(request(api, 'GET', '/version'))
  await api.kill('etcd')
  await api.up()
  t.equal((await request(api, 'GET', `/api/v1/namespaces/${api.namespace}/configmaps/kept`)).status, 200)
})

t.test('nothing is left when the runner is killed -9', async t => {
  const runner = spawn(
    process.execPath,
    ['--conditions=drover', join(import.meta.dirname, '..', 'fixtures', 'hold-kubernetes.ts')],
    {
      stdio: ['ignore', 'pipe', 'inherit']
    }
  )
  const [line] = (await once(createInterface(runner.stdout), 'line')) as [string]
  const { kubeconfig, guard } = JSON.parse(line) as { kubeconfig: string; guard: number }
  t.ok(existsSync(kubeconfig))
  runner.kill('SIGKILL')
  await t.resolves(gone(guard), 'the guard ends, and its servers before it')
  t.notOk(existsSync(dirname(kubeconfig)))
})

async function gone(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}`)) await new Promise(resolve => setTimeout(resolve, 20))
}
