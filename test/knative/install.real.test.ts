// What `kubectl apply -k` sends, alone and with each component, is taken by the real API server: its own kinds by its OpenAPI, Knative's and the
// others' by their real definitions, every field strictly, and every pod by the level of its namespace.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { ownKubernetes, kubectlPath } from '../servers/real-kubernetes.ts'
import { applyCrd } from '../servers/machine-crds.ts'
import { request } from '../servers/request.ts'

interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
  spec?: any
}

t.setTimeout(600_000)
const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const api = await ownKubernetes(t)
const fixtures = join(root, 'test/fixtures/crds')
for (const file of await readdir(fixtures)) {
  if (!file.endsWith('.json')) continue
  await applyCrd(api, JSON.parse(await readFile(join(fixtures, file), 'utf8')))
}
const kubectl = async (args: readonly string[]) =>
  (await run(kubectlPath(), ['--kubeconfig', api.kubeconfig, ...args], { maxBuffer: 1 << 26 })).stdout

const folder = await mkdtemp(join(tmpdir(), 'k-'))
t.teardown(() => rm(folder, { recursive: true }))
async function overlay(components: readonly string[]): Promise<Manifest[]> {
  const place = join(folder, components.join('-') || 'plain')
  await mkdir(place, { recursive: true })
  const from = (path: string) => relative(place, join(root, 'knative', path))
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [from('')],
    components: components.map(name => from(`components/${name}`))
  }
  await writeFile(join(place, 'kustomization.yaml'), JSON.stringify(kustomization))
  return parseAllDocuments(await kubectl(['kustomize', place])).map(document => document.toJSON() as Manifest)
}

await kubectl(['apply', '-k', join(root, 'knative/namespaces')])
for (const { kind, metadata } of await overlay([])) {
  if (kind === 'Namespace') await request(api, 'POST', '/api/v1/namespaces', { metadata: { name: metadata.name } })
}

const each = [
  'in-memory',
  'rabbitmq',
  'kafka',
  'apiserversource',
  'external-secrets',
  'monitoring',
  'cert-manager',
  'csr',
  'control-plane'
]
const combinations = [
  [],
  ...each.map(name => [name]),
  ['cert-manager', 'hypervisor-cluster'],
  ['apiserversource', 'apiserversource-kubevirt'],
  ['rabbitmq', 'cert-manager', 'csr', 'monitoring', 'external-secrets']
]

t.test('every component is tried', async t => {
  const there = (await readdir(join(root, 'knative/components'))).sort()
  t.strictSame([...new Set(combinations.flat())].sort(), there)
})

for (const components of combinations) {
  t.test(`knative/ with ${components.join(', ') || 'nothing else'}`, async t => {
    const all = await overlay(components)
    const file = join(folder, `${components.join('-') || 'plain'}.json`)
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: all }))
    const said = await kubectl([
      'apply',
      '--server-side',
      '--dry-run=server',
      '--validate=strict',
      '--field-manager=install',
      '-f',
      file
    ])
    t.equal(said.trim().split('\n').length, all.length, `${all.length} objects are taken`)
    t.notMatch(said, /would violate PodSecurity/)
  })
}

t.test('pods of functions are taken by the level `restricted`, and none of an agent would be', async t => {
  const all = await overlay([])
  const level = (name: string) =>
    all.find(({ kind, metadata }) => kind === 'Namespace' && metadata.name === name)?.metadata as
      | { labels?: Record<string, string> }
      | undefined
  t.equal(level('drover')?.labels?.['pod-security.kubernetes.io/enforce'], 'restricted')
  const name = 'level-restricted'
  await request(api, 'POST', '/api/v1/namespaces', {
    metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } }
  })
  const pods = all.filter(
    ({ apiVersion, kind }) =>
      (kind === 'Service' && apiVersion.startsWith('serving.')) || kind === 'Deployment' || kind === 'DaemonSet'
  )
  t.ok(pods.length > 15)
  for (const { kind, metadata, spec } of pods) {
    const { containerConcurrency: _concurrency, timeoutSeconds: _timeout, ...pod } = spec.template.spec
    const containers = pod.containers.map(
      ({
        readinessProbe: _ready,
        livenessProbe: _live,
        ...container
      }: object & { readinessProbe: object; livenessProbe: object }) => container
    )
    const body = { metadata: { name: metadata.name }, spec: { ...pod, containers, serviceAccountName: 'default' } }
    const { status, body: answer } = await request(api, 'POST', `/api/v1/namespaces/${name}/pods?dryRun=All`, body)
    t.equal(status, kind === 'DaemonSet' ? 403 : 201, `${metadata.name}: ${JSON.stringify(answer).slice(0, 200)}`)
  }
})

t.test('an uninstall takes no namespace in which objects live', async t => {
  const gone = new Set((await overlay([])).filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name))
  for (const name of ['ovn-system', 'monsoon3']) t.notOk(gone.has(name), name)
  t.notOk((await overlay([])).some(({ kind }) => kind === 'CustomResourceDefinition'))
})
