// Types, required fields, enums, patterns and ranges, by TypeBox's compiler; its findings in words.
import { Compile, type Validator } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { Settings } from 'typebox/system'
import type { OpenApi } from './openapi.ts'
import { at, type Violation } from './violation.ts'

Settings.Set({ maxErrors: 100 }) // instead of 8: all that is wrong is told at once

const compiled = new WeakMap<OpenApi, Validator>()

function validatorOf(schema: OpenApi): Validator {
  const known = compiled.get(schema)
  if (known) return known
  const made = Compile(toJsonSchema(schema))
  compiled.set(schema, made)
  return made
}

export function typeErrors(schema: OpenApi, value: unknown): Violation[] {
  const validator = validatorOf(schema)
  return validator.Check(value) ? [] : validator.Errors(value).flatMap(inWords)
}

/** The same in one word: finding the words takes a hundred times as long. */
export const hasTypes = (schema: OpenApi, value: unknown): boolean => validatorOf(schema).Check(value)

/** OpenAPI's `nullable` is a second type in JSON Schema. */
const toJsonSchema = (schema: OpenApi): object =>
  JSON.parse(JSON.stringify(schema), (_, node: OpenApi | null) =>
    node?.nullable === true ? { ...node, type: [node.type, 'null'] } : node
  )

function inWords(error: TLocalizedValidationError): Violation[] {
  if (error.schemaPath.includes('/anyOf/')) return [] // the union itself is told
  const path = toPath(error.instancePath)
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map(name => ({ path: at(path, name), message: 'is required' }))
  }
  // Told again by the entry that is wrong.
  if (error.keyword === 'additionalProperties') return []
  return [{ path, message: message(error) }]
}

function message(error: TLocalizedValidationError): string {
  if (error.keyword === 'enum')
    return `must be one of ${error.params.allowedValues.map(value => JSON.stringify(value)).join(', ')}`
  if (error.keyword === 'anyOf') return 'must be an integer or a text'
  if (error.keyword === 'format') return `must be a ${error.params.format}`
  return error.message
}

/** `/spec/disks/0/name` → `spec.disks[0].name` */
const toPath = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, step) => at(path, /^\d+$/.test(step) ? Number(step) : step), '')
