// Rules of our own for oxlint: assertions of tap that would pass although the product is wrong.
interface Node {
  type: string
  [key: string]: unknown
}

interface Context {
  report: (problem: { node: Node; message: string }) => void
}

const strictFor = new Map([
  ['same', 'strictSame'],
  ['notSame', 'strictNotSame']
])

// The assertion of a call `t.assertion(…)`: the test is called t everywhere.
const assertionOf = ({ callee }: Node): unknown => {
  const { type, object, property } = callee as Node
  return type === 'MemberExpression' && (object as Node)['name'] === 't' ? (property as Node)['name'] : undefined
}

// Arrays and objects that are written out in a pattern, at any depth. What a call or a variable brings cannot be seen here.
function* containers(node: Node): Generator<Node> {
  const { type } = node
  if (type === 'ArrayExpression' || type === 'ObjectExpression') yield node
  const within = type === 'ArrayExpression' ? node['elements'] : type === 'ObjectExpression' ? node['properties'] : []
  for (const inner of within as Array<Node | null>) {
    if (inner?.type === 'Property') yield* containers(inner['value'] as Node)
    else if (inner) yield* containers(inner)
  }
  if (type === 'ConditionalExpression') for (const branch of ['consequent', 'alternate']) yield* containers(node[branch] as Node)
}

const isEmpty = (node: Node) => ((node['elements'] ?? node['properties']) as unknown[]).length === 0

const inPatterns = (wrong: (node: Node) => boolean, message: string) => ({
  create: ({ report }: Context) => ({
    CallExpression(call: Node) {
      const [, pattern] = call['arguments'] as Node[]
      if (assertionOf(call) !== 'match' || pattern === undefined) return
      for (const node of containers(pattern)) if (wrong(node)) report({ node, message })
    }
  })
})

export default {
  meta: { name: 'assertions' },
  rules: {
    'no-loose-equality': {
      create: ({ report }: Context) => ({
        CallExpression(call: Node) {
          const strict = strictFor.get(String(assertionOf(call)))
          if (strict) report({ node: call, message: `takes 1, '1' and true for equal: use ${strict}` })
        }
      })
    },
    'no-empty-pattern': inPatterns(isEmpty, 'match takes [] and {} for anything: use matchWhole (test/assert) or strictSame'),
    'no-array-pattern': inPatterns(
      node => node.type === 'ArrayExpression' && !isEmpty(node),
      'match takes an array for a prefix: use matchWhole (test/assert), strictSame, or match one element'
    )
  }
}
