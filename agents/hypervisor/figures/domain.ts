// What one domain takes, from its XML (NA-2…4)
import { at, attribute, children, parse, textOf } from './xml.ts'
import { numbers, toBytes } from './units.ts'

export interface GuestCell {
  id: number
  memory: bigint
  vcpus: readonly number[]
}

export interface DomainFigures {
  memory: bigint
  /** vCPUs that count: the pinned ones, or the current number. */
  vcpus: number
  /** Host CPUs by vCPU. */
  pins: ReadonlyMap<number, readonly number[]>
  guestCells: readonly GuestCell[]
  /** Host cells of the whole memory, and of single guest cells. */
  nodeset: readonly number[]
  memnodes: ReadonlyMap<number, readonly number[]>
}

type Element = ReturnType<typeof parse>

export function domainFigures(xml: string): DomainFigures {
  const domain = parse(xml)
  const vcpu = at(domain, 'vcpu')
  const current = Number(attribute(vcpu, 'current') ?? (textOf(vcpu) || 1))
  const memory = at(domain, 'memory')
  const pins = new Map(
    children(at(domain, 'cputune'), 'vcpupin').map(pin => [Number(attribute(pin, 'vcpu')), setOf(pin, 'cpuset')] as const)
  )
  const tune = at(domain, 'numatune')
  return {
    memory: memory === undefined ? 0n : toBytes(textOf(memory), attribute(memory, 'unit')),
    vcpus: pins.size || current,
    pins,
    guestCells: children(at(domain, 'cpu', 'numa'), 'cell').map((cell, index) => guestCell(cell, index)),
    nodeset: setOf(at(tune, 'memory'), 'nodeset'),
    memnodes: new Map(children(tune, 'memnode').map(node => [Number(attribute(node, 'cellid')), setOf(node, 'nodeset')] as const))
  }
}

const guestCell = (cell: Element, index: number): GuestCell => ({
  id: Number(attribute(cell, 'id') ?? index),
  memory: toBytes(attribute(cell, 'memory') ?? '0', attribute(cell, 'unit')),
  vcpus: setOf(cell, 'cpus')
})

function setOf(element: Element | undefined, name: string): number[] {
  const set = attribute(element, name)
  return set === undefined || set === '' ? [] : numbers(set)
}
