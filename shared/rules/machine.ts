// What may not be stored as a Machine, and what may but deserves a word (spec/machine.md §9). Pure; for admission, function and CLI alike.
import { isDeepStrictEqual } from 'node:util'
import { apiVersion } from '../schema/kind.ts'
import { Machine } from '../schema/machine.ts'
import { openApiSchema } from '../schema/openapi.ts'
import { typeErrors } from '../schema/type-errors.ts'
import { validate } from '../schema/validate.ts'
import type { Violation } from '../schema/violation.ts'
import type { MachineFacts } from './machine-facts.ts'
import { rules, type Checked } from './machine-rules.ts'
import { updateViolations } from './machine-update-rules.ts'
import { warnings } from './machine-warnings.ts'
import { merge } from './merge.ts'

export interface Judgement {
  violations: Violation[]
  warnings: string[]
}

const fine: Judgement = { violations: [], warnings: [] }

/** A18: whatever is on its way out, and whatever leaves the spec as it was, is nobody's business. */
const needsNoJudgement = ({ metadata, spec }: Machine, old: Machine | undefined): boolean =>
  metadata.deletionTimestamp !== undefined || (old !== undefined && isDeepStrictEqual(spec, old.spec))

/** With `old` it is judged as an update of that. All breaches at once, each with its path. */
export function checkMachine(machine: Machine, old: Machine | undefined, facts: MachineFacts): Judgement {
  if (needsNoJudgement(machine, old)) return fine
  const object = { apiVersion: apiVersion(Machine), kind: Machine.kind, ...machine }
  const bySchema = validate(Machine, object, old)
  if (typeErrors(openApiSchema(Machine), object).length > 0) return { violations: bySchema, warnings: [] } // the rest relies on the types
  const checked: Checked = { machine, merged: merge(machine.spec), facts }
  const byRule = Object.values(rules).flatMap(list => list.flatMap(rule => rule(checked)))
  const byUpdate = old ? updateViolations(machine, old) : []
  return {
    violations: onePerPath([...bySchema, ...byRule, ...byUpdate]),
    warnings: Object.values(warnings).flatMap(warning => warning(checked, old))
  }
}

/** Schema and rules may both object to one field: the first to say so is enough. */
const onePerPath = (found: Violation[]): Violation[] => [...new Map(found.toReversed().map(violation => [violation.path, violation])).values()].toReversed()
