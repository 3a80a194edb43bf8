// What somebody changed behind Drover's back, as status.drift tells it. Each function writes the entries of its own kinds. Pure.
import { timestamp } from '../kube/conditions.ts'
import type { Hypervisor } from '../schema/hypervisor.ts'

export type Drift = NonNullable<NonNullable<Hypervisor['status']>['drift']>[number]
export type Finding = Required<Pick<Drift, 'kind' | 'name' | 'expected' | 'actual' | 'action'>>

/** A repair stays readable for so long; a difference that was only reported, for as long as it exists. */
const repairedForMs = 3_600_000

export function driftEntries(
  before: readonly Drift[] | undefined,
  kinds: readonly Drift['kind'][],
  findings: readonly Finding[],
  now: Date
): Drift[] {
  const own = (before ?? []).filter(({ kind }) => kinds.includes(kind))
  const isSame = (a: Pick<Drift, 'kind' | 'name'>) => (b: Pick<Drift, 'kind' | 'name'>) => a.kind === b.kind && a.name === b.name
  const found = findings.map(finding => {
    const known = own.find(isSame(finding))
    // reported again and again it is one difference; repaired twice it happened twice
    const since = finding.action === 'reported' && known?.action === 'reported' ? known.since : undefined
    return { ...finding, since: since ?? timestamp(now) }
  })
  const remembered = own.filter(
    entry =>
      entry.action === 'repaired' &&
      !findings.some(isSame(entry)) &&
      now.getTime() - Date.parse(entry.since ?? '') < repairedForMs
  )
  return [...found, ...remembered].sort((a, b) => `${a.kind} ${a.name}`.localeCompare(`${b.kind} ${b.name}`, 'en'))
}
