// Runs a component under exactly the rights that its manifest gives it.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import type { Access } from './access.ts'
import { request } from './request.ts'

interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
}

const policies: Record<string, string> = {
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings'
}
const plurals: Record<string, string> = {
  Namespace: 'namespaces',
  ServiceAccount: 'serviceaccounts',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings'
}

async function apply(api: Access, manifest: Manifest): Promise<void> {
  const { apiVersion, kind, metadata } = manifest
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`
  const path = `${group}${scope}/${plurals[kind] ?? policies[kind]}/${metadata.name}?fieldManager=install&force=true`
  const { status, body } = await request(api, 'PATCH', path, manifest, { 'content-type': 'application/apply-patch+yaml' })
  if (status >= 300) throw new Error(`${kind} ${metadata.name} was refused: ${JSON.stringify(body)}`)
}

async function manifestsIn(file: string): Promise<Manifest[]> {
  const text = await readFile(join(import.meta.dirname, '..', '..', 'knative', file), 'utf8')
  return parseAllDocuments(text).map(document => document.toJSON() as Manifest)
}

/** Applies the accounts and roles of a file in knative/. */
export async function applyRights(api: Access, file: string): Promise<Manifest[]> {
  const rights = (await manifestsIn(file)).filter(({ kind }) => kind in plurals)
  const namespaces = new Set(rights.flatMap(({ metadata }) => metadata.namespace ?? []))
  for (const name of namespaces) await apply(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  for (const manifest of rights) await apply(api, manifest)
  return rights
}

/** What the file says of who may write which object. It holds a moment later, for the whole cluster. */
export async function applyPolicies(api: Access, file: string): Promise<void> {
  for (const manifest of await manifestsIn(file)) if (manifest.kind in policies) await apply(api, manifest)
}

/** A token as the kubelet gives it to a pod on that node: it bears the node's name. */
export async function tokenOnNode(api: Access, namespace: string, account: string, node: string): Promise<string> {
  await request(api, 'POST', '/api/v1/nodes', { metadata: { name: node } })
  const home = `/api/v1/namespaces/${namespace}`
  const spec = { serviceAccountName: account, nodeName: node, containers: [{ name: 'agent', image: 'none' }] }
  const { body: pod } = await request<{ metadata: { name: string; uid: string } }>(api, 'POST', `${home}/pods`, {
    metadata: { generateName: 'agent-' },
    spec
  })
  const { name, uid } = pod.metadata
  const { body } = await request<{ status: { token: string } }>(api, 'POST', `${home}/serviceaccounts/${account}/token`, {
    spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } }
  })
  return body.status.token
}

/** Applies the accounts and roles of a file in knative/, and gives a kubeconfig that speaks as the ServiceAccount. */
export async function asServiceAccount(t: Test, api: Access, file: string, account: string): Promise<string> {
  const rights = await applyRights(api, file)
  const home = rights.find(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === account)?.metadata.namespace
  const path = `/api/v1/namespaces/${home}/serviceaccounts/${account}/token`
  const { body } = await request<{ status: { token: string } }>(api, 'POST', path, { spec: { expirationSeconds: 3600 } })
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: api.server, 'certificate-authority': api.ca } }],
    users: [{ name: 'u', user: { token: body.status.token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c'
  }
  const folder = await mkdtemp(join(tmpdir(), 'drover-id-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 })
  return kubeconfig
}
