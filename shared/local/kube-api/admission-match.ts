// Which requests a webhook or a policy is about.
import type { Admission } from './admission-cel.ts'
import { fieldsOf, listOf, type Fields, type KubeObject } from './object.ts'
import { labelSelector } from './selectors.ts'
import type { Store } from './store.ts'

/** What a webhook, a policy and a binding have in common. */
interface Scope {
  rules?: unknown
  resourceRules?: unknown
  excludeResourceRules?: unknown
  namespaceSelector?: unknown
  objectSelector?: unknown
}

/** Rules and selectors; match conditions are asked apart, since they can fail. A webhook without rules is about nothing, a binding about all. */
export function concerns(store: Store, scope: Fields & Scope, admission: Admission): boolean {
  const { rules, resourceRules = [] } = scope
  const matches = (rule: unknown): boolean => matchesRule(fieldsOf(rule), admission)
  return (
    (rules === undefined && listOf(resourceRules).length === 0 ? true : listOf(rules ?? resourceRules).some(matches)) &&
    !listOf(scope.excludeResourceRules).some(matches) &&
    inNamespaces(store, scope, admission) &&
    [admission.object, admission.old].some(
      each => each !== undefined && labelSelector(scope.objectSelector)(each.metadata.labels ?? {})
    )
  )
}

function matchesRule(rule: Fields, { call: { resource, subresource, name }, operation }: Admission): boolean {
  const any = (list: unknown, value: string): boolean => listOf(list).some(each => each === '*' || each === value)
  const scope = rule.scope ?? '*'
  const names = listOf(rule.resourceNames)
  return (
    any(rule.operations, operation) &&
    any(rule.apiGroups, resource.group) &&
    any(rule.apiVersions, resource.version) &&
    (scope === '*' || (scope === 'Namespaced') === resource.namespaced) &&
    listOf(rule.resources).some(each => matchesResource(String(each), resource.plural, subresource)) &&
    (names.length === 0 || names.includes(name))
  )
}

function matchesResource(pattern: string, plural: string, subresource: string): boolean {
  const [name, sub = ''] = pattern.split('/')
  return (name === '*' || name === plural) && (sub === '*' || sub === subresource)
}

function inNamespaces(store: Store, { namespaceSelector }: Scope, admission: Admission): boolean {
  const { resource } = admission.call
  const test = labelSelector(namespaceSelector)
  if (resource.group === '' && resource.kind === 'Namespace')
    return test((admission.object ?? admission.old)?.metadata.labels ?? {})
  // Other cluster-wide kinds have no namespace, and every selector lets them through.
  return !resource.namespaced || test(namespaceOf(store, admission)?.metadata.labels ?? {})
}

export const namespaceOf = (store: Store, { call: { resource, namespace } }: Admission): KubeObject | undefined =>
  resource.namespaced ? store.get('/namespaces', '', namespace) : undefined
