// Role-based access control over the Role, ClusterRole and binding objects that are stored.
import { LRUCache } from 'lru-cache'
import type { User } from './cluster.ts'
import { at, fieldsOf, listOf, shown, type Fields, type KubeObject } from './object.ts'
import { labelSelector } from './selectors.ts'
import { forbidden, ApiError } from './status.ts'
import type { Store } from './store.ts'

export interface Attributes {
  verb: string
  group: string
  resource: string
  subresource: string
  namespace: string
  name: string
  /** For requests that are not about a resource. */
  path: string | undefined
}

const rbac = 'rbac.authorization.k8s.io'

export function isAllowed(store: Store, user: User, asked: Attributes): boolean {
  if (user.groups.includes('system:masters')) return true
  return rulesOfUser(store, user, asked.namespace).some(rule => covers(rule, asked))
}

/** Asked with every request; found anew when a role or a binding changed. */
const found = new WeakMap<Store, LRUCache<string, Fields[]>>()

export function rulesOfUser(store: Store, user: User, namespace: string): Fields[] {
  let rules = found.get(store)
  if (!rules) {
    const fresh = (rules = new LRUCache<string, Fields[]>({ max: 5000 }))
    found.set(store, fresh)
    store.observe(resource => resource.startsWith(rbac) && fresh.clear())
  }
  const key = [user.username, ...user.groups, namespace].join('\n')
  const known = rules.get(key) ?? [...rulesFor(store, user, namespace)]
  rules.set(key, known)
  return known
}

function* rulesFor(store: Store, user: User, namespace: string): Generator<Fields> {
  for (const binding of store.list(`${rbac}/clusterrolebindings`)) if (binds(binding, user)) yield* rulesOf(store, binding) ?? []
  if (!namespace) return
  for (const binding of store.list(`${rbac}/rolebindings`))
    if (binding.metadata.namespace === namespace && binds(binding, user)) yield* rulesOf(store, binding) ?? []
}

function binds(binding: KubeObject, user: User): boolean {
  return listOf(binding.subjects)
    .map(fieldsOf)
    .some(({ kind, name, namespace }) => {
      if (kind === 'User') return name === user.username
      if (kind === 'Group') return user.groups.includes(String(name))
      return user.username === `system:serviceaccount:${shown(namespace ?? binding.metadata.namespace)}:${String(name)}`
    })
}

/** Undefined when there is no such role. */
export function rulesOf(store: Store, binding: KubeObject): Fields[] | undefined {
  const { kind, name } = fieldsOf(binding.roleRef)
  const role =
    kind === 'Role'
      ? store.get(`${rbac}/roles`, binding.metadata.namespace ?? '', String(name))
      : store.get(`${rbac}/clusterroles`, '', String(name))
  return role && [role, ...aggregated(store, role)].flatMap(each => listOf(each.rules).map(fieldsOf))
}

function aggregated(store: Store, role: KubeObject): KubeObject[] {
  const selectors = listOf(at(role, 'aggregationRule', 'clusterRoleSelectors')).map(labelSelector)
  if (selectors.length === 0) return []
  return store.list(`${rbac}/clusterroles`).filter(each => selectors.some(test => test(each.metadata.labels ?? {})))
}

const holds = (list: unknown, value: string): boolean => listOf(list).some(each => each === '*' || each === value)

function covers(rule: Fields, { verb, group, resource, subresource, name, path }: Attributes): boolean {
  if (!holds(rule.verbs, verb)) return false
  if (path !== undefined) return listOf(rule.nonResourceURLs).some(url => matchesUrl(String(url), path))
  const full = subresource ? `${resource}/${subresource}` : resource
  const resources = listOf(rule.resources)
  const covered = holds(resources, full) || (subresource !== '' && resources.includes(`*/${subresource}`))
  const names = listOf(rule.resourceNames)
  return covered && holds(rule.apiGroups, group) && (names.length === 0 || names.includes(name))
}

const matchesUrl = (pattern: string, path: string): boolean =>
  pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)))

export function refusal(user: User, asked: Attributes, reason = ''): ApiError {
  const { verb, group, resource, subresource, namespace, name, path } = asked
  const who = `User "${user.username}" cannot`
  if (path !== undefined) return new ApiError(403, 'Forbidden', `forbidden: ${who} ${verb} path "${path}"${reason}`, {})
  const full = subresource ? `${resource}/${subresource}` : resource
  const where = namespace ? `in the namespace "${namespace}"` : 'at the cluster scope'
  return forbidden(
    { group, plural: resource, kind: '' },
    name,
    `${who} ${verb} resource "${full}" in API group "${group}" ${where}${reason}`
  )
}
