// A webhook on loopback, or where else the server reaches it, that answers as the test says, and how a server is told of it.
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { makeCertificate } from '../../../../shared/local/kube-api/certificate.ts'
import { apply, until, widget, type Api, type Body, type HookPlace } from './target.ts'

export interface Review {
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

export type Reply =
  | { allowed: boolean; status?: object; warnings?: string[]; patch?: string; patchType?: string }
  | 'hang'
  | 'garbage'

export interface Hook {
  url: string
  ca: string
  asked: Review[]
  answer: (reply: (review: Review) => Reply) => void
}

function loopback(): HookPlace {
  const { certificate, key } = makeCertificate(new Date())
  return { host: '127.0.0.1', certificate, key, ca: certificate }
}

export async function startHook(t: Test, { hook = loopback() }: Pick<Api, 'hook'>): Promise<Hook> {
  const { host, certificate, key, ca } = hook
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
  server.listen(0, host)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `https://${host}:${(server.address() as AddressInfo).port}/check`
  return { url, ca: Buffer.from(ca).toString('base64'), asked, answer: reply => void (decide = reply) }
}

const configurations = '/apis/admissionregistration.k8s.io/v1'

/** A webhook configuration about the widgets of the target's namespace. */
export async function configure(api: Api, kind: 'Validating' | 'Mutating', name: string, webhooks: object[]): Promise<string> {
  const { namespace, done } = api
  const path = `${configurations}/${kind.toLowerCase()}webhookconfigurations/${name}`
  const usual = {
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
    timeoutSeconds: 2
  }
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: webhooks.map(webhook => Object.assign({}, usual, webhook))
  }
  await done('PATCH', `${path}?fieldManager=contract&force=true`, body, apply)
  return path
}

let rounds = 0
/** Waits until the server goes by its newest configurations: the hook refuses a widget with a word of this round. */
export async function settled({ call, widgets }: Api, { answer, asked }: Hook): Promise<void> {
  const word = `round ${++rounds}`
  answer(({ object }) => (object?.metadata.name === 'probe' ? { allowed: false, status: { message: word } } : { allowed: true }))
  await until(
    () => call('POST', `${widgets}?dryRun=All`, widget('probe')),
    reply => reply.body.message?.endsWith(word) === true
  )
  asked.length = 0
}
