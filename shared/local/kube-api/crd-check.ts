// What is wrong with a CustomResourceDefinition: names that are missing, patterns and rules that the real server could not read.
import { environment } from '../../schema/cel-library.ts'
import { invalidValue, required } from './causes.ts'
import { at, fieldsOf, isFields, listOf, text, type KubeObject } from './object.ts'
import { re2Error } from './re2.ts'
import type { Cause } from './status.ts'

export function validateCrd(crd: KubeObject): Cause[] {
  const spec = fieldsOf(crd.spec)
  const causes: Cause[] = []
  if (!text(spec.group)) causes.push(required('spec.group'))
  const versions = listOf(spec.versions)
  if (versions.length === 0) causes.push(required('spec.versions'))
  for (const key of ['plural', 'kind']) if (!text(at(spec, 'names', key))) causes.push(required(`spec.names.${key}`))
  versions.forEach((version, i) => {
    // What all versions have in common is kept once, and told so.
    const place = versions.length === 1 ? 'spec.validation' : `spec.versions[${i}].schema`
    causes.push(...schemaCauses(`${place}.openAPIV3Schema`, at(version, 'schema', 'openAPIV3Schema')))
  })
  return causes
}

/** A schema that is the very same in the stored definition was read before. */
const read = new WeakMap<object, Cause[]>()

function schemaCauses(field: string, schema: unknown): Cause[] {
  if (!isFields(schema)) return []
  const known = read.get(schema)
  if (known) return known
  const { pattern, properties, items, additionalProperties, 'x-kubernetes-validations': rules } = schema
  const causes = [
    ...(typeof pattern === 'string' ? patternCauses(`${field}.pattern`, pattern) : []),
    ...listOf(rules).flatMap((rule, i) => ruleCauses(`${field}.x-kubernetes-validations[${i}].rule`, text(at(rule, 'rule')))),
    ...Object.entries(fieldsOf(properties)).flatMap(([name, child]) => schemaCauses(`${field}.properties[${name}]`, child)),
    ...schemaCauses(`${field}.items`, items),
    ...schemaCauses(`${field}.additionalProperties`, additionalProperties)
  ]
  read.set(schema, causes)
  return causes
}

function patternCauses(field: string, pattern: string): Cause[] {
  const why = re2Error(pattern)
  return why === undefined ? [] : [invalidValue(field, pattern, `must be a valid regular expression, but isn't: ${why}`)]
}

const library = environment()

function ruleCauses(field: string, rule: string): Cause[] {
  if (rule.trim() === '') return [required(field, 'rule is not specified')]
  try {
    const why = badMatch(library.parse(rule).ast)
    return why === undefined
      ? []
      : [invalidValue(field, rule, `compilation failed: ERROR: <input>:1:1: invalid matches argument: ${why}`)]
  } catch (err) {
    const [said = ''] = (err as Error).message.split('\n')
    return [invalidValue(field, rule, `compilation failed: ERROR: <input>:1:1: ${said}`)]
  }
}

/** The first pattern in a rule that RE2 does not take. */
function badMatch(ast: unknown): string | undefined {
  if (Array.isArray(ast)) {
    for (const each of ast) {
      const why = badMatch(each)
      if (why !== undefined) return why
    }
    return undefined
  }
  const { op, args } = fieldsOf(ast)
  if (op === 'rcall' && at({ name: listOf(args)[0] }, 'name') === 'matches') {
    const pattern = at(listOf(listOf(args)[2])[0], 'args')
    if (typeof pattern === 'string') return re2Error(pattern)
  }
  return Array.isArray(args) || isFields(args) ? badMatch(args) : undefined
}
