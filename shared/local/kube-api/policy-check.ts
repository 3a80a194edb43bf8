// What is wrong with a ValidatingAdmissionPolicy or its binding, and what the server fills in.
import { compilationError, type Place } from './admission-cel.ts'
import { duplicate, invalidValue, required, unsupported } from './causes.ts'
import { fieldsOf, isFields, listOf, text, type Fields, type KubeObject } from './object.ts'
import type { Cause } from './status.ts'

const matchAll = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} }

function filledMatch(match: unknown): Fields {
  const filled: Fields = { ...matchAll, ...fieldsOf(match) }
  for (const key of ['resourceRules', 'excludeResourceRules'])
    if (filled[key]) filled[key] = listOf(filled[key]).map(rule => Object.assign({ scope: '*' }, rule))
  return filled
}

export function defaultPolicy(policy: KubeObject): KubeObject {
  const spec = fieldsOf(policy.spec)
  const match = isFields(spec.matchConstraints) && { matchConstraints: filledMatch(spec.matchConstraints) }
  return { ...policy, spec: { failurePolicy: 'Fail', ...spec, ...match } }
}

export function defaultBinding(binding: KubeObject): KubeObject {
  const spec = fieldsOf(binding.spec)
  return isFields(spec.matchResources)
    ? { ...binding, spec: { ...spec, matchResources: filledMatch(spec.matchResources) } }
    : binding
}

export function validatePolicy(policy: KubeObject): Cause[] {
  const { failurePolicy, paramKind, matchConstraints, matchConditions, variables, validations, auditAnnotations } = fieldsOf(
    policy.spec
  )
  const causes = oneOf('spec.failurePolicy', failurePolicy, ['Fail', 'Ignore'])
  if (paramKind !== undefined) causes.push(invalidValue('spec.paramKind', paramKind, 'params are not supported by this server'))
  if (!isFields(matchConstraints)) causes.push(required('spec.matchConstraints'))
  else {
    causes.push(...validateMatch('spec.matchConstraints', matchConstraints))
    if (listOf(matchConstraints.resourceRules).length === 0) causes.push(required('spec.matchConstraints.resourceRules'))
  }
  causes.push(...validateConditions(matchConditions))
  const declared: string[] = []
  const check = (field: string, expression: unknown, wanted?: 'bool' | 'string'): Cause[] =>
    expressionCauses('policy', field, text(expression), wanted, declared)
  listOf(variables).forEach((each, i) => {
    const { name, expression } = fieldsOf(each)
    const field = `spec.variables[${i}]`
    if (!text(name).trim()) causes.push(required(`${field}.name`, 'name is not specified'))
    if (!text(expression).trim()) causes.push(required(`${field}.expression`, 'expression is not specified'))
    else causes.push(...check(`${field}.expression`, expression))
    declared.push(text(name))
  })
  if (listOf(validations).length + listOf(auditAnnotations).length === 0) {
    const why = 'validations or auditAnnotations must contain at least one item'
    causes.push(required('spec.validations', why), required('spec.auditAnnotations', why))
  }
  listOf(validations).forEach((each, i) => causes.push(...validateValidation(`spec.validations[${i}]`, fieldsOf(each), check)))
  return causes
}

type Check = (field: string, expression: unknown, wanted?: 'bool' | 'string') => Cause[]

function validateValidation(field: string, { expression, message, messageExpression, reason }: Fields, check: Check): Cause[] {
  const causes: Cause[] = []
  if (!text(expression).trim()) causes.push(required(`${field}.expression`, 'expression is not specified'))
  else causes.push(...check(`${field}.expression`, expression, 'bool'))
  if (text(messageExpression)) causes.push(...check(`${field}.messageExpression`, messageExpression, 'string'))
  if (/[\n\r]/.test(text(message).trim())) causes.push(invalidValue(`${field}.message`, message, 'must not contain line breaks'))
  if (reason !== undefined) causes.push(...oneOf(`${field}.reason`, reason, ['Forbidden', 'Invalid', 'RequestEntityTooLarge']))
  return causes
}

function validateConditions(conditions: unknown): Cause[] {
  const names = new Set<string>()
  return listOf(conditions).flatMap((each, i) => {
    const { name, expression } = fieldsOf(each)
    const field = `spec.matchConditions[${i}]`
    const causes = text(expression).trim()
      ? expressionCauses('condition', `${field}.expression`, text(expression).trim(), 'bool')
      : [required(`${field}.expression`)]
    if (!text(name)) causes.push(required(`${field}.name`))
    else if (names.has(text(name))) causes.push(duplicate(`${field}.name`, name))
    names.add(text(name))
    return causes
  })
}

function expressionCauses(
  place: Place,
  field: string,
  expression: string,
  wanted?: 'bool' | 'string',
  declared?: string[]
): Cause[] {
  const unknown = [...expression.matchAll(/\bvariables\.(\w+)/g)].find(([, name = '']) => declared?.includes(name) === false)
  const error = unknown
    ? `compilation failed: ERROR: <input>:1:${unknown.index + 'variables'.length + 1}: undefined field '${unknown[1]}'`
    : compilationError(place, expression, wanted)
  return error === undefined ? [] : [invalidValue(field, expression, error)]
}

function oneOf(field: string, value: unknown, supported: string[]): Cause[] {
  return supported.includes(text(value)) ? [] : [unsupported(field, value, supported)]
}

function validateMatch(field: string, match: Fields): Cause[] {
  return [
    ...oneOf(`${field}.matchPolicy`, match.matchPolicy, ['Equivalent', 'Exact']),
    ...['resourceRules', 'excludeResourceRules'].flatMap(key =>
      listOf(match[key]).flatMap((rule, i) => validateRule(`${field}.${key}[${i}]`, fieldsOf(rule)))
    )
  ]
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']

/** Of a policy or a webhook. */
export function validateRule(field: string, rule: Fields): Cause[] {
  const named = {
    operations: 'operations',
    apiGroups: 'API groups',
    apiVersions: 'API versions'
  }
  const causes = Object.entries(named).flatMap(([key, words]): Cause[] => {
    const list = listOf(rule[key])
    if (list.length === 0) return [required(`${field}.${key}`)]
    if (list.length > 1 && list.includes('*'))
      return [invalidValue(`${field}.${key}`, list, `if '*' is present, must not specify other ${words}`)]
    return key === 'operations' ? list.flatMap((each, i) => oneOf(`${field}.operations[${i}]`, each, operations)) : []
  })
  if (listOf(rule.resources).length === 0) causes.push(required(`${field}.resources`))
  if (rule.scope !== undefined) causes.push(...oneOf(`${field}.scope`, rule.scope, ['*', 'Cluster', 'Namespaced']))
  return causes
}

export function validateBinding(binding: KubeObject): Cause[] {
  const { policyName, matchResources, validationActions } = fieldsOf(binding.spec)
  const causes = text(policyName) ? [] : [required('spec.policyName')]
  if (isFields(matchResources)) causes.push(...validateMatch('spec.matchResources', matchResources))
  const actions = listOf(validationActions)
  actions.forEach((action, i) => {
    const field = `spec.validationActions[${i}]`
    causes.push(...oneOf(field, action, ['Audit', 'Deny', 'Warn']))
    if (actions.indexOf(action) < i) causes.push(duplicate(field, action))
  })
  if (actions.includes('Deny') && actions.includes('Warn'))
    causes.push(
      invalidValue(
        'spec.validationActions',
        actions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'
      )
    )
  if (actions.length === 0) causes.push(required('spec.validationActions', 'at least one validation action is required'))
  return causes
}
