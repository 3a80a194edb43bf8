// Around the rules: dry runs, what always passes, the webhook away, its certificate replaced under load, the examples of the seeds.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { connect as tlsConnect } from 'node:tls'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { makeCertificate } from '../../../shared/local/kube-api/certificate.ts'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { request } from '../../servers/request.ts'
import {
  applied,
  hostKind,
  hosts,
  installWebhooks,
  machineKind,
  machines,
  merged,
  networkKind,
  networks,
  startWebhook,
  write
} from './webhook.ts'

t.setTimeout(240_000)
const api = await ownKubernetes(t)
const machine = (name: string, spec: object, metadata: object = {}) => ({ ...machineKind, metadata: { ...metadata, name }, spec })
const finalizer = { finalizers: ['machine.vitistack.io/cleanup'] }
// Stored while nobody looked: today's rules would refuse it.
await request(api, 'POST', machines(api), machine('old', { template: 'huge' }, finalizer))
await request(api, 'POST', machines(api), machine('older', { template: 'huge' }, finalizer))

const webhook = await startWebhook(t, api, { TLS_RENEW: '50ms' })
let open = true
const close = async (): Promise<void> => {
  if (open) await webhook.close()
  open = false
}
t.teardown(close)
await installWebhooks(api, webhook.tlsUrl)

const patch = (name: string, body: object, path = '') => request(api, 'PATCH', `${machines(api)}/${name}${path}`, body, merged)

t.test('a dry run is judged, and has no effect', async t => {
  t.equal((await write(api, 'POST', machines(api), machine('dry', { template: 'huge' }))).status, 422)
  t.equal((await write(api, 'POST', machines(api), machine('dry', { template: 'small' }))).status, 201)
  t.equal((await request(api, 'GET', `${machines(api)}/dry`)).status, 404)
})

t.test('A18: what leaves the spec alone passes, whatever is stored', async t => {
  t.equal((await patch('old', { metadata: { labels: { a: 'b' } } })).status, 200)
  t.equal((await patch('old', { status: { phase: 'Failed' } }, '/status')).status, 200)
  t.equal((await patch('old', { spec: { powerState: 'Stopped' } })).status, 422, 'a change of the spec does not')
  t.equal((await request(api, 'DELETE', `${machines(api)}/old`)).status, 200)
  t.equal((await patch('old', { spec: { powerState: 'Stopped' } })).status, 200, 'unless it is on its way out')
  t.equal((await patch('old', { metadata: { finalizers: null } })).status, 200)
  t.equal((await request(api, 'GET', `${machines(api)}/old`)).status, 404)
})

t.test('every example of the seeds is taken as it is', async t => {
  const folder = join(import.meta.dirname, '../../fixtures/objects')
  const kinds = { machine: machines(api), ovsnode: `/apis/ovs.c5c3.io/v1alpha1/namespaces/${api.namespace}/ovsnodes` }
  let seen = 0
  for (const [kind, list] of Object.entries(kinds)) {
    for (const file of (await readdir(join(folder, kind, 'valid'))).filter(name => name.startsWith('seed'))) {
      const { object, ...bare } = parse(await readFile(join(folder, kind, 'valid', file), 'utf8'))
      const whole = object ?? bare
      const answer = await write(api, 'POST', list, { ...whole, metadata: { ...whole.metadata, namespace: api.namespace } })
      t.equal(answer.status, 201, file, { answer })
      seen += 1
    }
  }
  t.ok(seen >= 8)
})

t.test('the Knative port answers the same question', async t => {
  const asked = {
    uid: 'u',
    operation: 'CREATE',
    resource: { group: 'vitistack.io', resource: 'machines' },
    object: machine('a', { template: 'huge' })
  }
  const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: asked })
  const answer = await fetch(`${webhook.url}/admit`, { method: 'POST', body })
  t.match(await answer.json(), { response: { uid: 'u', allowed: false, auditAnnotations: { refused: 'A1' } } })
  const metrics = await (await fetch(`${webhook.url}/metrics`)).text()
  t.match(
    metrics,
    /drover_admission_reviews_total\{resource="vitistack.io\/machines",operation="CREATE",verdict="refused"\} [1-9]/
  )
})

/** The certificate that a new connection is shown. */
const shown = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = tlsConnect(
      { host: '127.0.0.1', port: Number(new URL(webhook.tlsUrl).port), rejectUnauthorized: false },
      () => {
        resolve(socket.getPeerCertificate().fingerprint256)
        socket.destroy()
      }
    ).on('error', reject)
  })

t.test('TLS 1.2 and 1.3, nothing older', async t => {
  const version = (maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') =>
    new Promise<string>(resolve => {
      const port = Number(new URL(webhook.tlsUrl).port)
      const socket = tlsConnect({ host: '127.0.0.1', port, rejectUnauthorized: false, minVersion: 'TLSv1', maxVersion }, () => {
        resolve(String(socket.getProtocol()))
        socket.destroy()
      }).on('error', () => resolve('refused'))
    })
  t.strictSame(await Promise.all([version('TLSv1.1'), version('TLSv1.2'), version('TLSv1.3')]), ['refused', 'TLSv1.2', 'TLSv1.3'])
})

t.test('the certificate is replaced three times under load: no request fails', async t => {
  const trust = async (...bundle: string[]): Promise<void> => {
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/drover-admission'
    const { body } = await request<{ webhooks: Array<{ clientConfig: object }> }>(api, 'GET', path)
    const caBundle = Buffer.from(bundle.join('\n')).toString('base64')
    const webhooks = body.webhooks.map(one => Object.assign(one, { clientConfig: { ...one.clientConfig, caBundle } }))
    t.equal((await request(api, 'PATCH', path, { webhooks }, merged)).status, 200)
  }
  const over = new AbortController()
  const answers = new Map<number, number>()
  const load = async (worker: number): Promise<void> => {
    for (let i = 0; !over.signal.aborted; i++) {
      const bad = i % 2 === 0
      const { status } = await write(api, 'POST', machines(api), machine(`load-${worker}`, { template: bad ? 'huge' : 'small' }))
      answers.set(status, (answers.get(status) ?? 0) + 1)
    }
  }
  let trusted = await readFile(api.ca, 'utf8')
  const workers = Array.from({ length: 8 }, (_, worker) => load(worker))
  for (let round = 0; round < 3; round++) {
    const before = await shown()
    const { certificate, key } = makeCertificate(new Date())
    await trust(trusted, certificate)
    // The API server follows its configuration within moments, but says nothing of it: a hundred answers are a long moment.
    const count = () => [...answers.values()].reduce((sum, n) => sum + n, 0)
    const mark = count()
    await eventually('a hundred answers', async () => count() > mark + 100, 60_000)
    await writeFile(join(webhook.folder, 'tls.crt'), certificate)
    await writeFile(join(webhook.folder, 'tls.key'), key)
    await eventually('the new certificate', async () => (await shown()) !== before)
    await trust(certificate) // a new bundle is a new client there: from here on its handshakes take nothing but the new certificate
    trusted = certificate
    const after = count()
    await eventually('a hundred more', async () => count() > after + 100, 60_000)
  }
  over.abort()
  await Promise.all(workers)
  t.strictSame(new Set(answers.keys()), new Set([201, 422]), 'judged, every one of them', { answers: [...answers] })
})

t.test('with the webhook away', async t => {
  await request(api, 'POST', networks(api), { ...networkKind, metadata: { name: 'n' }, spec: { bridge: 'br0' } })
  await close()
  const machineAnswer = await write(api, 'POST', machines(api), machine('new', { template: 'small' }))
  t.equal(machineAnswer.status, 500, 'Machines: failurePolicy Fail')
  t.match(machineAnswer.body.message, /failed calling webhook "machines.admission.drover.dev"/)
  t.equal(
    (await write(api, 'POST', networks(api), { ...networkKind, metadata: { name: 'm' }, spec: { bridge: 'br0' } })).status,
    500
  )
  t.equal((await write(api, 'DELETE', `${networks(api)}/n`)).status, 200, 'deletions: Ignore')
  const host = { ...hostKind, metadata: { name: 'away' }, spec: { groups: [] } }
  t.equal((await write(api, 'POST', hosts, host)).status, 201, 'hosts: Ignore')
  t.equal(
    (
      await request(
        api,
        'PATCH',
        `${machines(api)}/older?fieldManager=x&force=true`,
        { ...machineKind, metadata: { name: 'older', labels: { a: 'b' } } },
        applied
      )
    ).status,
    200
  )
  t.equal((await patch('older', { status: { phase: 'Failed' } }, '/status')).status, 200, 'status')
  t.equal((await request(api, 'DELETE', `${machines(api)}/older`)).status, 200)
  t.equal((await patch('older', { metadata: { finalizers: null } })).status, 200, 'and removal of the finalizer')
  t.equal((await request(api, 'GET', `${machines(api)}/older`)).status, 404)
  const system = `/apis/vitistack.io/v1alpha1/namespaces/kube-system/machines`
  t.equal(
    (await write(api, 'POST', system, machine('new', { template: 'small' }))).status,
    201,
    'the system namespaces are left alone'
  )
})
