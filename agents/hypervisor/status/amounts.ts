// Capacity, allocation and what overcommit makes of it, for the host and for each cell (NA-1…5). Pure.
import { allocate, type Allocation, type Amounts } from '../figures/allocation.ts'
import type { DomainFigures } from '../figures/domain.ts'
import type { HostFigures } from '../figures/host.ts'
import { memoryQuantity, scale } from '../figures/units.ts'
import type { Known } from '../known.ts'

type Ratios = Readonly<Record<string, number>>

const quantities = ({ cpu, memory }: Amounts) => ({ cpu: String(cpu), memory: memoryQuantity(memory) })
const times = ({ cpu, memory }: Amounts, ratios: Ratios): Amounts => ({
  cpu: scale(cpu, ratios['cpu'] ?? 1),
  memory: scale(memory, ratios['memory'] ?? 1)
})

/** Inactive domains count as well unless told otherwise (NA-2). */
function figuresOf({ domains, countInactive }: Known): DomainFigures[] {
  return [...(domains?.values() ?? [])].flatMap(({ active, figures }) => (figures && (active || countInactive) ? [figures] : []))
}

/** The last one of each agent: most writes of the status are heartbeats, and the domains are the same. */
const last = new WeakMap<Known, { host: HostFigures; domains: Known['domains']; allocation: Allocation }>()

function allocationOf(known: Known, host: HostFigures): Allocation {
  const before = last.get(known)
  if (before?.host === host && before.domains === known.domains) return before.allocation
  const allocation = allocate(host, figuresOf(known))
  last.set(known, { host, domains: known.domains, allocation })
  return allocation
}

export function amounts(known: Known, ratios: Ratios) {
  const host = known.link?.host
  if (host === undefined) return {}
  const { total, cells } = allocationOf(known, host)
  const capacityOf = host.cells.map(({ id, memory, cpus }) => ({ id, capacity: { cpu: BigInt(cpus.length), memory } }))
  const capacity = capacityOf.reduce<Amounts>(
    (sum, { capacity: { cpu, memory } }) => ({ cpu: sum.cpu + cpu, memory: sum.memory + memory }),
    { cpu: 0n, memory: 0n }
  )
  const listed = known.domains !== undefined // else the allocation is not known
  return {
    capabilities: { cpuArch: host.arch, cpus: String(capacity.cpu), memory: memoryQuantity(capacity.memory) },
    capacity: quantities(capacity),
    effectiveCapacity: quantities(times(capacity, ratios)),
    ...(listed && { allocation: quantities(total) }),
    ...(listed && {
      cells: capacityOf.map(({ id, capacity }) => ({
        cellID: id,
        capacity: quantities(capacity),
        effectiveCapacity: quantities(times(capacity, ratios)),
        allocation: quantities(cells.get(id) ?? { cpu: 0n, memory: 0n })
      }))
    })
  }
}

/** What counts in the total and in no cell, and what could not be read at all. */
export function unplaced(known: Known): string[] {
  const host = known.link?.host
  if (host === undefined || known.domains === undefined) return []
  const { cpu, memory } = allocationOf(known, host).unplaced
  const unread = [...known.domains.values()].filter(({ figures }) => figures === undefined).length
  return [
    ...(cpu > 0n || memory > 0n
      ? [`unplaced: ${cpu} vCPUs and ${memoryQuantity(memory)} of memory are bound to no NUMA cell`]
      : []),
    ...(unread > 0 ? [`${unread} domains could not be read and are missing in the allocation`] : [])
  ]
}
