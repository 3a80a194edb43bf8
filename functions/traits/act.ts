import { OpenStackError } from 'openstack-sdk-lite'
import { tellActions } from '../../shared/openstack/audit.ts'
import type { Finding } from '../../shared/openstack/drift.ts'
import { attempt, failureOf } from '../../shared/openstack/failure.ts'
import { isObserved, type HostDeps } from '../../shared/openstack/host-function.ts'
import { tellDrift } from '../../shared/openstack/tell-drift.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import {
  actionsOf,
  changeOf,
  driftIn,
  intended,
  isCustom,
  isEligible,
  isSettled,
  managedAfter,
  manager,
  reflect,
  wantedOf,
  type Outcome,
  type Wanted
} from './decide.ts'
import type { FactRule } from './facts.ts'
import { syncTraits } from './sync.ts'

export interface Deps extends HostDeps {
  drift: 'repair' | 'report'
  /** AG-14 */
  facts: readonly FactRule[]
}

export async function settle(hypervisor: Hypervisor, deps: Deps): Promise<void> {
  if (!isEligible(hypervisor)) return
  const outcome = await pursue(hypervisor, deps)
  const { conditions, traits, managedTraits, drift, history } = reflect(hypervisor, outcome, deps.clock(), deps.extended)
  const own = { conditions, traits, ...(managedTraits && { managedTraits }), ...(history && { history }) }
  const status = { ...(!isObserved(hypervisor, deps) && own), ...(drift && { drift }) } // HV-8: another operator's conditions stay its own
  await deps.kube.applyStatus(Hypervisor, { metadata: { name: hypervisor.metadata.name }, status }, { live: hypervisor })
  await tellDrift(hypervisor, outcome.findings, deps)
  await tellActions(hypervisor, manager, outcome.actions, deps)
}

async function pursue(hypervisor: Hypervisor, deps: Deps): Promise<Outcome> {
  const wanted = wantedOf(hypervisor, deps.facts)
  const nothing = { traits: undefined, managed: wanted.managed, problems: [], missingProvider: false, findings: [], actions: [] }
  try {
    return await sync(hypervisor, wanted, deps)
  } catch (err) {
    if (err instanceof OpenStackError && err.code === 'NotFound') return { ...nothing, missingProvider: true } // AG-13
    return { ...nothing, problems: [failureOf(err).words] }
  }
}

async function sync(hypervisor: Hypervisor, given: Wanted, deps: Deps): Promise<Outcome> {
  const { resourceProviders } = deps.cloud
  const provider = hypervisor.status?.hypervisorId ?? ''
  const first = await resourceProviders.traits(provider)
  const wanted = await knownOf(given, first.traits, deps)
  const problems = wanted.unusable.map(trait => `${trait} is not a trait that Placement takes`)
  const change = changeOf(wanted, first.traits)
  if (isObserved(hypervisor, deps)) {
    const findings = intended(change)
    const told = { managed: wanted.managed, problems: [...problems, ...findings.map(leftSo)], findings, actions: [] }
    return { traits: first.traits, missingProvider: false, ...told }
  }
  const findings = driftIn(hypervisor, change, deps.drift === 'repair' ? 'repaired' : 'reported')
  // what is only reported is not touched; what the spec asks for meanwhile is done all the same
  const left = deps.drift === 'report' ? findings : []
  const isOurs = (trait: string): boolean => !left.some(({ name }) => name === trait)
  const doable = { ...wanted, traits: wanted.traits.filter(isOurs), managed: wanted.managed.filter(isOurs) }
  const doing = changeOf(doable, first.traits)
  const written = await syncTraits(provider, doable, deps.cloud, undefined, first)
  return {
    traits: written.traits,
    managed: managedAfter(wanted, doing.add),
    problems: [...problems, ...left.map(leftSo)],
    missingProvider: false,
    findings,
    actions: actionsOf(doing)
  }
}

const leftSo = ({ name, actual }: Finding): string => `${name}: ${actual}, left so`

/** AG-10: a trait outside CUSTOM_ is used only if Placement knows it; asked only when one is to be added. */
async function knownOf(wanted: Wanted, present: readonly string[], { cloud }: Deps): Promise<Wanted> {
  const standard = wanted.traits.filter(trait => !isCustom(trait) && !present.includes(trait))
  if (standard.length === 0) return wanted
  const known = await cloud.traits.known(standard)
  const unknown = standard.filter(trait => !known.includes(trait))
  return {
    ...wanted,
    traits: wanted.traits.filter(trait => !unknown.includes(trait)),
    unusable: [...wanted.unusable, ...unknown]
  }
}

/** Hosts that want the same traits are asked for together: one call for each such group tells whose provider has them all. */
export async function differing(hypervisors: readonly Hypervisor[], { cloud, facts }: Deps): Promise<readonly Hypervisor[]> {
  const eligible = hypervisors.filter(isEligible)
  const settled = eligible.filter(hypervisor => isSettled(hypervisor, facts))
  const groups = Map.groupBy(settled, hypervisor => wantedOf(hypervisor, facts).traits.join(','))
  const fine = new Set<Hypervisor>()
  for (const [key, members] of groups) {
    const having = await attempt(() => cloud.resourceProviders.having(key === '' ? [] : key.split(',')))
    if (!having.ok) continue // a trait that is gone, or an outage: each host finds out and says so
    const ids = new Set(having.value.map(({ id }) => id))
    for (const hypervisor of members) if (ids.has(hypervisor.status?.hypervisorId ?? '')) fine.add(hypervisor)
  }
  return eligible.filter(hypervisor => !fine.has(hypervisor))
}
