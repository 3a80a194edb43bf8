// Who may come in, for how long, and where the services are.
import type { Service } from '../http/request.ts'
import { isObject } from '../http/request.ts'
import type { Person, World } from '../world/world.ts'

export interface Account extends Person {
  user: string
  password: string
  applicationCredential: { id: string; secret: string }
}

export interface Tokens {
  accepts(method: string, proof: Record<string, unknown>): boolean
  issue(method: string, base: string, scoped: boolean): { id: string; token: object }
  isValid(id: string | undefined): boolean
  /** every token that was ever given ends now */
  revokeAll(): void
  setLifetime(ms: number): void
  issued(): number
}

const prefixes: Record<Service, string> = {
  identity: '/identity',
  compute: '/compute/v2.1',
  placement: '/placement',
  image: '/image',
  network: '/network'
}
export const prefixOf = (service: Service): string => prefixes[service]

export function createTokens({ clock, newId }: World, account: Account, regions: readonly string[]): Tokens {
  const valid = new Map<string, number>()
  let lifetimeMs = 24 * 3_600_000
  let issued = 0
  const isValid = (id: string | undefined): boolean => (valid.get(id ?? '') ?? 0) > clock.now()
  const checks: Record<string, (proof: Record<string, unknown>) => boolean> = {
    password: ({ user }) => isObject(user) && user['name'] === account.user && user['password'] === account.password,
    application_credential: ({ id, secret }) =>
      id === account.applicationCredential.id && secret === account.applicationCredential.secret,
    token: ({ id }) => typeof id === 'string' && isValid(id)
  }
  return {
    accepts: (method, proof) => checks[method]?.(proof) ?? false,
    issue(method, base, scoped) {
      const id = `gAAAAA-${newId()}`
      const endsMs = clock.now() + lifetimeMs
      valid.set(id, endsMs)
      issued++
      const issuedAt = new Date(clock.now()).toISOString()
      const token = {
        methods: [method],
        user: { id: account.userId, name: account.user },
        expires_at: new Date(endsMs).toISOString(),
        issued_at: issuedAt
      }
      return { id, token: scoped ? { ...token, project: { id: account.projectId }, catalog: catalog(base, regions) } : token }
    },
    isValid,
    revokeAll: () => valid.clear(),
    setLifetime(ms) {
      lifetimeMs = ms
    },
    issued: () => issued
  }
}

function catalog(base: string, regions: readonly string[]): object[] {
  const root = base.slice(0, -prefixes.identity.length)
  return (Object.keys(prefixes) as Service[]).map(type => ({
    type,
    name: type,
    endpoints: regions.flatMap(region =>
      ['public', 'internal', 'admin'].map(face => ({ interface: face, region, region_id: region, url: root + prefixes[type] }))
    )
  }))
}
