// Who asks, and whether they may (OV-56): the API server decides, and only what it said a moment ago is remembered.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Kube, User } from '../../../shared/kube/index.ts'
import { Refusal } from './refusal.ts'

export interface Question {
  readonly subresource: 'trace' | 'captures' | 'diagnostics'
  readonly verb: 'create' | 'get' | 'delete'
}

export type Admit = (authorization: string | undefined, question: Question) => Promise<User>

const audience = 'ovs-agent'
const allowedMs = 30_000
const refusedMs = 5000

type Verdict = { readonly user: User } | { readonly refusal: Refusal }

export function accessCheck(kube: Pick<Kube, 'reviewToken' | 'reviewAccess'>, namespace: string, name: string): Admit {
  const known = new LRUCache<string, Verdict>({ max: 1000 })

  const ask = async (token: string, { subresource, verb }: Question): Promise<Verdict> => {
    const { authenticated, user } = await kube.reviewToken(token, [audience])
    if (!authenticated || !user) return { refusal: new Refusal(401, `the token is not valid for the audience ${audience}`) }
    const access = { group: 'ovs.c5c3.io', resource: 'ovsnodes', subresource, verb, namespace, name }
    const { allowed } = await kube.reviewAccess(user, access)
    if (allowed) return { user }
    return { refusal: new Refusal(403, `${user.username} may not ${verb} ovsnodes/${subresource} of ${namespace}/${name}`) }
  }

  return async (authorization, question) => {
    const token = /^Bearer ([\w.~+/=-]+)$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) throw new Refusal(401, 'a bearer token is needed')
    const key = `${createHash('sha256').update(token).digest('base64')} ${question.verb} ${question.subresource}`
    let verdict = known.get(key)
    if (!verdict) {
      try {
        verdict = await ask(token, question)
      } catch {
        throw new Refusal(503, 'the API server cannot be asked whether this is allowed') // never allowed by default
      }
      known.set(key, verdict, { ttl: 'user' in verdict ? allowedMs : refusedMs })
    }
    if ('refusal' in verdict) throw verdict.refusal
    return verdict.user
  }
}
