// The shape of every rule, whatever its kind: one row says what it objects to, to whom it applies, and how to mend it. Pure.
import type { Violation } from '../schema/violation.ts'

export interface Rule<Asked> {
  /** The number of the specification: A5, W3, R2, HV-13. */
  readonly id: string
  /** `refused` always; `objected` is a warning, and a refusal where objections are enforced; `warned` never refuses. */
  readonly weight: 'refused' | 'objected' | 'warned'
  /** What it objects to. This and the next two make the table in functions/admission/README.md. */
  readonly what: string
  readonly example: string
  readonly fix: string
  check(asked: Asked): Violation[]
}

/** A breach, and whose. */
export interface Finding extends Violation {
  id: string
}

export interface Verdict {
  violations: Finding[]
  warnings: Finding[]
}

/** What all rules of a kind say, all at once. */
export function judge<Asked>(rules: readonly Rule<Asked>[], asked: Asked, enforce = false): Verdict {
  const verdict: Verdict = { violations: [], warnings: [] }
  for (const rule of rules) {
    const breaches = rule.check(asked)
    if (breaches.length === 0) continue
    const refuses = rule.weight === 'refused' || (rule.weight === 'objected' && enforce)
    const list = refuses ? verdict.violations : verdict.warnings
    for (const breach of breaches) list.push({ ...breach, id: rule.id })
  }
  return verdict
}

export const breach = (path: string, message: string): Violation => ({ path, message })

const most = 128 // as many as the schema allows in any list; whoever sends more is told enough

/** A breach for each entry with a problem. Where it stands is asked only then: finding that out takes longer than the check itself. */
export function breaches<T>(
  entries: readonly T[],
  problem: (entry: T, index: number) => string | undefined,
  path: (entry: T, index: number) => string
): Violation[] {
  const found: Violation[] = []
  let i = 0
  for (const entry of entries) {
    const message = problem(entry, i)
    if (message !== undefined) found.push(breach(path(entry, i), message))
    if (found.length === most) break
    i++
  }
  return found
}

/** In words, such as `spec.disks[0].size: must not shrink below 20Gi (A15)`. */
export const inWords = ({ path, message, id }: Finding): string => `${path === '' ? '' : `${path}: `}${message} (${id})`
