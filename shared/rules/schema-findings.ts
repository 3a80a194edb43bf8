// What the schema itself refuses, without CEL: the rules of a kind repeat those, and rely on the types (design §2.6). Fields that are
// unknown here are the API server's business: its CRD may be a newer one. So are the words of a status: what a newer function wrote there
// must not hold up whoever changes the spec.
import type { Crd } from '../schema/crd.ts'
import { apiVersion } from '../schema/kind.ts'
import { openApiSchema } from '../schema/openapi.ts'
import { typeErrors } from '../schema/type-errors.ts'
import type { Finding } from './rule.ts'
import { hasShape } from './shape.ts'

/** `idOf` names the rule that a path belongs to; the schema is its own rule where there is none. */
export function schemaFindings(
  kind: Crd,
  object: { status?: unknown },
  idOf: (path: string) => string | undefined = () => undefined
): Finding[] {
  const whole = { apiVersion: apiVersion(kind), kind: kind.kind, ...object }
  const { status: _status, ...judged } = whole
  const wrong = typeErrors(openApiSchema(kind), hasShape(kind, whole) ? judged : whole)
  return wrong.map(violation => Object.assign(violation, { id: idOf(violation.path) ?? 'schema' }))
}
