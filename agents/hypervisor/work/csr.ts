// Certificates whose key never travels (NA-28): it is made here and stays here; the API server sees the request for its certificate alone.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname } from 'node:path'
import { CertificateSigningRequest, type Kube } from '../../../shared/kube/index.ts'
import { certificateRequest } from '../../../shared/runtime/certificate-request.ts'
import { installedIn, problemOf } from './certificate.ts'
import type { TlsSource } from './certificates.ts'

interface Options {
  kube: Pick<Kube, 'find' | 'create'>
  node: string
  /** Addresses of this node; empty while nobody has told them. */
  addresses: () => readonly string[]
  signer: string
  /** Whose certificates are trusted: a request is answered with a certificate only. */
  caFile: string
  /** The newest key that was made here. */
  keyFile: string
  /** Where certificates are installed. */
  folder: string
  clock: () => Date
}

// as functions/certificate asks of cert-manager (HV-60, HV-61): good for 47 days, made anew after 10
const lifetimeSeconds = 47 * 86_400
const renewAfter = 10 / 47
const usages = ['server auth', 'client auth', 'digital signature', 'key encipherment']

const readText = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((err: NodeJS.ErrnoException) => {
    if (err.code === 'ENOENT') return undefined
    throw err
  })

/** The name follows from the key, so that an agent that was stopped finds its request again. */
export function requestName(node: string, key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return `libvirt-${node}-${createHash('sha256').update(spki).digest('hex').slice(0, 10)}`
}

export function isDue(pem: string, names: readonly string[], now: Date): boolean {
  const leaf = new X509Certificate(pem)
  const [from, to] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()]
  if (now.getTime() - from > (to - from) * renewAfter) return true
  return !names.every(name => (isIP(name) > 0 ? leaf.checkIP(name) : leaf.checkHost(name)))
}

export function fromRequest({ kube, node, addresses, signer, caFile, keyFile, folder, clock }: Options): TlsSource {
  async function makeKey(): Promise<string> {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    await mkdir(dirname(keyFile), { recursive: true })
    await writeFile(`${keyFile}.new`, key, { mode: 0o600 })
    await rename(`${keyFile}.new`, keyFile)
    return key
  }

  async function ask(key: KeyObject, names: readonly string[]): Promise<CertificateSigningRequest> {
    const name = requestName(node, key)
    const found = await kube.find(CertificateSigningRequest, name)
    if (found !== undefined) return found
    const request = certificateRequest({ commonName: node, organization: 'nova', names }, key)
    const spec = {
      request: Buffer.from(request).toString('base64'),
      signerName: signer,
      usages,
      expirationSeconds: lifetimeSeconds
    }
    return kube.create(CertificateSigningRequest, { metadata: { name }, spec })
  }

  return async () => {
    const names = [node, ...addresses()]
    if (names.length === 1) return { waiting: 'the addresses of the node are not in the status of its Hypervisor yet' }
    const [ca, there, newest] = await Promise.all([readFile(caFile, 'utf8'), installedIn(folder), readText(keyFile)])
    const isOwn = there !== undefined && there.key === newest
    if (isOwn && !isDue(there.cert, names, clock())) return { ...there, ca }
    const key = newest === undefined || isOwn ? await makeKey() : newest // one that nobody has answered for is asked for again
    const { metadata, status } = await ask(createPrivateKey(key), names)
    const refused = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed')
    if (refused) return { failed: `${metadata?.name} was refused: ${refused.message ?? refused.reason ?? refused.type}` }
    if (status?.certificate !== undefined) return { ca, cert: Buffer.from(status.certificate, 'base64').toString(), key }
    // what is installed is good until the new one comes
    if (there !== undefined && problemOf(there, clock()) === undefined) return there
    const approved = status?.conditions?.some(({ type }) => type === 'Approved') ?? false
    return { waiting: `${metadata?.name} waits for ${approved ? `its signer ${signer}` : 'approval'}` }
  }
}
