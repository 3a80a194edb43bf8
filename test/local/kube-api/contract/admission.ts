// Validating webhooks: when they are asked, what they are told, what their answers do.
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { makeCertificate } from '../../../../shared/local/kube-api/certificate.ts'
import { apply, merge, until, widget, type Api, type Body } from './target.ts'

interface Review {
  operation: string
  name: string
  namespace: string
  subResource?: string
  dryRun: boolean
  userInfo: { username: string }
  kind: object
  resource: object
  object: Body | null
  oldObject: Body | null
}

type Reply = { allowed: boolean; status?: object; warnings?: string[] } | 'hang' | 'garbage'

async function hook(
  t: Test
): Promise<{ url: string; ca: string; asked: Review[]; answer: (reply: (review: Review) => Reply) => void }> {
  const { certificate, key } = await makeCertificate(new Date())
  const asked: Review[] = []
  let decide = (_review: Review): Reply => ({ allowed: true })
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { request: review } = JSON.parse(Buffer.concat(chunks).toString()) as { request: Review & { uid: string } }
      asked.push(review)
      const reply = decide(review)
      if (reply === 'hang') return
      const body =
        reply === 'garbage'
          ? 'garbage'
          : JSON.stringify({
              apiVersion: 'admission.k8s.io/v1',
              kind: 'AdmissionReview',
              response: { uid: review.uid, ...reply }
            })
      response.setHeader('content-type', 'application/json').end(body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/check`
  return { url, ca: Buffer.from(certificate).toString('base64'), asked, answer: reply => void (decide = reply) }
}

const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'

export async function admission(t: Test, api: Api): Promise<void> {
  const { namespace, widgets, call, done } = api
  const { url, ca, asked, answer } = await hook(t)
  const name = `contract-${namespace}`
  t.teardown(() => call('DELETE', `${configurations}/${name}`))
  await done('DELETE', widgets)

  /** Waits until the server goes by the new configuration: a widget of that colour is refused by a word of this round. */
  let round = 0
  async function configure(webhook: object): Promise<void> {
    const word = `round ${++round}`
    answer(({ object }) =>
      object?.metadata.name === 'probe' ? { allowed: false, status: { message: word } } : { allowed: true }
    )
    const usual = {
      name: 'hook.contract.drover.dev',
      clientConfig: { url, caBundle: ca },
      rules: [
        {
          operations: ['CREATE', 'UPDATE', 'DELETE'],
          apiGroups: ['contract.drover.dev'],
          apiVersions: ['*'],
          resources: ['widgets', 'widgets/status']
        }
      ],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      timeoutSeconds: 2,
      ...webhook
    }
    const body = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name },
      webhooks: [usual]
    }
    await done('PATCH', `${configurations}/${name}?fieldManager=contract&force=true`, body, apply)
    await until(
      () => call('POST', `${widgets}?dryRun=All`, widget('probe')),
      reply => reply.body.message?.endsWith(word) === true
    )
    asked.length = 0
  }

  await t.test('it is told what is to be written, and by whom', async t => {
    await configure({})
    await done('POST', widgets, widget('told'))
    await done('PATCH', `${widgets}/told`, { spec: { size: 5 } }, merge)
    await done('PATCH', `${widgets}/told/status`, { status: { phase: 'x' } }, merge)
    await done('DELETE', `${widgets}/told`)
    t.match(asked, [
      {
        operation: 'CREATE',
        name: 'told',
        namespace,
        dryRun: false,
        object: { spec: { size: 3 } },
        oldObject: null,
        kind: { group: 'contract.drover.dev', version: 'v1', kind: 'Widget' },
        resource: { resource: 'widgets' },
        userInfo: { username: 'admin' }
      },
      { operation: 'UPDATE', object: { spec: { size: 5 } }, oldObject: { spec: { size: 3 } } },
      { operation: 'UPDATE', subResource: 'status', object: { status: { phase: 'x' } } },
      { operation: 'DELETE', object: null, oldObject: { metadata: { name: 'told' } } }
    ])
  })

  const denied = 'admission webhook "hook.contract.drover.dev" denied the request'
  const denials: Array<[name: string, status: object | undefined, expected: [number, string | undefined, string]]> = [
    ['a message', { message: 'not today' }, [400, undefined, `${denied}: not today`]],
    ['a code and a reason', { code: 422, reason: 'Invalid', message: 'wrong' }, [422, 'Invalid', `${denied}: wrong`]],
    ['no word', undefined, [400, undefined, `${denied} without explanation`]]
  ]
  await t.test('its refusal is told in its words', async t => {
    for (const [title, status, expected] of denials) {
      answer(() => ({ allowed: false, ...(status && { status }) }))
      const { status: code, body } = await call('POST', widgets, widget('refused'))
      t.same([code, body.reason, body.message], expected, title)
    }
  })

  await t.test('its warnings reach the client', async t => {
    answer(() => ({ allowed: true, warnings: ['mind the gap'] }))
    const { status, headers } = await call('POST', `${widgets}?dryRun=All`, widget('warned'))
    t.same([status, headers.warning], [201, '299 - "mind the gap"'])
  })

  await t.test('match conditions and selectors keep it out', async t => {
    await configure({
      matchConditions: [
        { name: 'not-skipped', expression: "!has(object.metadata.labels) || !('skip' in object.metadata.labels)" }
      ],
      objectSelector: { matchExpressions: [{ key: 'hidden', operator: 'DoesNotExist' }] }
    })
    await done('POST', `${widgets}?dryRun=All`, widget('m1', undefined, { labels: { skip: 'yes' } }))
    await done('POST', `${widgets}?dryRun=All`, widget('m2', undefined, { labels: { hidden: 'yes' } }))
    await done('POST', `${widgets}?dryRun=All`, widget('m3'))
    t.same(
      asked.map(review => review.name),
      ['m3']
    )
  })

  await t.test('a webhook that fails', async t => {
    await configure({ failurePolicy: 'Fail', timeoutSeconds: 1 })
    answer(() => 'hang')
    const late = await call('POST', widgets, widget('late'))
    t.equal(late.status, 500)
    t.match(late.body, {
      reason: 'InternalError',
      message:
        /^Internal error occurred: failed calling webhook "hook.contract.drover.dev": failed to call webhook: Post "https:.*\/check\?timeout=1s": context deadline exceeded/
    })
    await configure({ failurePolicy: 'Ignore' })
    answer(() => 'garbage')
    t.equal((await call('POST', widgets, widget('ignored'))).status, 201)
  })

  await t.test('a webhook that is not there', async t => {
    const { body: before } = await call('GET', `${configurations}/${name}`)
    const [webhook] = before.webhooks as object[]
    const refused = { ...webhook, clientConfig: { url: 'https://127.0.0.1:1/check' }, failurePolicy: 'Fail' }
    await done('PATCH', `${configurations}/${name}`, { webhooks: [refused] }, merge)
    const { body } = await until(
      () => call('POST', `${widgets}?dryRun=All`, widget('down')),
      ({ status }) => status === 500
    )
    t.equal(
      body.message,
      'Internal error occurred: failed calling webhook "hook.contract.drover.dev": failed to call webhook: Post "https://127.0.0.1:1/check?timeout=2s": dial tcp 127.0.0.1:1: connect: connection refused'
    )
  })
}
