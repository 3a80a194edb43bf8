// The webhook's certificate on the real API server, under exactly the rights of knative/admission.yaml.
import { X509Certificate } from 'node:crypto'
import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import handler from '../../../functions/admission-certificate/handler.ts'
import { serve } from '../../../shared/runtime/serve.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { kubectlPath, ownKubernetes } from '../../servers/real-kubernetes.ts'
import { request } from '../../servers/request.ts'
import { applied, configurations } from '../admission/webhook.ts'

t.setTimeout(240_000)
const api = await ownKubernetes(t)
const kubeconfig = await asServiceAccount(t, api, 'admission.yaml', 'admission-certificate')
const settings = '/apis/admissionregistration.k8s.io/v1'
for (const one of await configurations()) {
  const path = `${settings}/${one.kind.toLowerCase()}s/${one.metadata.name}?fieldManager=install&force=true`
  const { status, body } = await request(api, 'PATCH', path, one, applied)
  if (status >= 300) throw new Error(JSON.stringify(body))
}

interface Stored {
  data: Record<'tls.crt' | 'tls.key' | 'ca.crt', string>
  metadata: { resourceVersion: string }
}
const stored = async (): Promise<Stored | undefined> => {
  const { status, body } = await request<Stored>(api, 'GET', '/api/v1/namespaces/drover/secrets/admission-tls')
  return status === 200 ? body : undefined
}
const bundles = async (): Promise<Set<string>> => {
  const found = new Set<string>()
  for (const how of ['validating', 'mutating']) {
    const { body } = await request<{ webhooks: Array<{ clientConfig: { caBundle?: string } }> }>(
      api,
      'GET',
      `${settings}/${how}webhookconfigurations/drover-admission`
    )
    for (const { clientConfig } of body.webhooks) found.add(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString())
  }
  return found
}
const pem = (base64: string): string => Buffer.from(base64, 'base64').toString()
const count = (text: string): number => text.split('BEGIN CERTIFICATE').length - 1

const start = async (env: Record<string, string> = {}) => {
  const fn = await serve(handler, { env: { KUBECONFIG: kubeconfig, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'fatal', ...env } })
  t.teardown(() => fn.close())
  await eventually('the install step', async () => (await fetch(`${fn.url}/readyz`)).status === 200)
  return async (): Promise<number> => {
    const headers = {
      'ce-specversion': '1.0',
      'ce-id': 't',
      'ce-source': '/t',
      'ce-type': 'dev.knative.sources.ping',
      'content-type': 'application/json'
    }
    return (await fetch(fn.url, { method: 'POST', headers, body: '{"tick":"slow"}' })).status
  }
}

t.test('made at the first start, trusted by every webhook, good for the Service', async t => {
  const tick = await start()
  const made = await stored()
  const certificate = new X509Certificate(pem(made?.data['tls.crt'] ?? ''))
  t.match(certificate.subjectAltName, 'DNS:admission-tls.drover.svc')
  t.ok(certificate.checkIssued(certificate) && certificate.ca)
  const [bundle, ...others] = await bundles()
  t.strictSame(others, [], 'all webhooks trust the same')
  t.equal(bundle?.trim(), pem(made?.data['tls.crt'] ?? '').trim())

  t.equal(await tick(), 204)
  t.equal((await stored())?.metadata.resourceVersion, made?.metadata.resourceVersion, 'a tick later nothing is written')
  await request(
    api,
    'PATCH',
    `${settings}/validatingwebhookconfigurations/drover-admission?fieldManager=install&force=true`,
    (await configurations())[0],
    applied
  )
  t.equal((await bundles()).size, 1, 'installing again takes nothing away')
})

t.test('renewed in time: the old one stays trusted beside the new', async t => {
  const before = await stored()
  const tick = await start({ RENEW_BEFORE: '2400h', DAYS: '120' }) // 100 days of 90: due at once, and the new one is not
  const after = await stored()
  t.not(after?.data['tls.crt'], before?.data['tls.crt'])
  const [bundle = ''] = await bundles()
  t.equal(count(bundle), 2)
  t.ok(bundle.includes(pem(before?.data['tls.crt'] ?? '').trim()) && bundle.includes(pem(after?.data['tls.crt'] ?? '').trim()))
  t.equal(await tick(), 204)
  t.equal((await stored())?.data['tls.crt'], after?.data['tls.crt'])
})

t.test('what somebody broke is made again', async t => {
  const tick = await start()
  const path = '/api/v1/namespaces/drover/secrets/admission-tls'
  const broken = { data: { 'tls.key': Buffer.from('no key').toString('base64') } }
  t.equal((await request(api, 'PATCH', path, broken, { 'content-type': 'application/merge-patch+json' })).status, 200)
  t.equal(await tick(), 204)
  t.match(pem((await stored())?.data['tls.key'] ?? ''), /BEGIN PRIVATE KEY/)
  await request(api, 'DELETE', path)
  t.equal(await tick(), 204)
  t.ok(await stored())
})

t.test('with cert-manager in its place, nothing of it is left', async t => {
  const folder = t.testdir({
    over: { 'kustomization.yaml': 'resources: [../knative]\ncomponents: [../knative/components/cert-manager]\n' }
  })
  await cp(join(import.meta.dirname, '../../../knative'), join(folder, 'knative'), { recursive: true })
  const { stdout } = await promisify(execFile)(kubectlPath(), ['kustomize', join(folder, 'over')], {
    maxBuffer: 16 * 1024 * 1024
  })
  t.notMatch(stdout, /admission-certificate/)
  t.equal(stdout.split('cert-manager.io/inject-ca-from: drover/admission-tls').length - 1, 2)
  t.match(stdout, /secretName: admission-tls[\s\S]*kind: Certificate|kind: Certificate[\s\S]*secretName: admission-tls/)
})
