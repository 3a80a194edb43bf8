// `kubectl --as`: whoever may impersonate is taken for somebody else, with that one's rights and no others.
import type { IncomingHttpHeaders } from 'node:http'
import type { User } from './cluster.ts'
import { isAllowed, refusal } from './rbac.ts'
import type { Store } from './store.ts'

export function impersonated(store: Store, user: User, headers: IncomingHttpHeaders): User {
  const name = headers['impersonate-user']
  if (typeof name !== 'string') return user
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? []
  const asked = {
    verb: 'impersonate',
    group: '',
    resource: account ? 'serviceaccounts' : 'users',
    subresource: '',
    namespace: namespace ?? '',
    name: account ?? name,
    path: undefined
  }
  if (!isAllowed(store, user, asked)) throw refusal(user, asked)
  const given = String(headers['impersonate-group'] ?? '')
    .split(',')
    .map(group => group.trim())
    .filter(group => group !== '')
  const implied = namespace ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`] : []
  return { username: name, groups: [...(given.length > 0 ? given : implied), 'system:authenticated'] }
}
