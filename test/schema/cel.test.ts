import t from 'tap'
import { evaluateRules } from '../../shared/schema/cel.ts'
import type { OpenApi, ValidationRule } from '../../shared/schema/openapi.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { expressions, selfSchema, selfValue } from './cel.cases.ts'

const rules = (...list: ValidationRule[]) => ({ 'x-kubernetes-validations': list })

t.test('expressions, as the API server answers them', async t => {
  for (const [rule, holds] of expressions) {
    const wrong = evaluateRules({ ...selfSchema, ...rules({ rule }) }, selfValue, undefined, 'spec', false)
    t.equal(wrong.length === 0, holds, rule, { wrong })
  }
})

const text: OpenApi = { type: 'string' }
const list = (item: OpenApi): OpenApi => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: text, value: item } }
})

const cases: Array<[name: string, schema: OpenApi, value: unknown, old: unknown, then: object[]]> = [
  [
    'a message is computed',
    { ...text, ...rules({ rule: 'false', message: 'plain', messageExpression: "'not ' + self" }) },
    'this',
    undefined,
    [{ path: 'at', message: 'not this' }]
  ],
  [
    'a message that cannot be computed gives way',
    { ...text, ...rules({ rule: 'false', message: 'plain', messageExpression: 'self.nope' }) },
    'this',
    undefined,
    [{ path: 'at', message: 'plain' }]
  ],
  [
    'without a message the rule is told',
    { ...text, ...rules({ rule: 'false' }) },
    'x',
    undefined,
    [{ message: 'failed rule: false' }]
  ],
  [
    'path and reason of the rule',
    {
      type: 'object',
      properties: { a: text },
      ...rules({ rule: 'false', message: 'm', fieldPath: '.a', reason: 'FieldValueForbidden' })
    },
    { a: 'x' },
    undefined,
    [{ path: 'at.a', message: 'm', reason: 'FieldValueForbidden' }]
  ],
  [
    'rules are found below properties, items and additionalProperties',
    {
      type: 'object',
      properties: {
        l: { type: 'array', items: { type: 'object', additionalProperties: { ...text, ...rules({ rule: "self != 'x'" }) } } }
      }
    },
    { l: [{}, { k: 'x' }] },
    undefined,
    [{ path: 'at.l[1].k' }]
  ],
  ['a transition rule rests on create', { ...text, ...rules({ rule: 'self == oldSelf' }) }, 'new', undefined, []],
  ['a transition rule acts on update', { ...text, ...rules({ rule: 'self == oldSelf' }) }, 'new', 'old', [{ path: 'at' }]],
  [
    'entries of a list-map meet their earlier selves by key',
    list({ ...text, ...rules({ rule: 'self == oldSelf' }) }),
    [
      { name: 'b', value: '2' },
      { name: 'a', value: '3' }
    ],
    [
      { name: 'a', value: '1' },
      { name: 'b', value: '2' }
    ],
    [{ path: 'at[1].value' }]
  ],
  [
    'optionalOldSelf: asked on create too',
    { ...text, ...rules({ rule: "oldSelf.hasValue() || self == 'first'", optionalOldSelf: true }) },
    'second',
    undefined,
    [{ path: 'at' }]
  ],
  [
    'optionalOldSelf: with the earlier value on update',
    { ...text, ...rules({ rule: "oldSelf.orValue('') == 'old'", optionalOldSelf: true }) },
    'second',
    'old',
    []
  ],
  [
    'a rule that fails to evaluate counts as broken',
    { type: 'object', properties: {}, ...rules({ rule: 'self.a > 1' }) },
    {},
    undefined,
    [{ path: 'at' }]
  ],
  ['what is absent is not judged', { ...text, ...rules({ rule: 'false' }) }, undefined, undefined, []]
]

for (const [name, schema, value, old, then] of cases) {
  t.test(name, async t => {
    const wrong = evaluateRules(schema, value, old, 'at', false)
    t.equal(wrong.length, then.length)
    t.match(wrong, then)
  })
}

t.test('the root sees the name of the object, and nothing else of its metadata', async t => {
  const object = { metadata: { name: 'a', labels: { b: 'c' } } }
  const schema: OpenApi = { type: 'object', properties: { metadata: { type: 'object' } } }
  t.strictSame(evaluateRules({ ...schema, ...rules({ rule: "self.metadata.name == 'a'" }) }, object, undefined, ''), [])
  matchWhole(
    t,
    evaluateRules({ ...schema, ...rules({ rule: 'has(self.metadata.labels)', message: 'm' }) }, object, undefined, ''),
    [{ message: 'm' }]
  )
})
