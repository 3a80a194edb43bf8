// What the fleet can spare (HV-12): N−1 capacity of a zone, and the hosts of an aggregate that may be away at once. Pure.
import { isTrue } from '../kube/conditions.ts'
import type { Hypervisor } from '../schema/hypervisor.ts'
import { parseQuantity } from '../schema/quantity.ts'

export const resources = ['cpu', 'memory'] as const
export type Resource = (typeof resources)[number]
type Amounts = Partial<Record<Resource, bigint>>

/** Of a Hypervisor what the fleet's rules need; a thousand of them are kept in memory. */
export interface Host {
  name: string
  zone: string | undefined
  /** Takes servers: not in maintenance, and not said to be unready. */
  available: boolean
  /** Goes away with its agent at work: what still runs here looks for a place in the zone. Of a dead host nobody counts any more. */
  emptying: boolean
  capacity: Amounts
  allocation: Amounts
  aggregates: ReadonlyArray<{ name: string; maxUnavailable?: string | undefined }>
}

const zoneLabel = 'topology.kubernetes.io/zone'
const budgetKey = 'maxUnavailable'

export function hostOf({ metadata, spec, status }: Hypervisor): Host {
  const aggregates = new Map<string, string | undefined>()
  for (const name of spec?.aggregates ?? []) aggregates.set(name, undefined)
  for (const { aggregate } of spec?.groups ?? []) if (aggregate) aggregates.set(aggregate.name, aggregate.metadata?.[budgetKey])
  for (const { name, metadata: told } of status?.aggregates ?? []) aggregates.set(name, told?.[budgetKey] ?? aggregates.get(name))
  const unready = status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'False') ?? false
  return {
    name: metadata.name,
    zone: metadata.labels?.[zoneLabel],
    available: !spec?.maintenance && !unready && !isTrue({ ...(status && { status }) }, 'Terminating'),
    emptying: spec?.maintenance !== undefined && !['', 'ha'].includes(spec.maintenance),
    capacity: amounts(status?.effectiveCapacity ?? status?.capacity),
    allocation: amounts(status?.allocation),
    aggregates: [...aggregates].map(([name, maxUnavailable]) => ({ name, maxUnavailable }))
  }
}

function amounts(given: Record<string, string | number> | undefined): Amounts {
  const found: Amounts = {}
  for (const resource of resources) {
    const amount = given?.[resource] === undefined ? undefined : parseQuantity(given[resource])
    if (amount !== undefined) found[resource] = amount
  }
  return found
}

export interface Shortage {
  zone: string
  resource: Resource
  /** Shares of the zone's need that would be left with the largest host gone too, in percent. */
  percent: number
}

/**
 * Without this host and with the largest of the others failing, can the rest of the zone still hold all that runs in it?
 * `unknown` names a host that does not say how large it is.
 */
export function zoneShortage(leaving: Host, fleet: readonly Host[]): Shortage[] | { unknown: string } {
  const { zone } = leaving
  if (zone === undefined) return { unknown: leaving.name }
  const inZone = fleet.filter(host => host.zone === zone && host.name !== leaving.name)
  const others = inZone.filter(({ available }) => available)
  const inNeed = [leaving, ...inZone.filter(({ available, emptying }) => available || emptying)]
  const silent = [leaving, ...others].find(({ capacity }) => resources.some(resource => capacity[resource] === undefined))
  if (silent) return { unknown: silent.name }
  return resources.flatMap(resource => {
    const sizes = others.map(({ capacity }) => capacity[resource] ?? 0n)
    const largest = sizes.reduce((most, size) => (size > most ? size : most), 0n)
    const left = sizes.reduce((sum, size) => sum + size, 0n) - largest
    const need = inNeed.reduce((sum, { allocation }) => sum + (allocation[resource] ?? 0n), 0n)
    return left >= need ? [] : [{ zone, resource, percent: Number((left * 100n) / need) }]
  })
}

export interface Overdraft {
  aggregate: string
  limit: number
  /** Hosts that are away already, sorted. */
  away: string[]
}

/** Aggregates that would have more hosts away than they allow. */
export function overdrafts(leaving: Host, fleet: readonly Host[], byDefault: string | undefined): Overdraft[] {
  return leaving.aggregates.flatMap(({ name, maxUnavailable = byDefault }) => {
    const members = fleet.filter(host => host.name === leaving.name || host.aggregates.some(other => other.name === name))
    const limit = limitOf(maxUnavailable, Math.max(members.length, 1))
    if (limit === undefined) return []
    const away = members.filter(host => host.name !== leaving.name && !host.available).map(host => host.name)
    return away.length + 1 > limit ? [{ aggregate: name, limit, away: away.sort() }] : []
  })
}

/** `2` or `25%`, rounded up as PodDisruptionBudgets do; undefined for no limit, or for what nobody can read. */
export function limitOf(text: string | undefined, members: number): number | undefined {
  const [, digits, percent] = /^(\d{1,6})(%?)$/.exec(text ?? '') ?? []
  if (digits === undefined) return undefined
  return percent ? Math.ceil((Number(digits) * members) / 100) : Number(digits)
}
