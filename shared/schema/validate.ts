// Says what the API server would say to an object, from the same schema and the same CEL text. (One difference: the server lets a
// field stay wrong on an update that does not touch it.) Brings TypeBox's compiler and CEL along, which no kind does: a function that
// must start fast imports this when there is something to check.
import { evaluateRules } from './cel.ts'
import type { Crd } from './crd.ts'
import { applyDefaults } from './defaults.ts'
import { apiVersion } from './kind.ts'
import { isRecord, type OpenApi, openApiSchema } from './openapi.ts'
import { structureErrors } from './structure.ts'
import { typeErrors } from './type-errors.ts'
import type { Violation } from './violation.ts'

export type { Violation }

/** All that is wrong with an object. With `old`, it is judged as an update of that. */
export function validate(kind: Crd, object: unknown, old?: unknown): Violation[] {
  const addressed = checkAddress(kind, object)
  return addressed.length > 0 ? addressed : validateAgainst(openApiSchema(kind), object, old)
}

/** The same for any structural schema. */
export function validateAgainst(schema: OpenApi, object: unknown, old?: unknown): Violation[] {
  const full = applyDefaults(schema, onTheWire(object))
  const wrong = [...typeErrors(schema, full), ...structureErrors(schema, full, '')]
  if (wrong.length > 0) return wrong // rules rely on the types
  return evaluateRules(schema, full, old === undefined ? undefined : applyDefaults(schema, onTheWire(old)), '')
}

/** As JSON has it: absent instead of undefined, and a number for a 64-bit counter. */
const onTheWire = (object: unknown): unknown =>
  JSON.parse(JSON.stringify(object, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)))

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

function checkAddress(kind: Crd, object: unknown): Violation[] {
  if (!isRecord(object)) return [{ path: '', message: 'must be an object' }]
  const { name, generateName } = isRecord(object.metadata) ? object.metadata : {}
  const named =
    typeof name === 'string' ? name.length <= 253 && subdomain.test(name) : name === undefined && generateName !== undefined
  const wrong: Violation[] = []
  if (object.apiVersion !== apiVersion(kind)) wrong.push({ path: 'apiVersion', message: `must be ${apiVersion(kind)}` })
  if (object.kind !== kind.kind) wrong.push({ path: 'kind', message: `must be ${kind.kind}` })
  if (!named) wrong.push({ path: 'metadata.name', message: 'must be lower-case letters, digits, - and ., at most 253 of them' })
  return wrong
}
