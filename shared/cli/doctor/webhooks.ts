// Would the API server get an answer from the admission function?
import { X509Certificate } from 'node:crypto'
import { type Kube } from '../../kube/index.ts'
import type { KubeObject } from '../../schema/kind.ts'
import { span } from '../../view/time.ts'
import { bad, doubtful, fine, foreign, see, type Finding } from './finding.ts'
import type { Manifest } from './installed.ts'

interface Configuration extends KubeObject {
  webhooks?: Array<{ name: string; clientConfig: { caBundle?: string } }>
}
const group = 'admissionregistration.k8s.io'
const kinds = [
  foreign<Configuration>(group, 'v1', 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', false),
  foreign<Configuration>(group, 'v1', 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', false)
]
const soonMs = 7 * 24 * 3600_000

/** The certificates of a bundle: several may stand one after the other. */
function certificates(caBundle: string): X509Certificate[] {
  const text = Buffer.from(caBundle, 'base64').toString()
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  return blocks.map(block => new X509Certificate(block))
}

function judge({ metadata, webhooks = [] }: Configuration, now: Date): Finding {
  const name = metadata?.name ?? ''
  const mend = 'kubectl -n drover logs -l serving.knative.dev/service=admission-certificate'
  const bare = webhooks.filter(({ clientConfig }) => !clientConfig.caBundle)
  if (bare.length > 0)
    return bad(
      'webhooks',
      `${name}: ${bare.length} of ${webhooks.length} have no certificate yet, so that the API server trusts nobody`,
      mend
    )
  try {
    const ends = webhooks.flatMap(({ clientConfig }) =>
      certificates(clientConfig.caBundle ?? '').map(({ validTo }) => Date.parse(validTo))
    )
    if (ends.length === 0) return bad('webhooks', `${name}: the caBundle holds no certificate`, mend)
    const left = Math.max(...ends) - now.getTime()
    if (left < 0) return bad('webhooks', `${name}: the certificate has run out`, mend)
    return left < soonMs
      ? doubtful('webhooks', `${name}: the certificate runs out in ${span(left)}`, mend)
      : fine('webhooks', `${name}: the certificate holds for ${span(left)}`)
  } catch {
    return bad('webhooks', `${name}: the caBundle cannot be read`, mend)
  }
}

export async function checkWebhooks(kube: Kube, all: readonly Manifest[], now: Date): Promise<Finding[]> {
  const groups = await Promise.all(
    kinds.map(async kind => {
      const seen = await see(kube, kind, {
        tone: 'bad',
        line: 'this API has no webhooks',
        todo: 'a Kubernetes of 1.30 or later is needed'
      })
      if ('problem' in seen) return [seen.problem]
      return all
        .filter(manifest => manifest.kind === kind.kind)
        .map(({ metadata }) => {
          const found = seen.items.find(object => object.metadata?.name === metadata.name)
          return found
            ? judge(found, now)
            : bad('webhooks', `${kind.kind} ${metadata.name} is missing`, 'kubectl apply -k knative/')
        })
    })
  )
  return groups.flat()
}
