// A certificate for 127.0.0.1, made at each start: kubectl and client-node refuse plain HTTP.
import 'reflect-metadata' // x509's dependency injection wants it loaded first
import { webcrypto } from 'node:crypto'

export interface Certificate {
  /** The certificate, which is its own authority. */
  certificate: string
  key: string
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000

export async function makeCertificate(now: Date): Promise<Certificate> {
  const { BasicConstraintsExtension, PemConverter, SubjectAlternativeNameExtension, X509CertificateGenerator } =
    await import('@peculiar/x509')
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=drover-kube-api',
    notBefore: new Date(now.getTime() - dayMs),
    notAfter: new Date(now.getTime() + 3650 * dayMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'dns', value: 'localhost' }
      ])
    ]
  })
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { certificate: certificate.toString('pem'), key: PemConverter.encode(key, 'PRIVATE KEY') }
}
