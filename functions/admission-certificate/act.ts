import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Kind, Kube, KubeObject } from '../../shared/kube/index.ts'
import { Secret } from '../../shared/kube/kinds.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import { selfSigned, type Certificate } from '../../shared/runtime/self-signed.ts'
import { bundle, isGood, trustPatch, type Known, type Seen } from './decide.ts'

export interface Deps {
  kube: Kube
  clock: () => Date
  log: Logger
  options: { namespace: string; service: string; secret: string; configuration: string; days: number; renewBeforeMs: number }
}

interface Configuration extends KubeObject {
  webhooks?: Array<{ name: string; clientConfig: { caBundle?: string } }>
}
const configurations: ReadonlyArray<Kind<Configuration>> = ['Validating', 'Mutating'].map(how => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: `${how}WebhookConfiguration`,
  plural: `${how.toLowerCase()}webhookconfigurations`,
  namespaced: false
}))

/**
 * First the API server is told to trust the new certificate beside the old, then pods are given it: at no time one is shown that is not
 * trusted. May run twice, late, or beside itself.
 */
export async function settle({ kube, clock, log, options }: Deps): Promise<void> {
  const { namespace, service, secret: name, configuration, days, renewBeforeMs } = options
  const now = clock()
  const host = `${service}.${namespace}.svc`
  const names = [host, `${host}.cluster.local`]
  const live = await kube.find(Secret, name, namespace)
  const seen = look(live?.data ?? {})
  const made = isGood(seen, { names, renewBeforeMs }, now) ? undefined : selfSigned({ commonName: host, names, days }, now)
  const pems = bundle(seen, made, now)
  const absent: string[] = []
  for (const kind of configurations) {
    const found = await kube.find(kind, configuration)
    if (!found) absent.push(kind.kind)
    const patch = trustPatch(found?.webhooks ?? [], pems)
    if (patch.length > 0) await kube.patch(kind, { name: configuration }, patch)
  }
  if (made) {
    await kube.apply(Secret, secretOf(made, pems, options, live?.metadata?.resourceVersion))
    log.info({ secret: name, days }, seen.current ? 'certificate renewed' : 'certificate made')
  }
  // kubectl applies them last, so that at install they may come after us: looked for again, or nobody would trust the webhook until the next tick
  if (absent.length > 0) throw new Error(`${absent.join(' and ')} ${configuration} not there`)
}

/** With the version that was read: who comes second is told so, and looks again. */
const secretOf = (made: Certificate, pems: string[], { namespace, secret: name }: Deps['options'], resourceVersion?: string) => ({
  metadata: { name, namespace, ...(resourceVersion !== undefined && { resourceVersion }) },
  type: 'kubernetes.io/tls',
  data: { 'tls.crt': base64(made.certificate), 'tls.key': base64(made.key), 'ca.crt': base64(`${pems.join('\n')}\n`) }
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function look(data: Readonly<Record<string, string>>): Seen {
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString()
  const trusted = text('ca.crt').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return { current: read(text('tls.crt'), text('tls.key')), trusted: trusted.flatMap(pem => read(pem) ?? []) }
}

/** Undefined for what is no certificate: it is made anew. */
function read(pem: string, key?: string): Known | undefined {
  try {
    const certificate = new X509Certificate(pem)
    const names = certificate.subjectAltName?.split(', ').map(entry => entry.replace(/^DNS:/, '')) ?? []
    const fits = key === undefined || certificate.checkPrivateKey(createPrivateKey(key))
    return { pem, names, notAfter: certificate.validToDate, fits }
  } catch {
    return undefined
  }
}
