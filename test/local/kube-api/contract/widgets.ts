// A kind that has one field for each thing a schema can say.
const text = { type: 'string' }
const whole = { type: 'integer' }

const spec = {
  type: 'object',
  required: ['color'],
  'x-kubernetes-validations': [
    { rule: '!has(self.min) || !has(self.max) || self.min <= self.max', message: 'min must not exceed max' }
  ],
  properties: {
    color: { type: 'string', enum: ['red', 'green', 'blue'], description: 'what one sees first' },
    size: { type: 'integer', minimum: 1, maximum: 10, default: 3 },
    ratio: { type: 'number', exclusiveMinimum: true, minimum: 0 },
    small: { type: 'integer', format: 'int32' },
    code: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
    when: { type: 'string', format: 'date-time' },
    min: whole,
    max: whole,
    fixed: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is immutable' }] },
    tags: { type: 'array', maxItems: 3, minItems: 1, items: text, 'x-kubernetes-list-type': 'set' },
    plain: { type: 'array', items: text },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      items: {
        type: 'object',
        required: ['port'],
        properties: { port: whole, protocol: { type: 'string', default: 'TCP' }, name: text }
      }
    },
    options: { type: 'object', additionalProperties: text, maxProperties: 3, minProperties: 1 },
    atom: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: text, b: text } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    either: { 'x-kubernetes-int-or-string': true },
    maybe: { type: 'string', nullable: true },
    nested: {
      type: 'object',
      default: { on: true },
      properties: { on: { type: 'boolean' }, deep: { type: 'object', required: ['x'], properties: { x: text } } }
    },
    choice: { type: 'object', properties: { a: text, b: text }, oneOf: [{ required: ['a'] }, { required: ['b'] }] }
  }
}

const status = {
  type: 'object',
  properties: {
    phase: text,
    count: whole,
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: { type: 'object', required: ['type', 'status'], properties: { type: text, status: text, reason: text } }
    }
  }
}

export const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.contract.drover.dev' },
  spec: {
    group: 'contract.drover.dev',
    scope: 'Namespaced',
    names: {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: ['wd'],
      categories: ['all']
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.color' }],
        additionalPrinterColumns: [
          { name: 'Color', type: 'string', jsonPath: '.spec.color' },
          { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: { apiVersion: text, kind: text, metadata: { type: 'object' }, spec, status }
          }
        }
      }
    ]
  }
}
