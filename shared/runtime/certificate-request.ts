// The request for a certificate (PKCS #10, RFC 2986), proven by the key that it is for
import { createPublicKey, sign, type KeyObject } from 'node:crypto'
import { alternatives, bits, ecdsaWithSha256, integer, objectId, pem, sequence, set, subject, tagged } from './der.ts'

export interface Asked {
  commonName: string
  organization: string
  /** What it should be good for: names and addresses. */
  names: readonly string[]
}

const extensionRequest = objectId(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e) // 1.2.840.113549.1.9.14

/** For a key on the curve P-256. */
export function certificateRequest({ commonName, organization, names }: Asked, key: KeyObject): string {
  const toBeSigned = sequence(
    integer(Buffer.from([0])), // version 1
    subject(commonName, organization),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    tagged(0, sequence(extensionRequest, set(sequence(alternatives(names)))))
  )
  return pem('CERTIFICATE REQUEST', sequence(toBeSigned, ecdsaWithSha256, bits(sign('sha256', toBeSigned, key))))
}
