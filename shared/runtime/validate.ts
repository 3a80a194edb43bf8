import type { TSchema } from 'typebox'
// The same compiler as typebox/compile, without the codecs and defaults that come along there: a third of the code to load.
import { Compile, type Validator } from 'typebox/schema'

const compiled = new WeakMap<TSchema, Validator>()

function validator(schema: TSchema): Validator {
  let found = compiled.get(schema)
  if (found === undefined) {
    found = Compile(schema)
    compiled.set(schema, found)
  }
  return found
}

/** What is wrong with the data, by place; never the data itself. */
export function problemIn(schema: TSchema, data: unknown): string | undefined {
  const check = validator(schema)
  if (check.Check(data)) return undefined
  const [, problems] = check.Errors(data)
  return problems
    .slice(0, 3)
    .map(({ instancePath, message }) => `data${instancePath} ${message}`)
    .join('; ')
}
