// Which webhooks a request concerns.
import { Environment, type ParseResult } from '@marcbachmann/cel-js'
import type { Call, Operation } from './cluster.ts'
import { fieldsOf, listOf, type Fields, type KubeObject } from './object.ts'
import { labelSelector } from './selectors.ts'
import type { Store } from './store.ts'

export interface Admission {
  call: Call
  operation: Operation
  object: KubeObject | undefined
  old: KubeObject | undefined
}

/** Rules and selectors; match conditions are asked apart, since they can fail. */
export function concerns(store: Store, webhook: Fields, admission: Admission): boolean {
  return (
    listOf(webhook.rules).some(rule => matchesRule(fieldsOf(rule), admission)) &&
    inNamespaces(store, webhook, admission) &&
    [admission.object, admission.old].some(
      each => each !== undefined && labelSelector(webhook.objectSelector)(each.metadata.labels ?? {})
    )
  )
}

function matchesRule(rule: Fields, { call: { resource, subresource }, operation }: Admission): boolean {
  const any = (list: unknown, value: string): boolean => listOf(list).some(each => each === '*' || each === value)
  const scope = rule.scope ?? '*'
  return (
    any(rule.operations, operation) &&
    any(rule.apiGroups, resource.group) &&
    any(rule.apiVersions, resource.version) &&
    (scope === '*' || (scope === 'Namespaced') === resource.namespaced) &&
    listOf(rule.resources).some(each => matchesResource(String(each), resource.plural, subresource))
  )
}

function matchesResource(pattern: string, plural: string, subresource: string): boolean {
  const [name, sub = ''] = pattern.split('/')
  return (name === '*' || name === plural) && (sub === '*' || sub === subresource)
}

function inNamespaces(store: Store, webhook: Fields, { call: { resource, namespace }, object, old }: Admission): boolean {
  const test = labelSelector(webhook.namespaceSelector)
  if (resource.group === '' && resource.kind === 'Namespace') return test((object ?? old)?.metadata.labels ?? {})
  // Other cluster-wide kinds have no namespace, and every selector lets them through.
  return !resource.namespaced || test(store.get('/namespaces', '', namespace)?.metadata.labels ?? {})
}

const environment = new Environment({ unlistedVariablesAreDyn: true })
const programs = new Map<string, ParseResult>()

/** True when all conditions hold; throws when one cannot be evaluated and none is false. */
export function meetsConditions(webhook: Fields, request: Fields, { object, old }: Admission): boolean {
  const context = { request, object: object ?? null, oldObject: old ?? null }
  const errors: Error[] = []
  for (const { name, expression } of listOf(webhook.matchConditions).map(fieldsOf)) {
    const text = String(expression)
    const program = programs.get(text) ?? environment.parse(text)
    programs.set(text, program)
    try {
      if (program(context) !== true) return false
    } catch (err) {
      errors.push(new Error(`match condition ${String(name)}: ${(err as Error).message}`, { cause: err }))
    }
  }
  if (errors[0]) throw errors[0]
  return true
}
