// HV-13 where the functions run in another cluster and come as one account: what components/hypervisor-cluster sets, on the real API server.
import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { kubectlPath, ownKubernetes } from '../../servers/real-kubernetes.ts'
import { request } from '../../servers/request.ts'
import { as, evictionKind, evictions, hostKind, hosts, merged, refusedBy, warnedBy, webhookInPlace, write } from './webhook.ts'

t.setTimeout(240_000)

interface Manifest {
  kind: string
  metadata: { name: string }
  spec: { template: { spec: { containers: Array<{ env: Array<{ name: string; value: string }> }> } } }
}

/** The identities that the admission function of such a cluster is told. */
async function identities(): Promise<Record<string, string>> {
  const components = ['cert-manager', 'hypervisor-cluster'].map(name => `../knative/components/${name}`)
  const folder = t.testdir({
    over: { 'kustomization.yaml': `resources: [../knative]\ncomponents: [${components.join(', ')}]\n` }
  })
  await cp(join(import.meta.dirname, '../../../knative'), join(folder, 'knative'), { recursive: true })
  const maxBuffer = 16 * 1024 * 1024
  const { stdout } = await promisify(execFile)(kubectlPath(), ['kustomize', join(folder, 'over')], { maxBuffer })
  const all = parseAllDocuments(stdout).map(document => document.toJSON() as Manifest)
  const admission = all.find(({ kind, metadata, spec }) => kind === 'Service' && metadata.name === 'admission' && spec.template)
  const env = admission?.spec.template.spec.containers[0]?.env ?? []
  return Object.fromEntries(env.filter(({ name }) => name.endsWith('_IDENTITIES')).map(({ name, value }) => [name, value]))
}

const api = await ownKubernetes(t)
await request(api, 'POST', hosts, { ...hostKind, metadata: { name: 'h' }, spec: {} })
await webhookInPlace(t, api, await identities())

const functions = as('system:serviceaccount:drover:control-plane')
const change = (spec: object, who: Record<string, string>) => write(api, 'PATCH', `${hosts}/h`, { spec }, { ...who, ...merged })
const evacuate = (who: Record<string, string>) =>
  write(
    api,
    'POST',
    evictions,
    { ...evictionKind, metadata: { name: 'e' }, spec: { hypervisor: 'h', reason: 'test', mode: 'evacuate' } },
    who
  )

t.test('HV-13: the functions of the other cluster may evacuate, and set ha and termination', async t => {
  t.equal((await evacuate(functions)).status, 201)
  for (const maintenance of ['ha', 'termination']) {
    const answer = await change({ maintenance }, functions)
    t.equal(answer.status, 200)
    t.strictSame(warnedBy(answer), [], maintenance, { answer })
  }
})

t.test('HV-13: others may not', async t => {
  t.strictSame(refusedBy(await evacuate(as('jane'))), ['HV-13'])
  t.strictSame(warnedBy(await change({ maintenance: 'ha' }, as('jane'))), ['HV-13'])
  t.strictSame(
    warnedBy(await change({ maintenance: 'ha' }, as('system:serviceaccount:drover:ha'))),
    ['HV-13'],
    'nobody is called so here'
  )
})
