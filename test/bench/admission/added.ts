// What the webhook adds to an apply: it is asked about Machines with a label only, and those with and without it come in turns.
import { readFile } from 'node:fs/promises'
import type { Access } from '../../servers/access.ts'
import { eventually } from '../../servers/eventually.ts'
import { request } from '../../servers/request.ts'
import { percentile } from '../lib/statistics.ts'
import { reviews } from './reviews.ts'

const applies = 100 // a round, of each kind
const judged = { judged: 'yes' }
const collection = '/apis/vitistack.io/v1alpha1/namespaces/shop/machines'

interface Given {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: object
}

async function applyMs(api: Access, n: number, labels: Record<string, string>): Promise<number> {
  const { object } = (JSON.parse(reviews[n % reviews.length] ?? '') as { request: { object: Given } }).request
  const { apiVersion, kind, spec, metadata } = object
  const startedAt = performance.now()
  const { status, body } = await request(
    api,
    'PATCH',
    `${collection}/${metadata.name}?fieldManager=bench&dryRun=All`,
    { apiVersion, kind, metadata: { name: metadata.name, labels }, spec },
    { 'content-type': 'application/apply-patch+yaml' }
  )
  if (status !== 201) throw new Error(JSON.stringify(body))
  return performance.now() - startedAt
}

/** The difference between the percentiles of both kinds, one for each round; less than none is possible where it is lost in the noise. */
export async function addedToAnApply(api: Access, url: string, rounds: number): Promise<{ p50: number[]; p99: number[] }> {
  await request(api, 'POST', '/api/v1/namespaces', { metadata: { name: 'shop' } })
  await install(api, url)
  for (let n = 0; n < applies; n++) await applyMs(api, n, n % 2 === 0 ? judged : {}) // warm
  const added = { p50: [] as number[], p99: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const times = { plain: [] as number[], judged: [] as number[] }
    for (let n = 0; n < applies; n++) {
      times.plain.push(await applyMs(api, n, {}))
      times.judged.push(await applyMs(api, n, judged))
    }
    added.p50.push(percentile(times.judged, 50) - percentile(times.plain, 50))
    added.p99.push(percentile(times.judged, 99) - percentile(times.plain, 99))
  }
  return added
}

async function install(api: Access, url: string): Promise<void> {
  const rules = [
    { apiGroups: ['vitistack.io'], apiVersions: ['v1alpha1'], resources: ['machines'], operations: ['CREATE', 'UPDATE'] }
  ]
  const webhook = {
    name: 'machines.admission.drover.dev',
    clientConfig: { url, caBundle: (await readFile(api.ca)).toString('base64') },
    rules,
    objectSelector: { matchLabels: judged },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail'
  }
  await request(api, 'POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'bench' },
    webhooks: [webhook]
  })
  const bad = {
    apiVersion: 'vitistack.io/v1alpha1',
    kind: 'Machine',
    metadata: { name: 'bad', labels: judged },
    spec: { template: 'huge' }
  }
  await eventually(
    'the webhook to be asked',
    async () => (await request(api, 'POST', `${collection}?dryRun=All`, bad)).status === 422
  )
}
