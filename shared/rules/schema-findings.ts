// What the schema itself refuses, without CEL: the rules of a kind repeat those, and rely on the types (design §2.6).
import type { Crd } from '../schema/crd.ts'
import { apiVersion } from '../schema/kind.ts'
import { openApiSchema } from '../schema/openapi.ts'
import { structureErrors } from '../schema/structure.ts'
import { typeErrors } from '../schema/type-errors.ts'
import type { Finding } from './rule.ts'

/** `idOf` names the rule that a path belongs to; the schema is its own rule where there is none. */
export function schemaFindings(
  kind: Crd,
  object: unknown,
  idOf: (path: string) => string | undefined = () => undefined
): Finding[] {
  const schema = openApiSchema(kind)
  const whole =
    typeof object === 'object' && object !== null ? { apiVersion: apiVersion(kind), kind: kind.kind, ...object } : object
  const wrong = typeErrors(schema, whole)
  const found = wrong.length > 0 ? wrong : structureErrors(schema, whole, '')
  return found.map(violation => Object.assign(violation, { id: idOf(violation.path) ?? 'schema' }))
}
