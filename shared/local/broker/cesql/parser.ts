// CESQL text to a tree. Precedence is that of the SDK which Knative's broker uses: unary, then LIKE and IN, * / %, + -, comparison,
// and last AND, OR, XOR, which bind alike and group to the right.
import { EmbeddedActionsParser, Lexer } from 'chevrotain'
import * as t from './tokens.ts'

export type Node =
  | { is: 'literal'; value: string | number | boolean }
  | { is: 'attribute'; name: string }
  | { is: 'exists'; name: string }
  | { is: 'not' | 'negate'; operand: Node }
  | { is: 'like'; operand: Node; pattern: string }
  | { is: 'in'; operand: Node; set: Node[] }
  | { is: 'logic' | 'compare' | 'math'; operator: string; left: Node; right: Node }
  | { is: 'call'; name: string; args: Node[] }

const INT_MAX = 2_147_483_647

/** The expression cannot be read. */
export class CesqlSyntaxError extends Error {
  override name = 'CesqlSyntaxError'
}

class CesqlParser extends EmbeddedActionsParser {
  constructor() {
    super(t.tokens)
    this.performSelfAnalysis()
  }

  readonly expression = this.RULE('expression', (): Node => {
    const left = this.SUBRULE(this.comparison)
    let node = left
    this.OPTION(() => {
      const operator = this.CONSUME(t.Logic).image.toUpperCase()
      node = { is: 'logic', operator, left, right: this.SUBRULE(this.expression) }
    })
    return node
  })

  private readonly comparison = this.RULE('comparison', (): Node => {
    let node = this.SUBRULE(this.sum)
    this.MANY(() => {
      const operator = this.CONSUME(t.Comparison).image
      node = { is: 'compare', operator, left: node, right: this.SUBRULE2(this.sum) }
    })
    return node
  })

  private readonly sum = this.RULE('sum', (): Node => {
    let node = this.SUBRULE(this.product)
    this.MANY(() => {
      const operator = this.CONSUME(t.Additive).image
      node = { is: 'math', operator, left: node, right: this.SUBRULE2(this.product) }
    })
    return node
  })

  private readonly product = this.RULE('product', (): Node => {
    let node = this.SUBRULE(this.test)
    this.MANY(() => {
      const operator = this.CONSUME(t.Multiplicative).image
      node = { is: 'math', operator, left: node, right: this.SUBRULE2(this.test) }
    })
    return node
  })

  private readonly test = this.RULE('test', (): Node => {
    let node = this.SUBRULE(this.unary)
    this.MANY(() => {
      const negated = this.OPTION(() => this.CONSUME(t.Not)) !== undefined
      const found = this.OR([
        {
          ALT: (): Node => (
            this.CONSUME(t.Like),
            { is: 'like', operand: node, pattern: unquote(this.CONSUME(t.StringLiteral).image) }
          )
        },
        { ALT: (): Node => (this.CONSUME(t.In), { is: 'in', operand: node, set: this.SUBRULE(this.list) }) }
      ])
      node = negated ? { is: 'not', operand: found } : found
    })
    return node
  })

  private readonly unary = this.RULE('unary', (): Node =>
    this.OR([
      { ALT: (): Node => (this.CONSUME(t.Not), { is: 'not', operand: this.SUBRULE(this.unary) }) },
      { ALT: (): Node => (this.CONSUME(t.Minus), negate(this.SUBRULE2(this.unary))) },
      { ALT: (): Node => (this.CONSUME(t.Plus), integer(this.CONSUME(t.IntegerLiteral).image)) },
      { ALT: (): Node => this.SUBRULE(this.atom) }
    ])
  )

  private readonly atom = this.RULE('atom', (): Node =>
    this.OR([
      { ALT: (): Node => (this.CONSUME(t.Exists), { is: 'exists', name: this.CONSUME(t.Identifier).image.toLowerCase() }) },
      { ALT: (): Node => ({ is: 'literal', value: this.CONSUME(t.Truth).image.toLowerCase() === 'true' }) },
      { ALT: (): Node => ({ is: 'literal', value: unquote(this.CONSUME(t.StringLiteral).image) }) },
      { ALT: (): Node => integer(this.CONSUME(t.IntegerLiteral).image) },
      { ALT: (): Node => this.SUBRULE(this.nested) },
      { ALT: (): Node => this.SUBRULE(this.named) }
    ])
  )

  private readonly nested = this.RULE('nested', (): Node => {
    this.CONSUME(t.Open)
    const node = this.SUBRULE(this.expression)
    this.CONSUME(t.Close)
    return node
  })

  /** A name is an attribute, or a function when arguments follow. */
  private readonly named = this.RULE('named', (): Node => {
    const name = this.CONSUME(t.Name).image
    const args = this.OPTION(() => this.SUBRULE(this.args))
    return args ? { is: 'call', name: name.toUpperCase(), args } : { is: 'attribute', name: name.toLowerCase() }
  })

  private readonly args = this.RULE('args', (): Node[] => {
    const nodes: Node[] = []
    this.CONSUME(t.Open)
    this.MANY_SEP({ SEP: t.Comma, DEF: () => nodes.push(this.SUBRULE(this.expression)) })
    this.CONSUME(t.Close)
    return nodes
  })

  private readonly list = this.RULE('list', (): Node[] => {
    const nodes: Node[] = []
    this.CONSUME(t.Open)
    this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => nodes.push(this.SUBRULE(this.expression)) })
    this.CONSUME(t.Close)
    return nodes
  })
}

const integer = (image: string): Node => ({ is: 'literal', value: Number(image) })

/** -2147483648 is a literal although 2147483648 is none. */
const negate = (operand: Node): Node =>
  operand.is === 'literal' && typeof operand.value === 'number' && operand.value > 0
    ? { is: 'literal', value: -operand.value }
    : { is: 'negate', operand }

/** Only the delimiter is escaped in a string; `\%` and `\_` are left for LIKE. */
const unquote = (image: string): string => image.slice(1, -1).replaceAll(`\\${image[0]}`, image[0]!)

const lexer = new Lexer(t.tokens)
const parser = new CesqlParser()

export function parseCesql(text: string): Node {
  const { tokens, errors } = lexer.tokenize(text)
  if (errors[0]) throw syntaxError(text, `unexpected character at ${errors[0].offset}`)
  parser.input = tokens
  const node = parser.expression()
  const error = parser.errors[0]
  if (error) throw syntaxError(text, error.token.image ? `unexpected ${error.token.image}` : 'it ends too early')
  const problem = findProblem(node)
  if (problem) throw syntaxError(text, problem)
  return node
}

const syntaxError = (text: string, problem: string): CesqlSyntaxError =>
  new CesqlSyntaxError(`invalid CESQL "${text}": ${problem}`)

/** What the grammar lets through. */
function findProblem(node: Node): string | undefined {
  if (node.is === 'literal' && typeof node.value === 'number' && (node.value > INT_MAX || node.value < -INT_MAX - 1)) {
    return `${node.value} is not a 32 bit integer`
  }
  if (node.is === 'attribute' && node.name.includes('_')) return `${node.name} is not the name of an attribute`
  for (const part of partsOf(node)) {
    const problem = findProblem(part)
    if (problem) return problem
  }
  return undefined
}

function partsOf(node: Node): Node[] {
  if ('left' in node) return [node.left, node.right]
  if (node.is === 'in') return [node.operand, ...node.set]
  if (node.is === 'call') return node.args
  return 'operand' in node ? [node.operand] : []
}
