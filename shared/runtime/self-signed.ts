// A certificate that is its own authority. Written out in DER (X.509, RFC 5280), since Node can read certificates but not make them, and
// a library for it would take a tenth of a start.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export interface Certificate {
  /** The certificate, which is its own authority. */
  certificate: string
  key: string
}

export interface Wanted {
  commonName: string
  /** What it is good for: names, and addresses of IPv4. */
  names: readonly string[]
  days: number
}

const dayMs = 86_400_000

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts)
const octets = (content: Uint8Array): Buffer => der(0x04, content)
const bits = (content: Uint8Array): Buffer => der(0x03, Buffer.from([0]), content)
const integer = (bytes: Uint8Array): Buffer => der(0x02, bytes)
const objectId = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes))
const yes = der(0x01, Buffer.from([0xff]))
const time = (date: Date): Buffer => der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`))

const ecdsaWithSha256 = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)) // 1.2.840.10045.4.3.2
const commonName = (name: string): Buffer => sequence(der(0x31, sequence(objectId(0x55, 4, 3), der(0x0c, Buffer.from(name)))))
const isAuthority = sequence(objectId(0x55, 29, 19), yes, octets(sequence(yes)))
const isAddress = (name: string): boolean => /^\d+(\.\d+){3}$/.test(name)
const alternative = (name: string): Buffer =>
  isAddress(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name))
const goodFor = (names: readonly string[]): Buffer =>
  sequence(objectId(0x55, 29, 17), octets(sequence(...names.map(alternative)))) // subjectAltName

const pem = (content: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${content.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`

export function selfSigned({ commonName: called, names, days }: Wanted, now: Date): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = commonName(called)
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40 // positive, and the shortest form
  const toBeSigned = sequence(
    der(0xa0, integer(Buffer.from([2]))), // version 3
    integer(serial),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(now.getTime() - dayMs)), time(new Date(now.getTime() + days * dayMs))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isAuthority, goodFor(names)))
  )
  const certificate = sequence(toBeSigned, ecdsaWithSha256, bits(sign('sha256', toBeSigned, privateKey)))
  return { certificate: pem(certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}
