import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Logger } from '../../../shared/runtime/log.ts'

export interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
}

/** The pair as the files have it now; undefined when there is none, or none that fits: in the middle of a renewal one may be older. */
export async function readCertificate(certFile: string, keyFile: string, log: Logger): Promise<Certificate | undefined> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)])
    createSecureContext({ cert, key })
    return { cert, key }
  } catch (err) {
    const absent = err instanceof Error && 'code' in err && err.code === 'ENOENT'
    if (!absent) log.warn({ err, certFile }, 'the certificate of the troubleshooting endpoints cannot be used')
    return undefined
  }
}

export const sameCertificate = (a: Certificate | undefined, b: Certificate): boolean =>
  a !== undefined && a.cert.equals(b.cert) && a.key.equals(b.key)
