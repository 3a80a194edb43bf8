// Structural validation with the API server's words. CEL rules come after it and elsewhere.
import { duplicate, invalidValue, required, tooLong, tooMany, unsupported, wrongType } from './causes.ts'
import { isFields, same, type Fields } from './object.ts'
import { goRegExp } from './re2.ts'
import { childIn, declared, freeKeys, itemKey, joinField, listType, type Schema } from './schema.ts'
import type { Cause } from './status.ts'

/** What is the very same in `known` was found good before. */
export function validate(value: unknown, schema: Schema, path = '', known?: unknown): Cause[] {
  if (value === null && schema.nullable === true) return []
  if (typeof value === 'object' && value === known) return []
  const found = typeOf(value)
  const causes = [...checkType(found, schema, path), ...checkCombinations(value, schema, path)]
  if (typeof value === 'string') causes.push(...checkString(value, schema, path))
  else if (typeof value === 'number') causes.push(...checkNumber(value, schema, path))
  else if (Array.isArray(value)) causes.push(...checkList(value, schema, path, known))
  else if (isFields(value)) causes.push(...checkMap(value, schema, path, known))
  if (schema.enum && !schema.enum.some(allowed => same(allowed, value))) causes.push(unsupported(path, value, schema.enum))
  return causes
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function checkType(found: string, schema: Schema, path: string): Cause[] {
  const wanted = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type ? [schema.type] : []
  if (wanted.length === 0 || wanted.includes(found) || (found === 'integer' && wanted.includes('number'))) return []
  const field = path || '<nil>'
  return [wrongType(field, found, `${path || 'object'} in body must be of type ${wanted.join(',')}: "${found}"`)]
}

const formats: Record<string, RegExp> = {
  'date-time': /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/
}

// The first breach is told, the others are not looked for.
function checkString(value: string, schema: Schema, path: string): Cause[] {
  const { minLength = 0, maxLength = Infinity, pattern, format = '' } = schema
  const length = Array.from(value).length // in characters, as the API server counts
  if (length > maxLength) return [tooLong(path, maxLength)]
  if (length < minLength) return [invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`)]
  if (pattern !== undefined && !regExp(pattern).test(value))
    return [invalidValue(path, value, `${path} in body should match '${pattern}'`)]
  if (formats[format]?.test(value) === false)
    return [wrongType(path, value, `${path} in body must be of type ${format}: "${value}"`)]
  return []
}

const compiled = new Map<string, RegExp>()
function regExp(pattern: string): RegExp {
  const known = compiled.get(pattern) ?? goRegExp(pattern)
  compiled.set(pattern, known)
  return known
}

function checkNumber(value: number, schema: Schema, path: string): Cause[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const causes: Cause[] = []
  const complain = (why: string): void => void causes.push(invalidValue(path, value, `${path} in body should be ${why}`))
  if (schema.type === 'integer' && schema.format === 'int32' && Math.abs(value) > 2 ** 31)
    causes.push(invalidValue('<nil>', '', `Checked value must be of type integer with format int32 in ${path}`))
  if (schema.type === 'integer' && !Number.isInteger(value))
    causes.push(invalidValue('<nil>', '', `Checked value must be of type integer (default format) in ${path}`))
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) complain(`a multiple of ${multipleOf}`)
  if (maximum !== undefined && exclusiveMaximum && value >= maximum) complain(`less than ${maximum}`)
  if (maximum !== undefined && !exclusiveMaximum && value > maximum) complain(`less than or equal to ${maximum}`)
  if (minimum !== undefined && exclusiveMinimum && value <= minimum) complain(`greater than ${minimum}`)
  if (minimum !== undefined && !exclusiveMinimum && value < minimum) complain(`greater than or equal to ${minimum}`)
  return causes
}

function checkList(list: unknown[], schema: Schema, path: string, known: unknown): Cause[] {
  const { items, minItems, maxItems } = schema
  const causes: Cause[] = []
  if (minItems !== undefined && list.length < minItems)
    causes.push(invalidValue(path, list.length, `${path} in body should have at least ${minItems} items`))
  if (maxItems !== undefined && list.length > maxItems) causes.push(tooMany(path, list.length, maxItems))
  if (items) list.forEach((item, i) => causes.push(...validate(item, items, `${path}[${i}]`, childIn(known, i))))
  return [...causes, ...checkDuplicates(list, schema, path)]
}

function checkDuplicates(list: unknown[], schema: Schema, path: string): Cause[] {
  const kind = listType(schema)
  if (kind === 'atomic') return []
  const seen = new Set<string>()
  const causes: Cause[] = []
  list.forEach((item, i) => {
    const key = kind === 'map' ? itemKey(schema, isFields(item) ? item : {}) : item
    const text = JSON.stringify(key)
    if (seen.has(text)) causes.push(duplicate(`${path}[${i}]`, key))
    seen.add(text)
  })
  return causes
}

function checkMap(map: Fields, schema: Schema, path: string, known: unknown): Cause[] {
  const { required: wanted = [], minProperties, maxProperties } = schema
  const size = Object.keys(map).length
  const causes: Cause[] = []
  if (minProperties !== undefined && size < minProperties)
    causes.push(invalidValue(path, size, `${path} in body should have at least ${minProperties} properties`))
  if (maxProperties !== undefined && size > maxProperties) causes.push(tooMany(path, size, maxProperties))
  for (const key of wanted) if (map[key] === undefined) causes.push(required(joinField(path, key)))
  for (const key of Object.keys(map)) {
    const child = declared(schema, key) ?? freeKeys(schema)
    if (child) causes.push(...validate(map[key], child, joinField(path, key), childIn(known, key)))
  }
  return causes
}

function checkCombinations(value: unknown, schema: Schema, path: string): Cause[] {
  const { allOf = [], anyOf, oneOf, not } = schema
  const causes = allOf.flatMap(each => validate(value, each, path))
  const say = (why: string): Cause => invalidValue('<nil>', '', `"${path}" must ${why}`)
  // int-or-string carries an anyOf of the two types by convention; the type check above has said it already.
  if (anyOf && !schema['x-kubernetes-int-or-string']) {
    const results = anyOf.map(each => validate(value, each, path))
    if (results.every(failed => failed.length > 0))
      causes.push(say('validate at least one schema (anyOf)'), ...(results[0] ?? []))
  }
  if (oneOf) {
    const results = oneOf.map(each => validate(value, each, path))
    const valid = results.filter(failed => failed.length === 0).length
    const rule = 'validate one and only one schema (oneOf).'
    if (valid === 0) causes.push(say(`${rule} Found none valid`), ...(results[0] ?? []))
    if (valid > 1) causes.push(say(`${rule} Found ${valid} valid alternatives`))
  }
  if (not && validate(value, not, path).length === 0) causes.push(say('not validate the schema (not)'))
  return causes
}
