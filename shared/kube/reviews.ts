import { reads } from './retry.ts'
import type { Transport } from './transport.ts'

export interface User {
  username: string
  uid?: string
  groups?: string[]
  extra?: Record<string, string[]>
}

/** What somebody wants to do: to an object, or to a path that is none. */
export type Access =
  | { verb: string; group?: string; resource: string; subresource?: string; namespace?: string; name?: string }
  | { verb: string; path: string }

interface Review<Status> {
  status: Status
}

/** Whose token it is. With audiences, a token that is meant for none of them is not accepted. */
export async function reviewToken(
  transport: Transport,
  token: string,
  audiences?: string[]
): Promise<{ authenticated: boolean; user?: User }> {
  if (token === '') return { authenticated: false } // the server would call the question itself wrong
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences } }
  const path = '/apis/authentication.k8s.io/v1/tokenreviews'
  type Verdict = { authenticated?: boolean; user?: User; audiences?: string[] }
  // it stores nothing, so it may be repeated like a read
  const { status } = await transport.json<Review<Verdict>>(
    { verb: 'review', kind: 'TokenReview', method: 'POST', path, body: review },
    reads
  )
  const meant = !audiences || audiences.some(audience => status.audiences?.includes(audience))
  if (!status.authenticated || !status.user || !meant) return { authenticated: false }
  return { authenticated: true, user: status.user }
}

export async function reviewAccess(
  transport: Transport,
  user: User,
  access: Access
): Promise<{ allowed: boolean; reason?: string }> {
  const { username, ...rest } = user
  const attributes = 'path' in access ? { nonResourceAttributes: access } : { resourceAttributes: access }
  const spec = { user: username, ...rest, ...attributes }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  type Verdict = { allowed: boolean; denied?: boolean; reason?: string }
  const { status } = await transport.json<Review<Verdict>>(
    { verb: 'review', kind: 'SubjectAccessReview', method: 'POST', path, body: review },
    reads
  )
  return { allowed: status.allowed && !status.denied, ...(status.reason && { reason: status.reason }) }
}
