// The certificates of a test cluster: one authority, and leaves for the API server and for webhooks on loopback.
import 'reflect-metadata'
import { generateKeyPairSync, webcrypto } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as x509 from '@peculiar/x509'

x509.cryptoProvider.set(webcrypto as never)
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const notAfter = () => new Date(Date.now() + 30 * 86_400_000)

export interface Authority {
  certificate: x509.X509Certificate
  keys: webcrypto.CryptoKeyPair
}

async function pem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}

export async function makeAuthority(folder: string): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const usage: x509.KeyUsageFlags = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=drover-test-ca',
    keys,
    notAfter: notAfter(),
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true), new x509.KeyUsagesExtension(usage, true)]
  })
  await writeFile(join(folder, 'ca.crt'), certificate.toString('pem'))
  await writeFile(join(folder, 'ca.key'), await pem(keys.privateKey), { mode: 0o600 })
  return { certificate, keys }
}

type AlternativeName = { type: 'dns' | 'ip'; value: string }

/** `<name>.crt` and `<name>.key` in the folder, valid for the names given. */
export async function makeCertificate(
  authority: Authority,
  folder: string,
  name: string,
  names: AlternativeName[]
): Promise<void> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: authority.certificate.subject,
    notAfter: notAfter(),
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']),
      new x509.SubjectAlternativeNameExtension(names)
    ]
  })
  await writeFile(join(folder, `${name}.crt`), certificate.toString('pem'))
  await writeFile(join(folder, `${name}.key`), await pem(keys.privateKey), { mode: 0o600 })
}

/** The key pair that signs service-account tokens. */
export async function makeSigningKey(folder: string): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' }
  })
  await writeFile(join(folder, 'sa.key'), privateKey, { mode: 0o600 })
  await writeFile(join(folder, 'sa.pub'), publicKey)
}

const requestIn = (base64: string): x509.Pkcs10CertificateRequest =>
  new x509.Pkcs10CertificateRequest(Buffer.from(base64, 'base64').toString())

function namesIn(request: x509.Pkcs10CertificateRequest): x509.SubjectAlternativeNameExtension[] {
  const found = request.getExtension('2.5.29.17')
  return found ? [new x509.SubjectAlternativeNameExtension(found.rawData)] : []
}

/** What a request, as a CertificateSigningRequest bears it, is for; its signature is looked at too. */
export async function askedFor(base64: string): Promise<{ subject: string; names: string[] }> {
  const request = requestIn(base64)
  if (!(await request.verify())) throw new Error('the request is not signed by its own key')
  const names = namesIn(request).flatMap(({ names }) => names.items.map(({ value }) => value))
  return { subject: request.subject, names }
}

/** As a signer answers such a request. */
export async function answer({ certificate, keys }: Authority, base64: string): Promise<string> {
  const request = requestIn(base64)
  const leaf = await x509.X509CertificateGenerator.create({
    subject: request.subject,
    issuer: certificate.subject,
    notAfter: notAfter(),
    publicKey: request.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']), ...namesIn(request)]
  })
  return leaf.toString('pem')
}
