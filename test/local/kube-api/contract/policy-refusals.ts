// What no ValidatingAdmissionPolicy, and no binding of one, can be.
import type { Case } from './target.ts'

export const group = '/apis/admissionregistration.k8s.io/v1'
export const resourceRules = [
  {
    apiGroups: ['contract.drover.dev'],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    resources: ['widgets', 'widgets/status']
  }
]

/** Named after the one who asks: policies are global. */
export function policyRefusals(name: string): Case[] {
  const policy = (spec: object): Case['send'] => [
    'POST',
    `${group}/validatingadmissionpolicies?dryRun=All`,
    {
      metadata: { name: `${name}-x` },
      spec: { matchConstraints: { resourceRules }, validations: [{ expression: 'true' }], ...spec }
    }
  ]
  const binding = (spec: object): Case['send'] => [
    'POST',
    `${group}/validatingadmissionpolicybindings?dryRun=All`,
    { metadata: { name: `${name}-x` }, spec: { policyName: 'p', validationActions: ['Deny'], ...spec } }
  ]
  const row = (title: string, send: Case['send'], causes: NonNullable<Case['causes']>, message?: RegExp): Case => ({
    name: title,
    send,
    status: 422,
    reason: 'Invalid',
    causes,
    ...(message && { message })
  })
  const invalid = 'FieldValueInvalid'
  const expression = 'spec.validations[0].expression'
  return [
    row('no rules', policy({ matchConstraints: {} }), [['FieldValueRequired', 'spec.matchConstraints.resourceRules']]),
    row('no constraints', policy({ matchConstraints: null }), [['FieldValueRequired', 'spec.matchConstraints']]),
    row('nothing to validate', policy({ validations: [] }), [
      ['FieldValueRequired', 'spec.validations'],
      ['FieldValueRequired', 'spec.auditAnnotations']
    ]),
    row('an unknown failure policy', policy({ failurePolicy: 'Maybe' }), [['FieldValueNotSupported', 'spec.failurePolicy']]),
    row(
      'a rule without operations and resources',
      policy({ matchConstraints: { resourceRules: [{ apiGroups: ['*'], apiVersions: ['v1'] }] } }),
      [
        ['FieldValueRequired', 'spec.matchConstraints.resourceRules[0].operations'],
        ['FieldValueRequired', 'spec.matchConstraints.resourceRules[0].resources']
      ]
    ),
    row(
      'an expression that is none',
      policy({ validations: [{ expression: 'object.' }] }),
      [[invalid, expression]],
      /compilation failed: ERROR: <input>:1:/
    ),
    row(
      'a name that nobody knows',
      policy({ validations: [{ expression: 'nobody.x == 1' }] }),
      [[invalid, expression]],
      /Invalid value: "nobody.x == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody' \(in container ''\)/
    ),
    row(
      'a variable that nobody declared',
      policy({ variables: [{ name: 'a', expression: '1' }], validations: [{ expression: 'variables.b == 1' }] }),
      [[invalid, expression]],
      /undefined field 'b'/
    ),
    row(
      'a rule that is a number',
      policy({ validations: [{ expression: '1 + 1' }] }),
      [[invalid, expression]],
      /must evaluate to bool but got int/
    ),
    row(
      'a rule that is a field of the object',
      policy({ validations: [{ expression: 'object.spec.on' }] }),
      [[invalid, expression]],
      /must evaluate to bool but got dyn/
    ),
    row(
      'a message that is no text',
      policy({ validations: [{ expression: 'true', messageExpression: '1' }] }),
      [[invalid, 'spec.validations[0].messageExpression']],
      /must evaluate to string but got int/
    ),
    row('an unknown reason', policy({ validations: [{ expression: 'true', reason: 'Tired' }] }), [
      ['FieldValueNotSupported', 'spec.validations[0].reason']
    ]),
    row('no action', binding({ validationActions: [] }), [['FieldValueRequired', 'spec.validationActions']]),
    row('both Deny and Warn', binding({ validationActions: ['Deny', 'Warn'] }), [[invalid, 'spec.validationActions']]),
    row('an unknown action', binding({ validationActions: ['Shout'] }), [
      ['FieldValueNotSupported', 'spec.validationActions[0]']
    ]),
    row('no policy', binding({ policyName: '' }), [['FieldValueRequired', 'spec.policyName']])
  ]
}
