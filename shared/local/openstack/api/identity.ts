// Keystone: tokens and the catalog.
import { keystone } from '../http/refusal.ts'
import { isObject, type Route, textOf } from '../http/request.ts'
import type { Tokens } from './tokens.ts'

export function identityRoutes(tokens: Tokens): Route[] {
  return [
    {
      service: 'identity',
      method: 'POST',
      path: '/v3/auth/tokens',
      handle(_, { body, base }) {
        const { identity, scope } = isObject(body['auth']) ? body['auth'] : {}
        if (!isObject(identity) || !Array.isArray(identity['methods']))
          throw keystone(400, 'Bad Request', 'The request you have made is malformed.')
        const method = textOf(identity['methods'][0]) ?? ''
        const proof = isObject(identity[method]) ? identity[method] : {}
        if (!tokens.accepts(method, proof))
          throw keystone(401, 'Unauthorized', 'The request you have made requires authentication.')
        const { id, token } = tokens.issue(method, base, isObject(scope) || method === 'application_credential')
        return { status: 201, body: { token }, headers: { 'x-subject-token': id } }
      }
    }
  ]
}
