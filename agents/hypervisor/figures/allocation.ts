// Who takes what, and from which host cell (NA-2…4). Guest cells are never host cells: only nodesets and pins say where something is.
import type { DomainFigures } from './domain.ts'
import type { HostFigures } from './host.ts'
import { split } from './units.ts'

export interface Amounts {
  cpu: bigint
  memory: bigint
}

export interface Allocation {
  total: Amounts
  /** By cell id. */
  cells: ReadonlyMap<number, Amounts>
  /** In the total, but in no cell: nobody says where it is. */
  unplaced: Amounts
}

const none = (): Amounts => ({ cpu: 0n, memory: 0n })

export function allocate(host: HostFigures, domains: Iterable<DomainFigures>): Allocation {
  const cells = new Map(host.cells.map(({ id }) => [id, none()]))
  const [total, unplaced] = [none(), none()]
  const cellOfCpu = new Map(host.cells.flatMap(({ id, cpus }) => cpus.map(cpu => [cpu, id] as const)))
  const place = { ids: host.cells.map(({ id }) => id), cellOfCpu }

  for (const domain of domains) {
    const shares = { memory: memoryShares(domain, place), cpu: cpuShares(domain, place) }
    for (const what of ['memory', 'cpu'] as const) {
      const amount = what === 'memory' ? domain.memory : BigInt(domain.vcpus)
      total[what] += amount
      const weights = shares[what]
      if (weights.size === 0) unplaced[what] += amount
      const parts = split(amount, [...weights.values()])
      for (const [at, id] of [...weights.keys()].entries()) (cells.get(id) as Amounts)[what] += parts[at] ?? 0n
    }
  }
  return { total, cells, unplaced }
}

interface Place {
  ids: readonly number[]
  cellOfCpu: ReadonlyMap<number, number>
}
type Weights = Map<number, bigint>

const fine = 720_720n // divides evenly by every number up to 16, and by most that occur above

function add(weights: Weights, cells: readonly number[], weight: bigint): void {
  for (const cell of cells) weights.set(cell, (weights.get(cell) ?? 0n) + (weight * fine) / BigInt(cells.length))
}

/** A host with one cell leaves no question. */
const certain = ({ ids }: Place): number[] => (ids.length === 1 ? [...ids] : [])

const known = (cells: readonly number[], { ids }: Place): number[] => cells.filter(cell => ids.includes(cell))

function cellsOfPins({ pins }: DomainFigures, { cellOfCpu }: Place, vcpus?: readonly number[]): number[] {
  const cpus = [...pins].filter(([vcpu]) => vcpus?.includes(vcpu) ?? true).flatMap(([, set]) => set)
  return [...new Set(cpus.flatMap(cpu => cellOfCpu.get(cpu) ?? []))].sort((a, b) => a - b)
}

const firstOf = (...choices: number[][]): number[] => choices.find(cells => cells.length > 0) ?? []

/** By the size of each guest cell and the cells that its memory is bound to; the rest evenly. */
function memoryShares(domain: DomainFigures, place: Place): Weights {
  const weights: Weights = new Map()
  const whole = firstOf(known(domain.nodeset, place), cellsOfPins(domain, place), certain(place))
  let rest = domain.memory
  for (const { id, memory, vcpus } of domain.guestCells) {
    const bound = known(domain.memnodes.get(id) ?? [], place)
    const cells = firstOf(bound, known(domain.nodeset, place), cellsOfPins(domain, place, vcpus), whole)
    if (cells.length === 0 || memory > rest) continue
    add(weights, cells, memory)
    rest -= memory
  }
  if (rest > 0n) add(weights, whole.length > 0 ? whole : [...weights.keys()], rest)
  return weights
}

/** Each pinned vCPU to the cells of its CPUs; an unpinned one to where the memory is. */
function cpuShares(domain: DomainFigures, place: Place): Weights {
  const weights: Weights = new Map()
  for (const vcpu of domain.pins.keys()) add(weights, cellsOfPins(domain, place, [vcpu]), 1n)
  if (weights.size > 0) return weights
  add(weights, firstOf(known(domain.nodeset, place), [...memoryShares(domain, place).keys()]), 1n)
  return weights
}
