// VMs on their way to another host. While a live move runs, libvirt has the VM on both: it counts where it still runs.
import type { Eviction } from '../schema/eviction.ts'
import type { Hypervisor } from '../schema/hypervisor.ts'
import type { Migration } from '../schema/migration.ts'
import { movesUnderWay } from './drain.ts'
import { isUnderWay } from './moves.ts'

/** By the host they go to: the ids of the VMs, and where each comes from. */
export type Arrivals = ReadonlyMap<string, ReadonlyMap<string, string>>

export function arrivalsOf(evictions: Iterable<Eviction>, migrations: Iterable<Migration>): Arrivals {
  const arrivals = new Map<string, Map<string, string>>()
  const add = (id: string, from: string | undefined, to: string | undefined): void => {
    if (!from || !to || from === to) return
    const there = arrivals.get(to) ?? new Map<string, string>()
    arrivals.set(to, there.set(id, from))
  }
  for (const { metadata, status } of migrations) if (isUnderWay(status)) add(metadata.name, status?.origin, status?.destination)
  for (const eviction of evictions)
    for (const { id, destination } of movesUnderWay(eviction)) add(id, eviction.spec?.hypervisor, destination)
  return arrivals
}

type HostOf = (name: string) => Hypervisor | undefined

/** How many of the VMs that a host tells of are still counted where they come from. */
export function countedElsewhere({ metadata, status }: Hypervisor, arrivals: Arrivals, hostOf: HostOf): number {
  const arriving = arrivals.get(metadata.name)
  if (!arriving) return 0
  const isOn = (host: string, id: string): boolean => hostOf(host)?.status?.instances?.some(one => one.id === id) ?? false
  return (status?.instances ?? []).filter(({ id }) => isOn(arriving.get(id) ?? '', id)).length
}
