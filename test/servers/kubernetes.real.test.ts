import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { eventually } from './eventually.ts'
import { ownKubernetes } from './kubernetes.ts'
import { request } from './request.ts'

t.setTimeout(120_000)

t.test('keeps its data and its users over a killed API server', async t => {
  const api = await ownKubernetes(t)
  const home = `/api/v1/namespaces/${api.namespace}`
  await request(api, 'POST', `${home}/configmaps`, { metadata: { name: 'kept' } })
  await request(api, 'POST', `${home}/serviceaccounts`, { metadata: { name: 'kept' } })
  const made = await request<{ status: { token: string } }>(api, 'POST', `${home}/serviceaccounts/kept/token`, {})
  await api.kill('kube-apiserver')
  await t.rejects(request(api, 'GET', '/version'))
  await api.up()
  t.equal((await request(api, 'GET', `${home}/configmaps/kept`)).status, 200)
  const bearers = { dev: api.devToken, 'system:serviceaccount:.*:kept': made.body.status.token }
  for (const [name, token] of Object.entries(bearers)) {
    const { status, body } = await request(api, 'GET', `${home}/configmaps`, undefined, { authorization: `Bearer ${token}` })
    t.equal(status, 403)
    t.match(body['message'], new RegExp(`User "${name}" cannot list resource`))
  }
})

t.test('nothing is left when the runner is killed -9', async t => {
  const holder = join(import.meta.dirname, '..', 'fixtures', 'hold-kubernetes.ts')
  const runner = spawn(process.execPath, ['--conditions=drover', holder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface(runner.stdout), 'line')) as [string]
  const { kubeconfig, guard } = JSON.parse(line) as { kubeconfig: string; guard: number }
  t.ok(existsSync(kubeconfig))
  runner.kill('SIGKILL')
  await eventually('the end of the guard, and of its servers before it', async () => !existsSync(`/proc/${guard}`), 30_000)
  t.notOk(existsSync(dirname(kubeconfig)))
})
