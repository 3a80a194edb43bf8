// What may not be stored as a Machine, and what may but deserves a word (spec/machine.md §9). Pure; for admission, function and CLI alike.
// The schema's CEL rules are said again here in TypeScript: a check takes microseconds, and holds where the CRD is an older one.
import { isDeepStrictEqual } from 'node:util'
import { apiVersion } from '../schema/kind.ts'
import { Machine } from '../schema/machine.ts'
import { openApiSchema } from '../schema/openapi.ts'
import { typeErrors } from '../schema/type-errors.ts'
import type { Violation } from '../schema/violation.ts'
import { firmware, foreignSources, machineType, macAddresses, onePodNetwork, sources } from './machine-device-rules.ts'
import type { MachineAsked, MachineFacts } from './machine-facts.ts'
import { bootClasses, cloudInit, cpu, duplicates, names, quantities, readOnlyDisks, templates } from './machine-rules.ts'
import { fixedDisks, removedDisks } from './machine-update-rules.ts'
import { machineWarnings } from './machine-warnings.ts'
import { merge } from './merge.ts'
import { judge, type Finding, type Rule, type Verdict } from './rule.ts'
import { hasShape } from './shape.ts'

/** A1–A16 and W1–W9, in the order of the specification. */
export const machineRules: ReadonlyArray<Rule<MachineAsked>> = [
  templates,
  names,
  duplicates,
  quantities,
  cpu,
  readOnlyDisks,
  bootClasses,
  cloudInit,
  firmware,
  machineType,
  macAddresses,
  onePodNetwork,
  sources,
  foreignSources,
  fixedDisks,
  removedDisks,
  ...machineWarnings
]

/** A18: whatever is on its way out, and whatever leaves the spec as it was, is nobody's business. */
const needsNoJudgement = ({ metadata, spec }: Machine, old: Machine | undefined): boolean =>
  metadata.deletionTimestamp !== undefined || (old !== undefined && isDeepStrictEqual(spec, old.spec))

/** With `old` it is judged as an update of that. All breaches at once, each with its path. */
export function checkMachine(machine: Machine, old: Machine | undefined, facts: MachineFacts): Verdict {
  if (needsNoJudgement(machine, old)) return { violations: [], warnings: [] }
  const { metadata, spec } = machine
  const object = { apiVersion: apiVersion(Machine), kind: Machine.kind, metadata, spec }
  const wrong = typeErrors(openApiSchema(Machine), object)
  if (wrong.length > 0 && !hasShape(Machine, object)) return { violations: wrong.map(numbered), warnings: [] }
  const { violations, warnings } = judge(machineRules, { machine, merged: merge(spec), facts, old })
  return { violations: onePerPath([...wrong.map(numbered), ...violations]), warnings }
}

/** The schema knows no numbers of rules; most of what it says is A4. */
function numbered(violation: Violation): Finding {
  const { path } = violation
  const id = path.endsWith('.macAddress') ? 'A11' : path.endsWith('.name') ? 'A2' : path.includes('.source') ? 'A13' : 'A4'
  return { ...violation, id }
}

/** Schema and rules may both object to one field: who says what to do about it is enough. */
function onePerPath(found: Finding[]): Finding[] {
  if (found.length < 2) return found
  const byPath = new Map(found.map(finding => [finding.path, finding]))
  return [...byPath.values()]
}
