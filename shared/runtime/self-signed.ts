// A certificate that is its own authority (X.509, RFC 5280)
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import {
  alternatives,
  bits,
  ecdsaWithSha256,
  integer,
  objectId,
  octets,
  pem,
  sequence,
  subject,
  tagged,
  time,
  yes
} from './der.ts'

export interface Certificate {
  /** The certificate, which is its own authority. */
  certificate: string
  key: string
}

export interface Wanted {
  commonName: string
  /** What it is good for: names and addresses. */
  names: readonly string[]
  days: number
}

const dayMs = 86_400_000
const isAuthority = sequence(objectId(0x55, 29, 19), yes, octets(sequence(yes)))

export function selfSigned({ commonName, names, days }: Wanted, now: Date): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = subject(commonName)
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40 // positive, and the shortest form
  const toBeSigned = sequence(
    tagged(0, integer(Buffer.from([2]))), // version 3
    integer(serial),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(now.getTime() - dayMs)), time(new Date(now.getTime() + days * dayMs))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(isAuthority, alternatives(names)))
  )
  const certificate = sequence(toBeSigned, ecdsaWithSha256, bits(sign('sha256', toBeSigned, privateKey)))
  return { certificate: pem('CERTIFICATE', certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}
