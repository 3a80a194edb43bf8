// Whether the webhook's certificate must be made anew, and whom the API server is to trust. Pure.
import type { Certificate } from '../../shared/runtime/self-signed.ts'

/** What can be read of a certificate; tls.crt of the Secret, and those that are trusted besides. */
export interface Known {
  pem: string
  names: readonly string[]
  notAfter: Date
  /** The key beside it is its own. */
  fits: boolean
}

export interface Seen {
  current: Known | undefined
  trusted: readonly Known[]
}

export interface Wanted {
  names: readonly string[]
  renewBeforeMs: number
}

export const isGood = ({ current }: Seen, { names, renewBeforeMs }: Wanted, now: Date): boolean =>
  current !== undefined &&
  current.fits &&
  names.every(name => current.names.includes(name)) &&
  current.notAfter.getTime() - now.getTime() > renewBeforeMs

/** The new one first, and every earlier one until it ends: pods show theirs for as long as their volume is not up to date. */
export function bundle({ current, trusted }: Seen, made: Certificate | undefined, now: Date): string[] {
  const earlier = [...(current ? [current] : []), ...trusted].filter(({ notAfter }) => notAfter > now)
  return [...new Set([...(made ? [made.certificate] : []), ...earlier.map(({ pem }) => pem)].map(pem => pem.trim()))].slice(0, 4)
}

interface Webhook {
  name: string
  clientConfig: { caBundle?: string; url?: string }
}

/** A JSON patch that makes a configuration trust them; empty when it does. Webhooks of others in it, by URL, are left alone. */
export function trustPatch(
  webhooks: readonly Webhook[],
  pems: readonly string[]
): Array<{ op: 'test' | 'add'; path: string; value: unknown }> {
  const caBundle = Buffer.from(`${pems.join('\n')}\n`).toString('base64')
  return webhooks.flatMap(({ name, clientConfig }, i) =>
    clientConfig.caBundle === caBundle || clientConfig.url !== undefined
      ? []
      : [
          { op: 'test' as const, path: `/webhooks/${i}/name`, value: name }, // somebody may write it at the same time
          { op: 'add' as const, path: `/webhooks/${i}/clientConfig/caBundle`, value: caBundle }
        ]
  )
}
