// `kubectl --as`: whoever may impersonate is taken for somebody else, with that one's rights and no others.
import type { IncomingHttpHeaders } from 'node:http'
import type { User } from './cluster.ts'
import { isAllowed, refusal } from './rbac.ts'
import { badRequest } from './status.ts'
import type { Store } from './store.ts'

const extraHeader = 'impersonate-extra-'

export function impersonated(store: Store, user: User, headers: IncomingHttpHeaders): User {
  const name = headers['impersonate-user']
  if (typeof name !== 'string') {
    const others = Object.keys(headers).find(header => header.startsWith('impersonate-'))
    if (others !== undefined) throw badRequest(`requested ${others} without impersonating a user name`)
    return user
  }
  const judge = (resource: string, what: { name: string; namespace?: string; group?: string; subresource?: string }): void => {
    const asked = { verb: 'impersonate', group: '', resource, subresource: '', namespace: '', path: undefined, ...what }
    if (!isAllowed(store, user, asked)) throw refusal(user, asked)
  }
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? []
  if (namespace && account) judge('serviceaccounts', { name: account, namespace })
  else judge('users', { name })
  const given = values(headers['impersonate-group'])
  for (const group of given) judge('groups', { name: group })
  const extra = Object.fromEntries(
    Object.keys(headers)
      .filter(header => header.startsWith(extraHeader))
      .map(header => [decodeURIComponent(header.slice(extraHeader.length)), values(headers[header])])
  )
  for (const [key, all] of Object.entries(extra))
    for (const value of all) judge('userextras', { name: value, group: 'authentication.k8s.io', subresource: key })
  const implied = namespace ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`] : []
  const groups = [...(given.length > 0 ? given : implied), 'system:authenticated']
  return { username: name, groups, ...(Object.keys(extra).length > 0 && { extra }) }
}

/** Of a header that may be sent several times. */
const values = (header: string | string[] | undefined): string[] =>
  String(header ?? '')
    .split(',')
    .map(value => value.trim())
    .filter(value => value !== '')
