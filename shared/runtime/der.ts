// The few forms of DER (X.690) that a certificate, or the request for one, is made of: Node reads both but makes neither, and a library
// for it would take a tenth of a start.
import { isIP, isIPv6 } from 'node:net'

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

export const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts)
export const set = (...parts: Uint8Array[]): Buffer => der(0x31, ...parts)
export const octets = (content: Uint8Array): Buffer => der(0x04, content)
export const bits = (content: Uint8Array): Buffer => der(0x03, Buffer.from([0]), content)
export const integer = (bytes: Uint8Array): Buffer => der(0x02, bytes)
export const objectId = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes))
export const yes = der(0x01, Buffer.from([0xff]))
export const time = (date: Date): Buffer => der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`))
/** `[n]` of a definition, around what it holds. */
export const tagged = (n: number, ...parts: Uint8Array[]): Buffer => der(0xa0 | n, ...parts)

export const ecdsaWithSha256 = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)) // 1.2.840.10045.4.3.2

const named = (kind: number, text: string): Buffer => set(sequence(objectId(0x55, 4, kind), der(0x0c, Buffer.from(text))))
/** A distinguished name. */
export const subject = (commonName: string, organization?: string): Buffer =>
  sequence(...(organization === undefined ? [] : [named(10, organization)]), named(3, commonName))

/** Sixteen bytes; `::` stands for as many zeros as are missing. */
function ipv6(address: string): Buffer {
  const [head = '', tail] = address.replace(/\d+\.\d+\.\d+\.\d+$/, ipv4AsGroups).split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const [before, after] = [groups(head), groups(tail ?? '')]
  const zeros = Array<string>(tail === undefined ? 0 : 8 - before.length - after.length).fill('0')
  return Buffer.from([...before, ...zeros, ...after].map(group => group.padStart(4, '0')).join(''), 'hex')
}

function ipv4AsGroups(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

function alternative(name: string): Buffer {
  if (isIPv6(name)) return der(0x87, ipv6(name))
  return isIP(name) === 4 ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name))
}

/** subjectAltName: names and addresses. */
export const alternatives = (names: readonly string[]): Buffer =>
  sequence(objectId(0x55, 29, 17), octets(sequence(...names.map(alternative))))

export const pem = (what: string, content: Buffer): string =>
  `-----BEGIN ${what}-----\n${content.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd()}\n-----END ${what}-----\n`
