// What the real server finds wrong with built-in kinds, as far as Drover writes them: required fields, names, sizes, and what may not change.
import { forbiddenField, invalidValue, required, tooLong, unsupported } from './causes.ts'
import { validateCrd } from './crd-check.ts'
import { validateKey, validateLabelValue } from './metadata.ts'
import { at, fieldsOf, isFields, listOf, same, text, type Fields, type KubeObject } from './object.ts'
import { validateBinding, validatePolicy } from './policy-check.ts'
import { labelSelector, type Labels } from './selectors.ts'
import type { Cause } from './status.ts'

type Check = (object: KubeObject, live: KubeObject | undefined) => Cause[]

const largestData = 1024 * 1024
const dataKey = /^[-._a-zA-Z0-9]+$/
const dataKeyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

const keyCauses = (field: string, data: unknown): Cause[] =>
  Object.keys(fieldsOf(data))
    .filter(key => !dataKey.test(key))
    .map(key => invalidValue(`${field}[${key}]`, key, dataKeyRule))

const plainSize = (data: unknown): number =>
  Object.values(fieldsOf(data)).reduce<number>((sum, value) => sum + Buffer.byteLength(text(value)), 0)
const decodedSize = (data: unknown): number =>
  Object.values(fieldsOf(data)).reduce<number>((sum, value) => sum + Buffer.byteLength(text(value), 'base64'), 0)

/** Once an object says that it is immutable, it is. */
function sealed(object: KubeObject, live: KubeObject | undefined, fields: string[]): Cause[] {
  if (live?.immutable !== true) return []
  const why = 'field is immutable when `immutable` is set'
  return [
    ...(object.immutable === true ? [] : [forbiddenField('immutable', why)]),
    ...fields.filter(field => !same(object[field] ?? {}, live[field] ?? {})).map(field => forbiddenField(field, why))
  ]
}

const configMap: Check = (object, live) => [
  ...sealed(object, live, ['data', 'binaryData']),
  ...keyCauses('data', object.data),
  ...keyCauses('binaryData', object.binaryData),
  ...(plainSize(object.data) + decodedSize(object.binaryData) > largestData ? [tooLong('[]', largestData)] : [])
]

const wantedData: Record<string, string[]> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson']
}

const secret: Check = (object, live) => [
  ...(live ? unchanged('type', object.type, live.type) : []),
  ...sealed(object, live, ['data']),
  ...keyCauses('data', object.data),
  ...(decodedSize(object.data) > largestData ? [tooLong('data', largestData)] : []),
  ...(wantedData[text(object.type)] ?? [])
    .filter(key => fieldsOf(object.data)[key] === undefined)
    .map(key => required(`data[${key}]`))
]

const unchanged = (field: string, value: unknown, before: unknown): Cause[] =>
  same(value, before) ? [] : [invalidValue(field, value, 'field is immutable')]

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

const node: Check = object => {
  const seen = new Set<string>()
  // The real server says metadata and means spec.
  return listOf(at(object, 'spec', 'taints')).flatMap((taint, i) => {
    const { key, value, effect } = fieldsOf(taint)
    const field = `metadata.taints[${i}]`
    const causes = validateKey(`${field}.key`, text(key)).concat(validateLabelValue(`${field}.value`, text(value)))
    if (!text(effect)) causes.push(required(`${field}.effect`))
    else if (!effects.includes(text(effect))) causes.push(unsupported(`${field}.effect`, effect, effects))
    const pair = `${text(key)} ${text(effect)}`
    if (seen.has(pair))
      causes.push({
        reason: 'FieldValueDuplicate',
        message: `Duplicate value: ${JSON.stringify(taint)}: taints must be unique by key and effect pair`,
        field
      })
    seen.add(pair)
    return causes
  })
}

const lease: Check = object => {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions, preferredHolder, strategy } = fieldsOf(object.spec)
  const causes: Cause[] = []
  if (duration !== undefined && Number(duration) <= 0)
    causes.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'))
  if (transitions !== undefined && Number(transitions) < 0)
    causes.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'))
  if (preferredHolder && !strategy)
    causes.push(forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'))
  return causes
}

const workload =
  (name: string): Check =>
  (object, live) => {
    const { selector, template } = fieldsOf(object.spec)
    const labels = fieldsOf(at(template, 'metadata', 'labels'))
    const { matchLabels, matchExpressions } = fieldsOf(selector)
    const causes: Cause[] = []
    const isEmpty = Object.keys(fieldsOf(matchLabels)).length + listOf(matchExpressions).length === 0
    if (!isFields(selector)) causes.push(required('spec.selector'))
    else if (isEmpty) causes.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${name}`))
    else if (!labelSelector(selector)(labels as Labels))
      causes.push(invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'))
    causes.push(...podSpec('spec.template.spec', at(template, 'spec')))
    return live ? [...causes, ...unchanged('spec.selector', selector, at(live, 'spec', 'selector'))] : causes
  }

function podSpec(field: string, spec: unknown): Cause[] {
  const containers = listOf(at(spec, 'containers'))
  if (containers.length === 0) return [required(`${field}.containers`)]
  return containers.flatMap((each, i) => {
    const given = fieldsOf(each)
    return ['name', 'image'].filter(key => !text(given[key])).map(key => required(`${field}.containers[${i}].${key}`))
  })
}

const disruption: Check = ({ spec }) => {
  const { minAvailable, maxUnavailable } = fieldsOf(spec)
  return minAvailable !== undefined && maxUnavailable !== undefined
    ? [invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
    : []
}

const rules: Check = object =>
  listOf(object.rules).flatMap((rule, i) => {
    const { verbs, apiGroups, resources, nonResourceURLs } = fieldsOf(rule)
    const field = `rules[${i}]`
    const causes = listOf(verbs).length === 0 ? [required(`${field}.verbs`, 'verbs must contain at least one value')] : []
    if (listOf(nonResourceURLs).length > 0) {
      if (object.kind === 'Role')
        causes.push(
          invalidValue(`${field}.nonResourceURLs`, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs')
        )
      return causes
    }
    if (listOf(apiGroups).length === 0)
      causes.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'))
    if (listOf(resources).length === 0)
      causes.push(required(`${field}.resources`, 'resource rules must supply at least one resource'))
    return causes
  })

const binding: Check = (object, live) => {
  const { kind, name } = fieldsOf(object.roleRef)
  const kinds = object.kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole']
  const causes: Cause[] = []
  if (!kinds.includes(text(kind))) causes.push(unsupported('roleRef.kind', text(kind), kinds))
  if (!text(name)) causes.push(required('roleRef.name'))
  listOf(object.subjects).forEach((each, i) => causes.push(...subject(`subjects[${i}]`, fieldsOf(each))))
  if (live && !same(live.roleRef, object.roleRef)) causes.push(invalidValue('roleRef', object.roleRef, 'cannot change roleRef'))
  return causes
}

const subjectKinds = ['ServiceAccount', 'User', 'Group']

function subject(field: string, { kind, name }: Fields): Cause[] {
  return [
    ...(text(name) ? [] : [required(`${field}.name`)]),
    ...(subjectKinds.includes(text(kind)) ? [] : [unsupported(`${field}.kind`, text(kind), subjectKinds)])
  ]
}

/** By its kind; an Event by its group, since the older one is hardly looked at. */
export const builtinChecks: Record<string, Check> = {
  CustomResourceDefinition: validateCrd,
  ValidatingAdmissionPolicy: validatePolicy,
  ValidatingAdmissionPolicyBinding: validateBinding,
  ConfigMap: configMap,
  Secret: secret,
  Node: node,
  Lease: lease,
  Pod: object => podSpec('spec', object.spec),
  Deployment: workload('deployment'),
  DaemonSet: workload('daemonset'),
  PodDisruptionBudget: disruption,
  Role: rules,
  ClusterRole: rules,
  RoleBinding: binding,
  ClusterRoleBinding: binding
}
