// Who is asking: the administrator by the token in the kubeconfig, other users by theirs, a service account by one that was made for it.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isStillBound } from './bound.ts'
import type { User } from './cluster.ts'
import { fieldsOf, listOf, at, timestamp, type Fields, type KubeObject } from './object.ts'
import { unauthorized } from './status.ts'
import type { Store } from './store.ts'

export const defaultAudience = 'https://kubernetes.default.svc'
const issuer = 'https://kubernetes.default.svc.cluster.local'

export const admin: User = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }
export const anonymous: User = { username: 'system:anonymous', groups: ['system:unauthenticated'] }

export interface Tokens {
  /** The bearer of an Authorization header; throws 401 for a token that is not ours. */
  authenticate(authorization: string | undefined): User
  /** The user of a token and the audiences it is good for. */
  review(token: string, audiences: string[]): { user: User; audiences: string[] } | undefined
  /** TokenRequest's status; `bound` is what the claims say of the object that the token is bound to. */
  issue(account: KubeObject, spec: Fields, bound: Fields): { token: string; expirationTimestamp: string }
}

/** `users`: by their tokens, which never end. */
export function tokens(store: Store, users: ReadonlyMap<string, User>, key: string, clock: () => Date): Tokens {
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url')
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const seconds = (): number => Math.floor(clock().getTime() / 1000)

  // The same few thousand come with every request: what a good one says never changes, but for its end.
  const known = new LRUCache<string, Fields>({ max: 5000 })

  function claimsOf(token: string): Fields | undefined {
    const [head = '', body = '', signature = ''] = token.split('.')
    if (!same(sign(`${head}.${body}`), signature)) return undefined
    return fieldsOf(JSON.parse(Buffer.from(body, 'base64url').toString()))
  }

  function verify(token: string): Fields | undefined {
    const claims = known.get(token) ?? claimsOf(token)
    if (claims) known.set(token, claims)
    return claims && Number(claims.exp) > seconds() ? claims : undefined
  }

  function accountOf(claims: Fields): User | undefined {
    const bound = fieldsOf(claims['kubernetes.io'])
    const [namespace, name, uid] = [
      String(bound.namespace),
      String(at(bound, 'serviceaccount', 'name')),
      String(at(bound, 'serviceaccount', 'uid'))
    ]
    const account = store.get('/serviceaccounts', namespace, name)
    if (account?.metadata.uid !== uid || account.metadata.deletionTimestamp) return undefined
    if (!isStillBound(store, namespace, bound)) return undefined
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']
    return { username: `system:serviceaccount:${namespace}:${name}`, uid, groups, ...boundExtra(bound) }
  }

  const review: Tokens['review'] = (token, audiences) => {
    const wanted = audiences.length > 0 ? audiences : [defaultAudience]
    const known = [...users].find(([each]) => same(token, each))
    if (known) return wanted.includes(defaultAudience) ? { user: known[1], audiences: wanted } : undefined
    const claims = verify(token)
    const user = claims && accountOf(claims)
    const good = listOf(claims?.aud).filter(audience => typeof audience === 'string' && wanted.includes(audience)) as string[]
    return user && good.length > 0 ? { user, audiences: good } : undefined
  }

  return {
    review,
    authenticate(authorization) {
      if (!authorization) return anonymous
      const found = /^Bearer (\S+)$/i.exec(authorization)?.[1]
      const reviewed = found && review(found, [])
      if (!reviewed) throw unauthorized()
      return reviewed.user
    },
    issue({ metadata: { name, namespace = '', uid = '' } }, spec, bound) {
      const lifetime = Math.min(Math.max(Number(spec.expirationSeconds ?? 3600), 600), 2 ** 32)
      const [now, audiences] = [seconds(), listOf(spec.audiences)]
      const claims = {
        aud: audiences.length > 0 ? audiences : [defaultAudience],
        exp: now + lifetime,
        iat: now,
        nbf: now,
        iss: issuer,
        sub: `system:serviceaccount:${namespace}:${name}`,
        'kubernetes.io': { namespace, serviceaccount: { name, uid }, ...bound }
      }
      const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
      return { token: `${text}.${sign(text)}`, expirationTimestamp: timestamp(new Date((now + lifetime) * 1000)) }
    }
  }
}

// A token that is bound to a pod or node says so in `extra`: admission rules read the node's name there.
function boundExtra(bound: Fields): { extra?: Record<string, string[]> } {
  const extra: Record<string, string[]> = {}
  for (const kind of ['pod', 'node'])
    for (const key of ['name', 'uid']) {
      const value = at(bound, kind, key)
      if (typeof value === 'string') extra[`authentication.kubernetes.io/${kind}-${key}`] = [value]
    }
  return Object.keys(extra).length > 0 ? { extra } : {}
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
