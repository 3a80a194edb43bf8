// Which aggregates a host shall be in (spec/hypervisor.md §5), and what is to be done for it. Pure.
import { conditionSet, findCondition, isFalse, type Verdict } from '../../shared/kube/conditions.ts'
import { historyAfter, type Action } from '../../shared/openstack/audit.ts'
import { driftEntries, type Finding } from '../../shared/openstack/drift.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { HypervisorConditions } from '../../shared/schema/hypervisor-conditions.ts'

export const manager = 'drover-aggregates'

export interface Options {
  testAggregate: string
  /** AG-4: the zone is wanted also when no annotation names it. */
  alwaysZone: boolean
  /** AG-7: names that are never touched. */
  ignore: readonly RegExp[]
  drift: 'repair' | 'report'
  /** AG-7: of one host: names whose drift is reported and left so. */
  leave?: readonly string[]
  /** AG-5: what to do about a wanted aggregate that does not exist. */
  missing: 'report' | 'create'
}

export interface Aggregate {
  id: number
  uuid: string
  name: string
  zone: string | null
  hosts: string[]
  metadata: Record<string, string>
}

type Reason = HypervisorConditions['AggregatesUpdated']['False'] | 'Succeeded'

/** What the host's own state asks for; `names` undefined means: leave them as Nova shows them. */
export type Desired = { reason: Reason; names?: readonly string[]; waitingFor?: string } | undefined

export const zoneOf = ({ metadata }: Hypervisor): string | undefined => metadata.labels?.['topology.kubernetes.io/zone']

export function desired(hypervisor: Hypervisor, { testAggregate, alwaysZone }: Options): Desired {
  const { spec } = hypervisor
  if (spec.maintenance === 'termination') {
    const evicting = findCondition(hypervisor, 'Evicting')
    const emptied = isFalse(hypervisor, 'Evicting') && evicting?.reason === 'Succeeded'
    return emptied ? { reason: 'Terminating', names: [] } : { reason: 'EvictionInProgress' }
  }
  const onboarding = findCondition(hypervisor, 'Onboarding')
  if (!onboarding || onboarding.reason === 'Aborted') return undefined
  const zone = zoneOf(hypervisor)
  const wanted = [...(spec.aggregates ?? []), ...(alwaysZone && zone ? [zone] : [])]
  if (onboarding.status === 'False') return { reason: 'Succeeded', names: unique(wanted) }
  if (onboarding.reason === 'Handover' && hasTraits(hypervisor)) return { reason: 'Succeeded', names: unique(wanted) }
  const reason = onboarding.reason === 'Handover' ? 'WaitingForTraits' : 'TestAggregates'
  if (zone === undefined) return { reason, waitingFor: 'the label topology.kubernetes.io/zone' } // HV-34
  return { reason, names: unique([zone, testAggregate]) }
}

/** AG-8: traits come before the aggregates of the spec; those of an earlier spec do not count. */
function hasTraits(hypervisor: Hypervisor): boolean {
  const traits = findCondition(hypervisor, 'TraitsUpdated')
  return (
    traits?.status === 'True' && (traits.observedGeneration ?? hypervisor.metadata.generation) === hypervisor.metadata.generation
  )
}

const unique = (names: readonly string[]): string[] => [...new Set(names)].sort()

export interface Plan {
  add: Aggregate[]
  remove: Aggregate[]
  /** AG-5: wanted, but not there. */
  missing: string[]
  /** AG-3: the host is in another zone's aggregate than the one it shall join. */
  rezone: { from: Aggregate; to: Aggregate } | undefined
}

export function plan(names: readonly string[], host: string, all: readonly Aggregate[], { ignore, leave = [] }: Options): Plan {
  const isIgnored = (name: string): boolean => leave.includes(name) || ignore.some(pattern => pattern.test(name))
  const wanted = all.filter(({ name }) => names.includes(name) && !isIgnored(name))
  const present = membership(host, all)
  const missing = names.filter(name => !isIgnored(name) && !wanted.some(aggregate => aggregate.name === name))
  const add = wanted.filter(({ hosts }) => !hosts.includes(host))
  const surplus = present.filter(({ name }) => !names.includes(name) && !isIgnored(name))
  const to = add.find(({ zone }) => zone !== null)
  const from = to && present.find(({ zone }) => zone !== null && zone !== to.zone)
  return { add, remove: missing.length > 0 ? [] : surplus, missing, rezone: from && to ? { from, to } : undefined }
}

export const membership = (host: string, all: readonly Aggregate[]): Aggregate[] =>
  all.filter(({ hosts }) => hosts.includes(host)).sort((a, b) => (a.name < b.name ? -1 : 1))

export const differences = ({ add, remove }: Plan, action: Finding['action']): Finding[] => [
  ...add.map(({ name }): Finding => ({ kind: 'aggregate', name, expected: 'member', actual: 'not a member', action })),
  ...remove.map(({ name }): Finding => ({ kind: 'aggregate', name, expected: 'not a member', actual: 'member', action }))
]

/** AG-7: what is otherwise than it was last seen, when all was as wanted, was changed by somebody else; also what was so and is left so. */
export function driftIn(hypervisor: Hypervisor, plan: Plan, action: Finding['action']): Finding[] {
  const { aggregates = [], drift = [] } = hypervisor.status ?? {}
  const reported = drift.filter(entry => entry.kind === 'aggregate' && entry.action === 'reported').map(({ name }) => name)
  const settled = reported.length > 0 || findCondition(hypervisor, 'AggregatesUpdated')?.status === 'True'
  const wasMember = (name: string): boolean => aggregates.some(aggregate => aggregate.name === name)
  return differences(plan, action).filter(
    ({ name, expected }) => reported.includes(name) || (settled && wasMember(name) === (expected === 'member'))
  )
}

export interface Outcome {
  /** As Nova shows them after all was done; undefined when they could not be read. */
  aggregates: Aggregate[] | undefined
  problems: string[]
  findings: Finding[]
  /** What was changed in Nova. */
  actions: readonly Action[]
}

export function reflect(hypervisor: Hypervisor, want: NonNullable<Desired>, outcome: Outcome, now: Date, extended: boolean) {
  const { aggregates, problems, findings, actions } = outcome
  const shown = aggregates?.map(({ name, uuid, metadata }) => ({
    name,
    uuid,
    ...(Object.keys(metadata).length > 0 && { metadata })
  }))
  const verdict = verdictOf(want, problems, aggregates ?? [])
  const drift = driftEntries(hypervisor.status?.drift, ['aggregate'], findings, now)
  const history = historyAfter(hypervisor.status?.history, manager, actions, now)
  return {
    conditions: conditionSet(hypervisor.status?.conditions, [verdict], now, hypervisor.metadata.generation),
    // what could not be read is told as it was last seen, since leaving it out would delete it
    aggregates: shown ?? hypervisor.status?.aggregates ?? [],
    ...(extended && drift.length > 0 && { drift }),
    ...(extended && history.length > 0 && { history })
  }
}

function verdictOf(
  { reason, waitingFor }: NonNullable<Desired>,
  problems: readonly string[],
  aggregates: readonly Aggregate[]
): Verdict {
  const type = 'AggregatesUpdated'
  if (problems.length > 0) return { type, status: 'False', reason: 'Failed', message: problems.join('; ') }
  const names = aggregates.map(({ name }) => name).join(', ') || 'none'
  const message = waitingFor ? `Waiting for ${waitingFor}.` : `${saying[reason]}: ${names}.`
  return { type, status: reason === 'Succeeded' ? 'True' : 'False', reason, message }
}

const saying: Record<Reason, string> = {
  Succeeded: 'The host is in its aggregates',
  TestAggregates: 'The host is in the aggregates of its test',
  WaitingForTraits: 'The host stays in the aggregates of its test until its traits are set',
  EvictionInProgress: 'The aggregates are left as they are until the host is empty',
  Terminating: 'The host is taken out of its aggregates',
  Failed: 'The aggregates are not as wanted'
}

export const isEligible = ({ spec, status }: Hypervisor): boolean =>
  spec.lifecycleEnabled && !!status?.hypervisorId && !!status.serviceId

/** Something is awaited or went wrong: time alone may help. */
export function isOpen(hypervisor: Hypervisor): boolean {
  const { status, reason } = findCondition(hypervisor, 'AggregatesUpdated') ?? {}
  if (!isEligible(hypervisor) || status === 'True') return false
  return reason === 'Failed' || findCondition(hypervisor, 'Onboarding')?.status === 'True'
}
