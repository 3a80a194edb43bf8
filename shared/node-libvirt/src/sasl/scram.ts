// RFC 5802 with SHA-256 (RFC 7677), without channel binding
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Credentials, Exchange, Mechanism } from './mechanism.ts'

const GS2_HEADER = 'n,,'
const MAX_ITERATIONS = 1_000_000 // a hostile server must not buy minutes of our processor

export const scramSha256: Mechanism = {
  name: 'SCRAM-SHA-256',
  start: credentials => scram(credentials, randomBytes(18).toString('base64'))
}

export function scram({ username, password }: Credentials, nonce: string): Exchange {
  const bare = `n=${username.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`
  let expected: Buffer | undefined // the server's signature, known once the proof is sent
  let proven = false

  function prove(serverFirst: string): Buffer<ArrayBuffer> {
    const { r: combined = '', s: salt = '', i: iterations = '' } = attributes(serverFirst)
    if (!combined.startsWith(nonce) || combined.length === nonce.length) throw new Error('SCRAM: the nonce is not ours')
    const rounds = Number(iterations)
    if (!Number.isInteger(rounds) || rounds < 1 || rounds > MAX_ITERATIONS) throw new Error(`SCRAM: ${iterations} iterations`)

    const salted = pbkdf2Sync(password.normalize('NFKC'), Buffer.from(salt, 'base64'), rounds, 32, 'sha256')
    const clientKey = hmac(salted, 'Client Key')
    const withoutProof = `c=${Buffer.from(GS2_HEADER).toString('base64')},r=${combined}`
    const message = `${bare},${serverFirst},${withoutProof}`
    const signature = hmac(createHash('sha256').update(clientKey).digest(), message)
    const proof = clientKey.map((byte, at) => byte ^ (signature[at] ?? 0))
    expected = hmac(hmac(salted, 'Server Key'), message)
    return Buffer.from(`${withoutProof},p=${Buffer.from(proof).toString('base64')}`)
  }

  function verify(serverFinal: string, signature: Buffer): Buffer<ArrayBuffer> {
    const { v = '', e } = attributes(serverFinal)
    const given = Buffer.from(v, 'base64')
    if (e !== undefined) throw new Error(`SCRAM: the server says ${e}`)
    if (given.length !== signature.length || !timingSafeEqual(given, signature))
      throw new Error('SCRAM: the server does not know the password')
    proven = true
    return Buffer.alloc(0)
  }

  return {
    first: Buffer.from(`${GS2_HEADER}${bare}`),
    next: challenge => (expected ? verify(challenge.toString(), expected) : prove(challenge.toString())),
    done: () => proven
  }
}

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()

function attributes(message: string): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(message.split(',').map(part => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]))
}
