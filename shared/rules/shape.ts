// Types alone: what rules rely on. A value out of its range, or a word that a newer CRD knows and we do not, can be judged all the same.
import type { Crd } from '../schema/crd.ts'
import { openApiSchema, type OpenApi } from '../schema/openapi.ts'
import { hasTypes } from '../schema/type-errors.ts'

const limits = new Set(['pattern', 'enum', 'format', 'minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems'])
const shapes = new WeakMap<Crd, OpenApi>()

function shapeOf(kind: Crd): OpenApi {
  const known = shapes.get(kind)
  if (known) return known
  const shape = JSON.parse(JSON.stringify(openApiSchema(kind)), function (this: unknown, key, value: unknown) {
    return limits.has(key) && !Array.isArray(this) ? undefined : value
  }) as OpenApi
  shapes.set(kind, shape)
  return shape
}

export const hasShape = (kind: Crd, object: unknown): boolean => hasTypes(shapeOf(kind), object)
