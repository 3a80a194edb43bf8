// Specs of a Widget that are refused when it is created, and what the server says of each.

export const unchecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
const blocked = (first: string): string => `[${first}, ${unchecked}]`

export const specs: Array<[name: string, spec: unknown, message: string]> = [
  ['a required field is missing', {}, blocked('spec.color: Required value')],
  [
    'a value that is not in the list',
    { color: 'pink' },
    blocked('spec.color: Unsupported value: "pink": supported values: "red", "green", "blue"')
  ],
  [
    'a string for an integer',
    { color: 'red', size: 'x' },
    blocked('spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"')
  ],
  [
    'less than the minimum',
    { color: 'red', size: 0 },
    'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1'
  ],
  [
    'more than the maximum',
    { color: 'red', size: 11 },
    'spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10'
  ],
  [
    'exactly the exclusive minimum',
    { color: 'red', ratio: 0 },
    'spec.ratio: Invalid value: 0: spec.ratio in body should be greater than 0'
  ],
  [
    'too large for 32 bits',
    { color: 'red', small: 3e9 },
    '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.small'
  ],
  ['too short', { color: 'red', code: 'a' }, 'spec.code: Invalid value: "a": spec.code in body should be at least 2 chars long'],
  ['too long', { color: 'red', code: 'abcdef' }, blocked('spec.code: Too long: may not be more than 5 bytes')],
  [
    'against the pattern',
    { color: 'red', code: 'AB' },
    'spec.code: Invalid value: "AB": spec.code in body should match \'^[a-z]+$\''
  ],
  [
    'not a time',
    { color: 'red', when: 'x' },
    blocked('spec.when: Invalid value: "x": spec.when in body must be of type date-time: "x"')
  ],
  ['too many items', { color: 'red', tags: ['a', 'b', 'c', 'd'] }, blocked('spec.tags: Too many: 4: must have at most 3 items')],
  ['too few items', { color: 'red', tags: [] }, 'spec.tags: Invalid value: 0: spec.tags in body should have at least 1 items'],
  ['twice in a set', { color: 'red', tags: ['a', 'a'] }, 'spec.tags[1]: Duplicate value: "a"'],
  [
    'the same key twice, by default',
    { color: 'red', ports: [{ port: 1 }, { port: 1 }] },
    'spec.ports[1]: Duplicate value: {"port":1,"protocol":"TCP"}'
  ],
  ['an item without its key', { color: 'red', ports: [{ name: 'x' }] }, blocked('spec.ports[0].port: Required value')],
  [
    'a map for a list',
    { color: 'red', ports: {} },
    blocked('spec.ports: Invalid value: "object": spec.ports in body must be of type array: "object"')
  ],
  [
    'too many keys',
    { color: 'red', options: { a: '1', b: '2', c: '3', d: '4' } },
    blocked('spec.options: Too many: 4: must have at most 3 items')
  ],
  [
    'too few keys',
    { color: 'red', options: {} },
    'spec.options: Invalid value: 0: spec.options in body should have at least 1 properties'
  ],
  [
    'a wrong value under a free key',
    { color: 'red', options: { a: 1 } },
    blocked('spec.options.a: Invalid value: "integer": spec.options.a in body must be of type string: "integer"')
  ],
  [
    'neither integer nor string',
    { color: 'red', either: true },
    blocked('spec.either: Invalid value: "boolean": spec.either in body must be of type integer,string: "boolean"')
  ],
  ['deep inside', { color: 'red', nested: { deep: {} } }, blocked('spec.nested.deep.x: Required value')],
  [
    'none of oneOf',
    { color: 'red', choice: {} },
    `[<nil>: Invalid value: "": "spec.choice" must validate one and only one schema (oneOf). Found none valid, spec.choice.a: Required value, ${unchecked}]`
  ],
  [
    'both of oneOf',
    { color: 'red', choice: { a: '', b: '' } },
    '<nil>: Invalid value: "": "spec.choice" must validate one and only one schema (oneOf). Found 2 valid alternatives'
  ],
  ['a spec that is a string', 'x', blocked('spec: Invalid value: "string": spec in body must be of type object: "string"')],
  ['a CEL rule', { color: 'red', min: 2, max: 1 }, 'spec: Invalid value: min must not exceed max']
]
