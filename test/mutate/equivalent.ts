// Mutants that no test can kill, because the mutated code does the same. Found by what stands there, not by the number of the line.
import type { Mutant } from './mutants.ts'

export interface Equivalent {
  file: string
  /** The line in which the change begins, trimmed. */
  line: string
  from: string
  to: string
  /** Why nothing can differ. */
  reason: string
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'functions/ha/requests.ts',
    line: "const eventMs = ({ incident }: Facts): number => Date.parse(incident.eventAt ?? incident.noticedAt ?? '')",
    from: "''",
    to: "'mutant'",
    reason: 'neither text is a time: both give NaN'
  },
  {
    file: 'functions/ha/requests.ts',
    line: "const fromMs = Date.parse(incident.eventAt ?? '') - (requestSeconds + skewSeconds) * 1000",
    from: "''",
    to: "'mutant'",
    reason: 'neither text is a time: both give NaN'
  },
  {
    file: 'functions/ha/requests.ts',
    line: 'return startMs(action) >= fromMs || (steps?.some(({ finished }) => finished === null) ?? false)',
    from: 'steps?.some(({ finished }) => finished === null) ?? false',
    to: '(steps?.some(({ finished }) => finished === null))',
    reason: 'find takes undefined for false'
  },
  {
    file: 'functions/hypervisor/reflect.ts',
    line: "const condition = node?.status?.conditions?.find(({ type }) => type === 'Ready')",
    from: 'find',
    to: 'findLast',
    reason: 'the API server keeps one condition of each type'
  },
  {
    file: 'functions/hypervisor/reflect.ts',
    line: "const known = (name: string) => hypervisor.status?.drift?.find(entry => entry.kind === 'spec' && entry.name === name)?.since",
    from: 'find',
    to: 'findLast',
    reason: 'the list is a map by kind and name'
  },
  {
    file: 'functions/maintenance/reflect.ts',
    line: 'const before = hypervisor.status?.conditions?.find(known => known.type === type)',
    from: 'find',
    to: 'findLast',
    reason: 'the API server keeps one condition of each type'
  },
  {
    file: 'functions/onboarding/checks.ts',
    line: 'if (other !== number) return other > number // false of what is no number',
    from: '>',
    to: '>=',
    reason: 'the two are not equal here'
  }
]

/** The mutants that are left to be killed, and the entries of the list that match nothing any more. */
export function withoutEquivalents(
  mutants: readonly Mutant[],
  list: readonly Equivalent[]
): { rest: Mutant[]; excused: Mutant[]; stale: Equivalent[] } {
  const matches = (mutant: Mutant, { file, line, from, to }: Equivalent): boolean =>
    mutant.file === file && mutant.context === line && mutant.original === from && mutant.text === to
  const files = new Set(mutants.map(({ file }) => file))
  const excused = mutants.filter(mutant => list.some(entry => matches(mutant, entry)))
  return {
    rest: mutants.filter(mutant => !excused.includes(mutant)),
    excused,
    stale: list.filter(entry => files.has(entry.file) && !mutants.some(mutant => matches(mutant, entry)))
  }
}
