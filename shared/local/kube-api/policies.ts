// ValidatingAdmissionPolicies: asked after the object was validated and before any validating webhook.
import { contextOf, dynamic, evaluate, meetsConditions, type Admission } from './admission-cel.ts'
import { concerns, namespaceOf } from './admission-match.ts'
import { fieldsOf, listOf, omit, text, type Fields, type KubeObject } from './object.ts'
import { ApiError, forbidden } from './status.ts'
import type { Store } from './store.ts'
import { requestOf } from './webhook-call.ts'

const group = 'admissionregistration.k8s.io'
const shelves = { policies: `${group}/validatingadmissionpolicies`, bindings: `${group}/validatingadmissionpolicybindings` }

interface Bound {
  policy: KubeObject
  bindings: KubeObject[]
}

interface Denial {
  message: string
  reason: string
}

const codes: Record<string, number> = { Forbidden: 403, RequestEntityTooLarge: 413, Invalid: 422 }

/** Throws what a policy refuses with. */
export function policies(store: Store): (admission: Admission) => void {
  let known: Bound[] | undefined
  store.observe(shelf => {
    if (shelf === shelves.policies || shelf === shelves.bindings) known = undefined
  })
  return admission => {
    known ??= bound(store)
    if (known.length === 0 || admission.call.resource.group === group) return // nobody can be locked out of the policies themselves
    for (const { policy, bindings } of known) judge(store, policy, bindings, admission)
  }
}

/** A policy that nothing binds does nothing. */
function bound(store: Store): Bound[] {
  const bindings = store.list(shelves.bindings)
  return store
    .list(shelves.policies)
    .map(policy => ({
      policy,
      bindings: bindings.filter(({ spec }) => fieldsOf(spec).policyName === policy.metadata.name)
    }))
    .filter(each => each.bindings.length > 0)
}

function judge(store: Store, policy: KubeObject, bindings: KubeObject[], admission: Admission): void {
  const spec = fieldsOf(policy.spec)
  if (!concerns(store, fieldsOf(spec.matchConstraints), admission)) return
  for (const binding of bindings) {
    const { matchResources, validationActions } = fieldsOf(binding.spec)
    if (!concerns(store, fieldsOf(matchResources), admission)) continue
    for (const denial of denials(store, spec, admission)) act(policy, binding, listOf(validationActions), denial, admission)
  }
}

function denials(store: Store, spec: Fields, admission: Admission): Denial[] {
  const failed = (err: unknown): Denial[] =>
    spec.failurePolicy === 'Ignore' ? [] : [{ message: (err as Error).message, reason: 'Invalid' }]
  const request = omit(requestOf(admission), 'object', 'oldObject')
  try {
    if (!meetsConditions(spec.matchConditions, contextOf(admission, request))) return []
  } catch (err) {
    return failed(err)
  }
  const context = Object.defineProperties(contextOf(admission, request), {
    namespaceObject: { get: () => dynamic(namespaceOf(store, admission) ?? null) }
  })
  Object.defineProperty(context, 'variables', { value: variables(spec, context) })
  return listOf(spec.validations).flatMap(each => {
    const validation = fieldsOf(each)
    try {
      if (evaluate('policy', text(validation.expression), context) === true) return []
    } catch (err) {
      return failed(err)
    }
    return [{ message: messageOf(validation, context), reason: text(validation.reason) || 'Invalid' }]
  })
}

/** Each is worked out when it is first asked for. */
function variables(spec: Fields, context: object): object {
  const all = {}
  for (const { name, expression } of listOf(spec.variables).map(fieldsOf)) {
    let value: unknown
    Object.defineProperty(all, text(name), {
      enumerable: true,
      get: () => (value ??= evaluate('policy', text(expression), context))
    })
  }
  return all
}

const longestMessage = 5 * 1024

function messageOf({ expression, message, messageExpression }: Fields, context: object): string {
  const otherwise = text(message).trim() || `failed expression: ${text(expression).trim()}`
  if (!text(messageExpression)) return otherwise
  try {
    const said = evaluate('policy', text(messageExpression), context)
    const told = typeof said === 'string' ? said.trim() : ''
    return told && !told.includes('\n') && Buffer.byteLength(told) <= longestMessage ? told : otherwise
  } catch {
    return otherwise // as the real server does
  }
}

/** Audit leaves no trace: there is no audit log here. */
function act(
  policy: KubeObject,
  binding: KubeObject,
  actions: unknown[],
  { message, reason }: Denial,
  { call }: Admission
): void {
  const names = `'${policy.metadata.name}' with binding '${binding.metadata.name}'`
  if (actions.includes('Warn')) call.warnings.push(`Validation failed for ValidatingAdmissionPolicy ${names}: ${message}`)
  if (!actions.includes('Deny')) return
  const told = `ValidatingAdmissionPolicy ${names} denied request: ${message}`
  const refused = forbidden(call.resource, call.name, told)
  throw new ApiError(codes[reason] ?? 422, reason, refused.message, { ...refused.details, causes: [{ message: told }] })
}
