// CloudEvents SQL 1.0 as a filter. No maintained package for it exists on npm; the parser is chevrotain's, the meaning ours.
import { CesqlError } from './cast.ts'
import { evaluate, type Attributes } from './evaluate.ts'
import { parseCesql } from './parser.ts'

export { CesqlSyntaxError } from './parser.ts'

/** Throws CesqlSyntaxError. An expression that fails on an event, or says no boolean, does not match it. */
export function compileCesql(text: string): (event: Attributes) => boolean {
  const node = parseCesql(text)
  return event => {
    try {
      return evaluate(node, event) === true
    } catch (err) {
      if (err instanceof CesqlError) return false
      throw err
    }
  }
}
