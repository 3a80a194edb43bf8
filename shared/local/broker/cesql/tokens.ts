// Words of CESQL 1.0 (§2). Keywords are case-insensitive; a name may begin with a digit.
import { createToken, Lexer, type TokenType } from 'chevrotain'

/** Categories: the grammar takes any of their tokens. */
export const Logic = createToken({ name: 'Logic', pattern: Lexer.NA })
export const Truth = createToken({ name: 'Truth', pattern: Lexer.NA })
export const Name = createToken({ name: 'Name', pattern: Lexer.NA })
export const Additive = createToken({ name: 'Additive', pattern: Lexer.NA })

export const Identifier = createToken({ name: 'Identifier', pattern: /[a-z0-9]+/i, categories: Name })

/** A name with an underscore can only be a function's. */
const FunctionName = createToken({ name: 'FunctionName', pattern: /[a-z]+_[a-z_]*/i, categories: Name })
export const IntegerLiteral = createToken({ name: 'Integer', pattern: /\d+/, longer_alt: Identifier })
export const StringLiteral = createToken({ name: 'String', pattern: /'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*"/ })

const keyword = (name: string, categories: TokenType[] = []): TokenType =>
  createToken({ name, pattern: new RegExp(name, 'i'), longer_alt: [FunctionName, Identifier], categories })

const And = keyword('AND', [Logic])
const Or = keyword('OR', [Logic])
const Xor = keyword('XOR', [Logic])
export const Not = keyword('NOT')
export const Like = keyword('LIKE')
export const Exists = keyword('EXISTS')
export const In = keyword('IN')
const True = keyword('TRUE', [Truth])
const False = keyword('FALSE', [Truth])

export const Comparison = createToken({ name: 'Comparison', pattern: /<>|<=|>=|!=|[=<>]/ })
export const Multiplicative = createToken({ name: 'Multiplicative', pattern: /[*/%]/ })
export const Plus = createToken({ name: 'Plus', pattern: '+', categories: Additive })
export const Minus = createToken({ name: 'Minus', pattern: '-', categories: Additive })
export const Open = createToken({ name: 'Open', pattern: '(' })
export const Close = createToken({ name: 'Close', pattern: ')' })
export const Comma = createToken({ name: 'Comma', pattern: ',' })
const Space = createToken({ name: 'Space', pattern: /[ \t\r\n]+/, group: Lexer.SKIPPED })

/** The order decides between tokens that could begin at the same place. */
export const tokens = [Logic, Truth, Name, Additive].concat(
  [Space, StringLiteral, And, Or, Xor, Not, Like, Exists, In, True, False],
  [IntegerLiteral, FunctionName, Identifier],
  [Comparison, Multiplicative, Plus, Minus, Open, Close, Comma]
)
