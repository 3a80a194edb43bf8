// Which wrong changes are tried, by the kind of syntax that they change. Each is a small slip that a reviewer could miss.

export interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

/** What stands at `start` to `end` becomes `text`. */
export interface Change {
  start: number
  end: number
  text: string
}

type Mutator = (node: Node, code: string, parent: Node) => Change[]

const instead = (node: Node, ...texts: string[]): Change[] => texts.map(text => ({ start: node.start, end: node.end, text }))
const child = (node: Node, name: string): Node => node[name] as Node
const textOf = (node: Node, code: string): string => code.slice(node.start, node.end)
const bare = (node: Node): Node => (node.type === 'ParenthesizedExpression' ? bare(child(node, 'expression')) : node)

const operators: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '==': ['!='],
  '!=': ['=='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '??=': ['='],
  '||=': ['='],
  '&&=': ['=']
}
const swapped: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  find: 'findLast',
  push: 'unshift',
  toUpperCase: 'toLowerCase',
  toLowerCase: 'toUpperCase'
}
const removed = new Set(['filter', 'toSorted', 'sort', 'toReversed', 'reverse', 'slice', 'trim'])
const predicated = new Set(['filter', 'some', 'every', 'find', 'findLast', 'findIndex', 'findLastIndex'])

const isText = (node: Node): boolean =>
  node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string')

/** The operator between two operands; a comment may stand there too. */
function operatorBetween(node: Node, code: string): Change[] {
  const operator = node['operator'] as string
  const [left, right] = [child(node, 'left'), child(node, 'right')]
  if (operator === '+' && (isText(bare(left)) || isText(bare(right)))) return []
  const start = code.indexOf(operator, left.end)
  return (operators[operator] ?? []).map(text => ({ start, end: start + operator.length, text }))
}

function logical(node: Node, code: string, parent: Node): Change[] {
  const [left, right] = [textOf(child(node, 'left'), code), textOf(child(node, 'right'), code)]
  const operator = node['operator'] as string
  const other = operator === '&&' ? '||' : '&&'
  const begin = parent.type === 'ExpressionStatement' ? ';' : '' // no line may begin with a parenthesis
  const whole = operator === '??' ? [] : [`${begin}(${left} ${other} ${right})`]
  return instead(node, ...whole, `${begin}(${left})`, `${begin}(${right})`)
}

function call(node: Node, code: string): Change[] {
  const callee = child(node, 'callee')
  if (callee.type !== 'MemberExpression' || callee['computed'] === true) return []
  const property = child(callee, 'property')
  const name = property['name'] as string
  const changes: Change[] = []
  if (swapped[name] !== undefined) changes.push(...instead(property, swapped[name]))
  if (removed.has(name)) changes.push(...instead(node, textOf(child(callee, 'object'), code)))
  const [first] = node['arguments'] as Node[]
  if (predicated.has(name) && first?.type === 'ArrowFunctionExpression' && first['expression'] === true)
    changes.push(...instead(child(first, 'body'), 'true', 'false'))
  return changes
}

/** `a?.b` as `a.b`. */
function chainLink(node: Node, code: string, before: Node): Change[] {
  if (node['optional'] !== true) return []
  const start = code.indexOf('?.', before.end)
  const dot = node.type === 'MemberExpression' && node['computed'] !== true
  return [{ start, end: start + 2, text: dot ? '.' : '' }]
}

function literal(node: Node): Change[] {
  const value = node['value']
  if (typeof value === 'boolean') return instead(node, String(!value))
  if (typeof value === 'string') return instead(node, value === '' ? "'mutant'" : "''")
  if (typeof value === 'number') return instead(node, String(value + 1), String(value - 1))
  if (typeof value === 'bigint') return instead(node, `${value + 1n}n`, `${value - 1n}n`)
  return [] // null, a regular expression
}

const always = (node: Node): Change[] => instead(child(node, 'test'), 'true', 'false')
const nothing: Mutator = node => instead(node, ';')

function unary(node: Node, code: string): Change[] {
  const operator = node['operator'] as string
  return operator === '!' || operator === '-' ? instead(node, textOf(child(node, 'argument'), code)) : []
}

/** The only statement of a block goes with the block. */
function statement(node: Node, code: string, parent: Node): Change[] {
  const alone = parent.type === 'BlockStatement' && (parent['body'] as Node[]).length === 1
  return alone || typeof node['directive'] === 'string' ? [] : nothing(node, code, parent)
}

function switchCase(node: Node): Change[] {
  const body = node['consequent'] as Node[]
  const [first, last] = [body[0], body.at(-1)]
  return first && last ? [{ start: first.start, end: last.end, text: '' }] : []
}

export const mutators: Readonly<Record<string, Mutator>> = {
  BinaryExpression: operatorBetween,
  AssignmentExpression: operatorBetween,
  LogicalExpression: logical,
  UnaryExpression: unary,
  UpdateExpression: node => {
    const at = node['prefix'] === true ? node.start : node.end - 2
    return [{ start: at, end: at + 2, text: node['operator'] === '++' ? '--' : '++' }]
  },
  Literal: literal,
  TemplateLiteral: (node, _code, parent) =>
    node.end - node.start > 2 && parent.type !== 'TaggedTemplateExpression' ? instead(node, '``') : [],
  ArrayExpression: node => ((node['elements'] as unknown[]).length > 0 ? instead(node, '[]') : []),
  IfStatement: always,
  ConditionalExpression: always,
  WhileStatement: node => instead(child(node, 'test'), 'false'),
  CallExpression: (node, code) => [...call(node, code), ...chainLink(node, code, child(node, 'callee'))],
  MemberExpression: (node, code) => chainLink(node, code, child(node, 'object')),
  BlockStatement: node => ((node['body'] as Node[]).length > 0 ? instead(node, '{}') : []),
  ExpressionStatement: statement,
  ContinueStatement: statement,
  BreakStatement: statement,
  ThrowStatement: statement,
  ReturnStatement: (node, code, parent) => (node['argument'] === null ? statement(node, code, parent) : []),
  SwitchCase: switchCase
}
