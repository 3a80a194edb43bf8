// Which traits a host's resource provider shall have (spec/hypervisor.md §5). Pure.
import { conditionSet, findCondition, type Verdict } from '../../shared/kube/conditions.ts'
import { historyAfter, type Action } from '../../shared/openstack/audit.ts'
import { driftEntries, type Finding } from '../../shared/openstack/drift.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { factTraits, type FactRule } from './facts.ts'

export const manager = 'drover-traits'

/** AG-8: traits are set from the hand-over on. */
export function isEligible(hypervisor: Hypervisor): boolean {
  const { spec, status } = hypervisor
  const { status: onboarding, reason } = findCondition(hypervisor, 'Onboarding') ?? {}
  const isReady = (onboarding === 'False' && reason === 'Succeeded') || (onboarding === 'True' && reason === 'Handover')
  return spec.lifecycleEnabled && spec.maintenance !== 'termination' && !!status?.hypervisorId && isReady
}

const custom = /^CUSTOM_[A-Z0-9_]+$/
const longest = 255

export const isCustom = (trait: string): boolean => trait.startsWith('CUSTOM_')
const unique = (traits: readonly string[]): string[] => [...new Set(traits)].sort()

export interface Wanted {
  traits: string[]
  /** AG-10: named in the condition while the rest is applied. */
  unusable: string[]
  /** AG-11: what Drover may take away again. */
  managed: string[]
}

export function wantedOf(hypervisor: Hypervisor, facts: readonly FactRule[] = []): Wanted {
  const { spec, status } = hypervisor
  const all = unique([...(spec.customTraits ?? []), ...factTraits(hypervisor, facts)])
  const isUsable = (trait: string): boolean => !isCustom(trait) || (custom.test(trait) && trait.length <= longest)
  const managed = status?.managedTraits ?? (status?.traits ?? []).filter(isCustom) // adoption
  return { traits: all.filter(isUsable), unusable: all.filter(trait => !isUsable(trait)), managed }
}

export interface Change {
  /** The whole list as it is to be written; undefined when nothing is to be written. */
  write: string[] | undefined
  add: string[]
  remove: string[]
}

/** AG-9, AG-11: as sets; what nova-compute or others put there stays. */
export function changeOf({ traits, managed }: Wanted, present: readonly string[]): Change {
  const add = traits.filter(trait => !present.includes(trait))
  const remove = managed.filter(trait => present.includes(trait) && !traits.includes(trait))
  const kept = present.filter(trait => !remove.includes(trait))
  return { write: add.length + remove.length > 0 ? unique([...kept, ...add]) : undefined, add, remove }
}

/** What Drover answers for from now on: its own names, and those of others only if it brought them itself. */
export const managedAfter = ({ traits, managed }: Wanted, added: readonly string[]): string[] =>
  unique(traits.filter(trait => isCustom(trait) || managed.includes(trait) || added.includes(trait)))

/** Item 9: what was there when it was last looked at, and what was not, tells who changed it. */
export function driftIn(hypervisor: Hypervisor, { add }: Change, action: Finding['action']): Finding[] {
  const { traits = [], drift = [] } = hypervisor.status ?? {}
  const reported = drift.filter(entry => entry.kind === 'trait' && entry.action === 'reported').map(({ name }) => name)
  const settled = reported.length > 0 || findCondition(hypervisor, 'TraitsUpdated')?.status === 'True'
  return add
    .filter(trait => reported.includes(trait) || (settled && traits.includes(trait)))
    .map(name => ({ kind: 'trait', name, expected: 'present', actual: 'absent', action }))
}

export const intended = ({ add, remove }: Change): Finding[] => [
  ...add.map((name): Finding => ({ kind: 'trait', name, expected: 'present', actual: 'absent', action: 'reported' })),
  ...remove.map((name): Finding => ({ kind: 'trait', name, expected: 'absent', actual: 'present', action: 'reported' }))
]

/** HV-67 */
export const actionsOf = ({ add, remove }: Change): Action[] => [
  ...add.map(name => ({ kind: `trait ${name}`, from: 'absent', to: 'present', reason: 'it is wanted' })),
  ...remove.map(name => ({ kind: `trait ${name}`, from: 'present', to: 'absent', reason: 'it is wanted no more' }))
]

export interface Outcome {
  /** As Placement has them now; undefined when they could not be read. */
  traits: readonly string[] | undefined
  managed: readonly string[]
  problems: readonly string[]
  missingProvider: boolean
  findings: readonly Finding[]
  /** What was changed in Placement. */
  actions: readonly Action[]
}

export function reflect(hypervisor: Hypervisor, outcome: Outcome, now: Date, extended: boolean) {
  const { status, metadata } = hypervisor
  const drift = driftEntries(status?.drift, ['trait'], outcome.findings, now)
  const history = historyAfter(status?.history, manager, outcome.actions, now)
  return {
    conditions: conditionSet(status?.conditions, [verdictOf(outcome)], now, metadata.generation),
    traits: outcome.traits ? unique(outcome.traits) : (status?.traits ?? []),
    ...(extended && {
      managedTraits: unique(outcome.managed),
      ...(drift.length > 0 && { drift }),
      ...(history.length > 0 && { history })
    })
  }
}

function verdictOf({ problems, missingProvider, managed }: Outcome): Verdict {
  const type = 'TraitsUpdated'
  if (missingProvider)
    return { type, status: 'False', reason: 'ProviderMissing', message: 'Placement has no resource provider with the stored id.' }
  if (problems.length > 0) return { type, status: 'False', reason: 'Failed', message: problems.join('; ') }
  return { type, status: 'True', reason: 'Succeeded', message: `Set: ${managed.join(', ') || 'none wanted'}.` }
}

/** Time alone may help: something failed, or the hand-over waits for the traits. */
export const isOpen = (hypervisor: Hypervisor): boolean =>
  isEligible(hypervisor) && findCondition(hypervisor, 'TraitsUpdated')?.status !== 'True'

/** Whether a listing of the providers that have all wanted traits is enough to know that nothing is to be done. */
export function isSettled(hypervisor: Hypervisor, facts: readonly FactRule[] = []): boolean {
  const done = findCondition(hypervisor, 'TraitsUpdated')
  const { traits, unusable, managed } = wantedOf(hypervisor, facts)
  return (
    done?.status === 'True' &&
    done.observedGeneration === hypervisor.metadata.generation &&
    unusable.length === 0 &&
    managed.every(trait => traits.includes(trait)) &&
    traits.every(trait => hypervisor.status?.traits?.includes(trait))
  )
}
