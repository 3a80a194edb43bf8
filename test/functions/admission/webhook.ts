// The admission function as the API server reaches it: its own rights, its TLS port, the webhook configurations of knative/ with an
// address of this machine in place of the Service.
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import handler from '../../../functions/admission/handler.ts'
import { serve, type Served } from '../../../shared/runtime/serve.ts'
import type { Access } from '../../servers/access.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { type Answer, request } from '../../servers/request.ts'

export interface Webhook extends Served {
  tlsUrl: string
  /** Where the function reads its certificate. */
  folder: string
}

/** `before` is called when all is prepared, and the function not yet started. */
export async function startWebhook(
  t: Test,
  api: Access,
  env: Record<string, string> = {},
  before: () => void = () => undefined
): Promise<Webhook> {
  const kubeconfig = await asServiceAccount(t, api, 'admission.yaml', 'admission')
  before()
  const folder = await mkdtemp(join(tmpdir(), 'adm-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await copyFile(api.webhookCert, join(folder, 'tls.crt'))
  await copyFile(api.webhookKey, join(folder, 'tls.key'))
  const fixed = { KUBECONFIG: kubeconfig, HOST: '127.0.0.1', PORT: '0', TLS_PORT: '0', TLS_DIR: folder, LOG_LEVEL: 'fatal' }
  const served = await serve(handler, { env: { ...fixed, ...env } })
  await eventually('the function to be ready', async () => (await fetch(`${served.url}/readyz`)).status === 200)
  return { ...served, tlsUrl: served.tlsUrl as string, folder }
}

/** Started, closed with the test, and asked by the API server. */
export async function webhookInPlace(
  t: Test,
  api: Access & { namespace: string },
  env: Record<string, string> = {}
): Promise<Webhook> {
  const webhook = await startWebhook(t, api, env)
  t.teardown(() => webhook.close())
  await installWebhooks(api, webhook.tlsUrl)
  return webhook
}

interface Configuration {
  kind: string
  metadata: { name: string }
  webhooks: Array<{ name: string; clientConfig: { service?: { path: string } } }>
}

export const configurations = async (): Promise<Configuration[]> => {
  const text = await readFile(join(import.meta.dirname, '../../../knative/admission.yaml'), 'utf8')
  const all = parseAllDocuments(text).map(document => document.toJSON() as Configuration)
  return all.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))
}

const admissionApi = '/apis/admissionregistration.k8s.io/v1'
const pathOf = ({ kind, metadata }: Configuration): string =>
  `${admissionApi}/${kind.toLowerCase()}s/${metadata.name}?fieldManager=test&force=true`

/** As in knative/, but for the address. Settles when the API server goes by them. */
export async function installWebhooks(api: Access & { namespace: string }, url: string): Promise<void> {
  const caBundle = (await readFile(api.ca)).toString('base64')
  for (const configuration of await configurations()) {
    const webhooks = configuration.webhooks.map(webhook =>
      Object.assign(webhook, { clientConfig: { url: `${url}${webhook.clientConfig.service?.path}`, caBundle } })
    )
    const answer = await request(api, 'PATCH', pathOf(configuration), { ...configuration, webhooks }, applied)
    if (answer.status >= 300) throw new Error(`${configuration.kind} was refused: ${JSON.stringify(answer.body)}`)
  }
  const probe = { ...machineKind, metadata: { name: 'probe' }, spec: { template: 'huge' } }
  await eventually('the webhook to be asked', async () => (await write(api, 'POST', machines(api), probe)).status === 422)
  const host = { ...hostKind, metadata: { name: `probe-${api.namespace}` }, spec: { maintenance: 'auto' } }
  await eventually('the stamp to be set', async () => {
    const { body } = await write<{ metadata: { annotations?: object } }>(api, 'POST', hosts, host)
    return body.metadata.annotations !== undefined
  })
}

/** Headers of who speaks as somebody else. */
export const as = (user: string, group = 'system:masters') => ({ 'impersonate-user': user, 'impersonate-group': group })

export const applied = { 'content-type': 'application/apply-patch+yaml' }
export const merged = { 'content-type': 'application/merge-patch+json' }
export const machineKind = { apiVersion: 'vitistack.io/v1alpha1', kind: 'Machine' }
export const networkKind = { apiVersion: 'vitistack.io/v1alpha1', kind: 'NetworkConfiguration' }
export const hostKind = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor' }
export const evictionKind = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction' }
export const machines = ({ namespace }: { namespace: string }): string =>
  `/apis/vitistack.io/v1alpha1/namespaces/${namespace}/machines`
export const networks = ({ namespace }: { namespace: string }): string =>
  `/apis/vitistack.io/v1alpha1/namespaces/${namespace}/networkconfigurations`
export const hosts = '/apis/kvm.cloud.sap/v1/hypervisors'
export const evictions = '/apis/kvm.cloud.sap/v1/evictions'

export const ovsNodes = {
  kind: { apiVersion: 'ovs.c5c3.io/v1alpha1', kind: 'OVSNode' },
  list: (namespace: string): string => `/apis/ovs.c5c3.io/v1alpha1/namespaces/${namespace}/ovsnodes`,
  /** Headers of who speaks as the agent of a node, without a token of its pod. */
  agentOn: (node: string): Record<string, string> => ({
    'impersonate-user': 'system:serviceaccount:ovn-system:ovs-agent',
    'impersonate-extra-authentication.kubernetes.io%2fnode-name': node
  })
}

export async function create<T = unknown>(api: Access, path: string, body: object): Promise<T> {
  const answer = await request<T>(api, 'POST', path, body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** With no effect. */
export const write = <T = Refusal>(
  api: Access,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {}
) => request<T>(api, method, `${path}?dryRun=All`, body, headers)

export interface Refusal {
  message: string
  details?: { causes?: Array<{ reason: string; field: string; message: string }> }
}

/** The rules that an answer names: those of a refusal, or those of its warnings. */
export const refusedBy = ({ body }: Answer<Refusal>): string[] => [
  ...new Set(body.details?.causes?.map(({ reason }) => reason) ?? [])
]

export function warnedBy({ headers }: Answer<unknown>): string[] {
  const texts = [headers['warning'] ?? []].flat().join(' ')
  return [...new Set([...texts.matchAll(/\(([A-Z][A-Z0-9-]*\d)\)/g)].map(([, id]) => id as string))]
}
