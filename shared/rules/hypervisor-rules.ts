// R1–R4 as the CRD has them, HV-11, and the fleet's objections (spec/hypervisor.md §1.2). Pure. R5 is the schema's own.
import { isDeepStrictEqual } from 'node:util'
import type { Hypervisor } from '../schema/hypervisor.ts'
import { at, type Violation } from '../schema/violation.ts'
import type { Asked } from './asked.ts'
import { hostOf, overdrafts, zoneShortage, type Host } from './fleet.ts'
import { breach, type Rule } from './rule.ts'

type HypervisorRule = Rule<Asked<Hypervisor>>

const frozen: HypervisorRule = {
  id: 'R1',
  weight: 'refused',
  what: 'A change of the spec while maintenance is termination, other than to ha',
  example: 'maintenance: termination → maintenance: manual',
  fix: 'let the node go, or give the host to HA with maintenance: ha',
  check({ object, old }) {
    if (old?.spec?.maintenance !== 'termination' || object.spec?.maintenance === 'ha') return []
    if (isDeepStrictEqual(object.spec, old.spec)) return []
    return [breach('spec', 'is frozen while maintenance is termination: only a change to maintenance: ha is allowed')]
  }
}

const manualReason: HypervisorRule = {
  id: 'R2',
  weight: 'refused',
  what: 'maintenance: manual without a reason',
  example: 'maintenance: manual',
  fix: 'say why in maintenanceReason',
  check({ object: { spec } }) {
    if (spec?.maintenance !== 'manual' || spec.maintenanceReason) return []
    return [breach('spec.maintenanceReason', 'must say why maintenance is manual')]
  }
}

const overcommit: HypervisorRule = {
  id: 'R3',
  weight: 'refused',
  what: 'An overcommit ratio below 1.0',
  example: 'overcommit: { cpu: 0.5 }',
  fix: 'give 1.0 or more, or leave the resource out',
  check({ object: { spec } }) {
    const low = Object.entries(spec?.overcommit ?? {}).filter(([, ratio]) => ratio < 1)
    return low.map(([resource, ratio]) => breach(`spec.overcommit.${resource}`, `must be at least 1.0, not ${ratio}`))
  }
}

const oneMembership: HypervisorRule = {
  id: 'R4',
  weight: 'refused',
  what: 'An entry of groups that is not exactly one of trait and aggregate',
  example: 'groups: [{}]',
  fix: 'make it one of the two, or two entries',
  check({ object: { spec } }) {
    return (spec?.groups ?? []).flatMap(({ trait, aggregate }, i) =>
      (trait === undefined) === (aggregate === undefined)
        ? [breach(at('spec.groups', i), `exactly one of trait and aggregate must be given, not ${trait ? 'both' : 'neither'}`)]
        : []
    )
  }
}

const twins: HypervisorRule = {
  id: 'HV-11',
  weight: 'objected',
  what: 'A trait name or an aggregate UUID that occurs twice in groups',
  example: 'groups: [{ trait: { name: CUSTOM_A } }, { trait: { name: CUSTOM_A } }]',
  fix: 'remove one of them',
  check({ object: { spec } }) {
    const seen = new Map<string, number>()
    return (spec?.groups ?? []).flatMap(({ trait, aggregate }, i): Violation[] => {
      const [key, path] = trait
        ? [`trait ${trait.name}`, 'trait.name']
        : [`aggregate ${aggregate?.uuid.toLowerCase()}`, 'aggregate.uuid']
      const first = seen.get(key)
      if (first === undefined) seen.set(key, i)
      return first === undefined ? [] : [breach(`${at('spec.groups', i)}.${path}`, `the ${key} is in groups[${first}] already`)]
    })
  }
}

/** The host as it would be, when maintenance begins; a dead host (ha) and one whose node goes anyway are beyond asking. */
function leaving({ operation, object, old, user, policy }: Asked<Hypervisor>): Host | undefined {
  const mode = object.spec?.maintenance
  if (operation !== 'UPDATE' || !mode || mode === 'ha' || old?.spec?.maintenance) return undefined
  const goesAnyway = mode === 'termination' && user !== undefined && policy.terminationIdentities.includes(user.username)
  return goesAnyway ? undefined : hostOf(object)
}

const zoneCapacity: HypervisorRule = {
  id: 'HV-12',
  weight: 'objected',
  what: 'Maintenance after which the zone could not hold its servers if one more host failed (N−1)',
  example: 'maintenance: auto on one of two full hosts',
  fix: 'bring another host of the zone back first, or move servers to another zone',
  check(asked) {
    const host = leaving(asked)
    if (!host || !asked.hosts.known) return []
    const short = zoneShortage(host, asked.hosts.value ?? [])
    if ('unknown' in short) return []
    return short.map(({ zone, resource, percent }) =>
      breach(
        'spec.maintenance',
        `with one more host lost, zone ${zone} would have ${percent} % of the ${resource} that its servers need`
      )
    )
  }
}

const aggregateBudget: HypervisorRule = {
  id: 'HV-12',
  weight: 'objected',
  what: 'Maintenance of more hosts of an aggregate than its maxUnavailable allows',
  example: 'maintenance: auto on a second host of an aggregate with maxUnavailable: "1"',
  fix: 'wait until another host of the aggregate is back',
  check(asked) {
    const host = leaving(asked)
    if (!host || !asked.hosts.known) return []
    return overdrafts(host, asked.hosts.value ?? [], asked.policy.maxUnavailable).map(({ aggregate, limit, away }) => {
      const others = away.length === 0 ? '' : `, and ${away.join(', ')} ${away.length === 1 ? 'is' : 'are'} away already`
      return breach('spec.maintenance', `aggregate ${aggregate} allows ${limit} unavailable hosts${others}`)
    })
  }
}

/** A19's way for the fleet too: what could not be read is said, and never refused. */
const notChecked: HypervisorRule = {
  id: 'HV-12',
  weight: 'warned',
  what: 'Nothing, but says so, where the fleet could not be read or a host does not tell its size',
  example: 'maintenance: auto while the API server does not answer the webhook',
  fix: 'look at the capacity of the zone yourself',
  check(asked) {
    const host = leaving(asked)
    if (!host) return []
    if (!asked.hosts.known)
      return [breach('spec.maintenance', 'capacity and budgets were not checked: the other hosts are not known')]
    const short = zoneShortage(host, asked.hosts.value ?? [])
    if (!('unknown' in short)) return []
    const why = host.zone === undefined ? 'the host has no zone' : `${short.unknown} does not tell its size`
    return [breach('spec.maintenance', `the capacity of the zone was not checked: ${why}`)]
  }
}

export const hypervisorRules: readonly HypervisorRule[] = [
  frozen,
  manualReason,
  overcommit,
  oneMembership,
  twins,
  zoneCapacity,
  aggregateBudget,
  notChecked
]
