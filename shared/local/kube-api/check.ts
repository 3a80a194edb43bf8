// Everything that can be wrong with an object that is about to be stored.
import { evaluateRules } from '../../schema/cel.ts'
import type { OpenApi } from '../../schema/openapi.ts'
import { builtinChecks } from './builtin-check.ts'
import { invalidRule } from './causes.ts'
import { validateMetadata, validateMetadataUpdate } from './metadata.ts'
import { isFields, omit, same, type KubeObject } from './object.ts'
import type { Resource } from './resource.ts'
import type { Schema } from './schema.ts'
import { invalid, type Cause } from './status.ts'
import { validate } from './validate.ts'

/** `known`: the live object, if it was judged by the same schema. What is the very same in it need not be judged again. */
export function check(resource: Resource, object: KubeObject, live?: KubeObject, known?: KubeObject): void {
  const causes = validateMetadata(resource, object.metadata)
  if (live) {
    const changes = validateMetadataUpdate(object.metadata, live.metadata)
    causes.push(...changes, ...(resource.custom ? changes : [])) // a custom resource's strategy asks twice, and answers twice
  }
  if (!resource.custom) causes.push(...(builtinChecks[resource.kind]?.(object, live) ?? []))
  if (resource.custom) causes.push(...checkCustom(resource, object, live, known, causes))
  if (causes.length > 0) throw invalid(resource.kind, resource.group, object.metadata.name, causes)
}

const blocking = new Set([
  'FieldValueRequired',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
  'FieldValueTooLong',
  'FieldValueTooMany'
])
const unchecked: Cause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  field: '<nil>'
}

function checkCustom(
  resource: Resource,
  object: KubeObject,
  live: KubeObject | undefined,
  known: KubeObject | undefined,
  before: Cause[]
): Cause[] {
  const causes = ratchet(validate(withoutServerFields(object), resource.schema, '', known), object, live)
  if (!hasRules(resource.schema)) return causes
  if ([...before, ...causes].some(cause => blocking.has(cause.reason))) return [...causes, unchecked]
  const rules = evaluateRules(resource.schema as OpenApi, object, live, '', true, known !== undefined)
  return [
    ...causes,
    ...ratchet(
      rules.map(rule => invalidRule(rule.path, valueAt(object, rule.path), rule.message)),
      object,
      live
    )
  ]
}

// managedFields is the server's own and by far the largest part: not looked at.
const withoutServerFields = (object: KubeObject): unknown => ({ ...object, metadata: omit(object.metadata, 'managedFields') })

/** What was wrong already, and was not touched, is no reason to refuse an update. */
function ratchet(causes: Cause[], object: KubeObject, live: KubeObject | undefined): Cause[] {
  if (!live) return causes
  return causes.filter(({ field, reason }) => {
    const path = reason === 'FieldValueRequired' ? field.replace(/\.?[^.[\]]+$/, '') : field
    return path === '<nil>' || !same(valueAt(object, path), valueAt(live, path))
  })
}

function valueAt(object: unknown, path: string): unknown {
  let here = object
  for (const [, key, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (index !== undefined) here = Array.isArray(here) ? here[Number(index)] : undefined
    else here = isFields(here) && key !== undefined ? here[key] : undefined
  }
  return here
}

const known = new WeakMap<Schema, boolean>()
function hasRules(schema: Schema): boolean {
  const answer = known.get(schema)
  if (answer !== undefined) return answer
  const found = schema['x-kubernetes-validations'] !== undefined || below(schema).some(hasRules)
  known.set(schema, found)
  return found
}

function below({ properties = {}, additionalProperties: more, items }: Schema): Schema[] {
  return [...Object.values(properties), ...(isFields(more) ? [more as Schema] : []), ...(items ? [items] : [])]
}
