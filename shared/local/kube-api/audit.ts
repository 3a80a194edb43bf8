// What was asked by whom, and what came of it: the fields of an audit event of the real server that say who used which right.
import type { User } from './cluster.ts'
import type { Reply } from './handle.ts'
import type { RequestInfo } from './request-info.ts'
import { ApiError } from './status.ts'

export interface AuditEvent {
  user: User
  verb: string
  requestURI: string
  objectRef?: { apiGroup?: string; apiVersion: string; resource: string; subresource?: string; namespace?: string; name?: string }
  responseStatus: { code: number }
  annotations: { 'authorization.k8s.io/decision': 'allow' | 'forbid' }
}

export type Audit = (event: AuditEvent) => void

interface Asked {
  user: User
  info: RequestInfo
  uri: string
  allowed: boolean
}

/** A reply that is told of, and what to do with an error that comes in its place. */
export function audited(audit: Audit, asked: Asked, reply: Reply): { reply: Reply; failed: (err: unknown) => never } {
  const tell = (code: number): void => audit(eventOf(asked, code))
  return {
    reply: {
      send(answer) {
        tell(answer.code)
        reply.send(answer)
      },
      follow() {
        tell(200)
        return reply.follow()
      },
      lose(answer) {
        tell(answer.code)
        reply.lose(answer)
      }
    },
    failed(err) {
      tell(err instanceof ApiError ? err.code : 500)
      throw err
    }
  }
}

function eventOf({ user, info, uri, allowed }: Asked, code: number): AuditEvent {
  const { verb, isResource, group, version, resource, subresource, namespace, name } = info
  const optional = { apiGroup: group, subresource, namespace, name }
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== ''))
  return {
    user,
    verb,
    requestURI: uri,
    ...(isResource && { objectRef: { ...given, apiVersion: version, resource } }),
    responseStatus: { code },
    annotations: { 'authorization.k8s.io/decision': allowed ? 'allow' : 'forbid' }
  }
}
