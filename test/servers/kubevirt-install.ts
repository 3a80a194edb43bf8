// What KubeVirt's operator would install: its definitions, accounts and rights, and of CDI as much as virt-controller waits for.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Access } from './access.ts'
import { applyCrd, served } from './machine-crds.ts'
import { kubectlPath } from './real-kubernetes.ts'
import { request } from './request.ts'

export const merge = { 'content-type': 'application/merge-patch+json' }
const applied = { 'content-type': 'application/apply-patch+yaml' }

export async function must(
  api: Access,
  method: string,
  path: string,
  body: object,
  headers: Record<string, string> = applied
): Promise<Record<string, unknown>> {
  const answer = await request(api, method, path, body, headers)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
export const apply = (api: Access, root: string, object: { metadata: { name: string } }) =>
  must(api, 'PATCH', `${root}/${object.metadata.name}?fieldManager=test&force=true`, object)

/** What virt-operator prints and installs, by kubectl, since it is 4 MB of YAML. */
export async function applyPrinted(api: Access, bin: string, part: string, args: string[] = []): Promise<void> {
  const printer = spawn(join(bin, part), args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const kubectl = execFile(kubectlPath(), [
    '--kubeconfig',
    api.kubeconfig,
    'apply',
    '--server-side',
    '--force-conflicts',
    '-f',
    '-'
  ])
  if (!kubectl.stdin || !kubectl.stderr) throw new Error('kubectl without pipes')
  printer.stdout.pipe(kubectl.stdin)
  const complaints: string[] = []
  kubectl.stderr.on('data', chunk => complaints.push(String(chunk)))
  const [code] = (await once(kubectl, 'close')) as [number]
  if (code !== 0) throw new Error(`kubectl apply of ${part}: ${complaints.join('').slice(-2000)}`)
}

export async function installObjects(api: Access): Promise<void> {
  const ca = await readFile(api.ca, 'utf8')
  await apply(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kubevirt' } } as never)
  const home = '/api/v1/namespaces/kubevirt'
  await apply(api, `${home}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kubevirt-ca' },
    data: { 'ca-bundle': ca }
  } as never)
  for (const name of ['kubevirt-controller', 'kubevirt-handler', 'kubevirt-api']) {
    await apply(api, `${home}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } } as never)
    await apply(api, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `test-${name}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'kubevirt' }]
    } as never)
  }
  const kubevirt = '/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts'
  await apply(api, kubevirt, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt' },
    spec: {}
  } as never)
  await must(api, 'PATCH', `${kubevirt}/kubevirt/status`, { status: { phase: 'Deployed', defaultArchitecture: 'amd64' } }, merge)
  // who may speak for others to virt-api; the API server itself was started without
  const headers = { user: '["X-Remote-User"]', group: '["X-Remote-Group"]', extra: '["X-Remote-Extra-"]' }
  await must(
    api,
    'PATCH',
    '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication',
    {
      data: {
        'requestheader-client-ca-file': ca,
        'requestheader-allowed-names': '[]',
        'requestheader-username-headers': headers.user,
        'requestheader-group-headers': headers.group,
        'requestheader-extra-headers-prefix': headers.extra
      }
    },
    merge
  )
}

/** A kubeconfig that speaks as KubeVirt's own account: virt-api lets nobody else change an instance. */
export async function accountConfig(api: Access, folder: string, account: string): Promise<{ file: string; token: string }> {
  const path = `/api/v1/namespaces/kubevirt/serviceaccounts/${account}/token`
  const body = (await must(api, 'POST', path, { spec: { expirationSeconds: 7200 } }, {})) as { status: { token: string } }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: api.server, 'certificate-authority': api.ca } }],
    users: [{ name: 'u', user: { token: body.status.token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c'
  }
  const file = join(folder, `${account}.kubeconfig`)
  await writeFile(file, JSON.stringify(config), { mode: 0o600 })
  return { file, token: body.status.token }
}

/** virt-controller takes a DataVolume definition for a whole CDI and waits for these four kinds; of them only that they are there matters. */
export async function stubCdi(api: Access): Promise<void> {
  const kinds = [
    ['CDI', 'cdis', 'Cluster'],
    ['CDIConfig', 'cdiconfigs', 'Cluster'],
    ['StorageProfile', 'storageprofiles', 'Cluster'],
    ['DataSource', 'datasources', 'Namespaced']
  ] as const
  for (const [kind, plural, scope] of kinds) {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const versions = [{ name: 'v1beta1', served: true, storage: true, schema }]
    const spec = { group: 'cdi.kubevirt.io', scope, names: { kind, plural }, versions }
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.cdi.kubevirt.io` },
      spec
    }
    await applyCrd(api, crd)
    await served(api, crd)
  }
}
