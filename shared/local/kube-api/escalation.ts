// Nobody gives away rights that they do not have: in a role unless they may escalate, by a binding unless they may bind that role.
import type { Call, User } from './cluster.ts'
import { at, fieldsOf, listOf, omit, same, text, type Fields, type KubeObject } from './object.ts'
import { isAllowed, rulesOf, rulesOfUser, type Attributes } from './rbac.ts'
import { forbidden, notFound } from './status.ts'
import type { Store } from './store.ts'

const group = 'rbac.authorization.k8s.io'

export function refuseEscalation(store: Store, call: Call, object: KubeObject, live?: KubeObject): void {
  const { resource, user } = call
  if (resource.group !== group || user.groups.includes('system:masters')) return
  if (live && same(withoutOwners(object), withoutOwners(live))) return // what the garbage collector has to write
  if (resource.kind.endsWith('Binding')) refuseBinding(store, call, object)
  else refuseRole(store, call, object, live)
}

function withoutOwners(object: KubeObject): object {
  const metadata = omit(object.metadata, 'ownerReferences', 'finalizers', 'managedFields', 'resourceVersion', 'generation')
  return { ...object, metadata }
}

function refuseRole(store: Store, call: Call, role: KubeObject, live: KubeObject | undefined): void {
  const { resource, namespace, user } = call
  // A new object has no name yet when this is asked.
  const asked = { verb: 'escalate', resource: resource.plural, name: live ? call.name : '', namespace }
  if (may(store, user, asked)) return
  refuseMissing(store, call, role, listOf(role.rules).map(fieldsOf))
  const aggregates = [role, live].some(each => listOf(at(each, 'aggregationRule', 'clusterRoleSelectors')).length > 0)
  if (aggregates && missing(rulesOfUser(store, user, ''), everything).length > 0)
    throw forbidden(resource, role.metadata.name, 'must have cluster-admin privileges to use the aggregationRule')
}

const everything: Fields[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] }
]

function refuseBinding(store: Store, call: Call, binding: KubeObject): void {
  const { kind, name } = fieldsOf(binding.roleRef)
  const plural = kind === 'Role' ? 'roles' : 'clusterroles'
  if (may(store, call.user, { verb: 'bind', resource: plural, name: text(name), namespace: call.namespace })) return
  const rules = rulesOf(store, binding)
  if (!rules) throw notFound(call.resource, text(name)) // the real server, too, speaks of the binding
  refuseMissing(store, call, binding, rules)
}

const may = (store: Store, user: User, asked: Pick<Attributes, 'verb' | 'resource' | 'name' | 'namespace'>): boolean =>
  isAllowed(store, user, { ...asked, group, subresource: '', path: undefined })

function refuseMissing(store: Store, { resource, namespace, user }: Call, object: KubeObject, rules: Fields[]): void {
  const lacking = compacted(missing(rulesOfUser(store, user, namespace), rules))
  if (lacking.length === 0) return
  const who = `user ${quoted(user.username)} (groups=${quoted(user.groups)})`
  const list = [...new Set(lacking.map(described))].sort().join('\n')
  throw forbidden(resource, object.metadata.name, `${who} is attempting to grant RBAC permissions not currently held:\n${list}`)
}

/** One verb on one thing. */
interface Right {
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
  verbs: string[]
}

const texts = (value: unknown): string[] => listOf(value).map(text)

function rightsOf({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: Fields): Right[] {
  const names = texts(resourceNames)
  const named: Array<Pick<Right, 'resourceNames'>> = names.length > 0 ? names.map(name => ({ resourceNames: [name] })) : [{}]
  const things: Array<Omit<Right, 'verbs'>> = [
    ...texts(apiGroups).flatMap(one =>
      texts(resources).flatMap(resource => named.map(name => Object.assign({ apiGroups: [one], resources: [resource] }, name)))
    ),
    ...texts(nonResourceURLs).map(url => ({ nonResourceURLs: [url] }))
  ]
  return things.flatMap(thing => texts(verbs).map(verb => Object.assign({ verbs: [verb] }, thing)))
}

const missing = (held: Fields[], rules: Fields[]): Right[] =>
  rules.flatMap(rightsOf).filter(right => !held.some(rule => holds(rule, right)))

function holds(
  rule: Fields,
  { verbs, apiGroups = [], resources = [], nonResourceURLs = [], resourceNames = [] }: Right
): boolean {
  const has = (list: unknown, wanted: string[], all = true): boolean => {
    const given = texts(list)
    return (all && given.includes('*')) || wanted.every(each => given.includes(each))
  }
  const part = resources[0]?.split('/').slice(1).join('/') ?? ''
  return (
    has(rule.verbs, verbs) &&
    has(rule.apiGroups, apiGroups) &&
    (has(rule.resources, resources) || (part !== '' && texts(rule.resources).includes(`*/${part}`))) &&
    nonResourceURLs.every(url => texts(rule.nonResourceURLs).some(given => covers(given, url))) &&
    (listOf(rule.resourceNames).length === 0 || (resourceNames.length > 0 && has(rule.resourceNames, resourceNames, false)))
  )
}

const covers = (given: string, url: string): boolean =>
  given === url || (given.endsWith('*') && url.startsWith(given.replace(/\*+$/, '')))

/** The verbs on one thing together. */
function compacted(rights: Right[]): Right[] {
  const known = new Map<string, Right>()
  for (const { verbs, ...thing } of rights) {
    const key = thing.nonResourceURLs ? JSON.stringify([thing, verbs]) : JSON.stringify(thing)
    known.set(key, { ...thing, verbs: [...(known.get(key)?.verbs ?? []), ...verbs] })
  }
  return [...known.values()]
}

const quoted = (value: string | string[]): string =>
  Array.isArray(value) ? `[${value.map(each => JSON.stringify(each)).join(' ')}]` : JSON.stringify(value)

function described(right: Right): string {
  const parts = [
    ['APIGroups', right.apiGroups],
    ['Resources', right.resources],
    ['NonResourceURLs', right.nonResourceURLs],
    ['ResourceNames', right.resourceNames],
    ['Verbs', right.verbs]
  ] as const
  return `{${parts.flatMap(([name, list]) => (list ? [`${name}:${quoted([...list])}`] : [])).join(', ')}}`
}
