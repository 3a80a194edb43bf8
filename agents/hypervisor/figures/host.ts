// The host's capacity, from the capabilities document (NA-1)
import { at, attribute, children, parse, textOf } from './xml.ts'
import { toBytes } from './units.ts'

export interface HostCell {
  id: number
  memory: bigint
  cpus: readonly number[]
}

export interface HostFigures {
  arch: string
  cells: readonly HostCell[]
}

export function hostFigures(capabilities: string): HostFigures {
  const host = at(parse(capabilities), 'host')
  const cells = children(at(host, 'topology', 'cells'), 'cell').map(cell => ({
    id: Number(attribute(cell, 'id')),
    memory: cellMemory(cell),
    cpus: children(at(cell, 'cpus'), 'cpu').map(cpu => Number(attribute(cpu, 'id')))
  }))
  return { arch: textOf(at(host, 'cpu', 'arch')) || 'unknown', cells: cells.sort((a, b) => a.id - b.id) }
}

function cellMemory(cell: Parameters<typeof at>[0]): bigint {
  const memory = at(cell, 'memory')
  return memory === undefined ? 0n : toBytes(textOf(memory), attribute(memory, 'unit'))
}

/** For a driver that tells nothing of cells: one, with what the node has. */
export const singleCell = (arch: string, cpus: number, memory: bigint): HostFigures => ({
  arch,
  cells: [{ id: 0, memory, cpus: Array.from({ length: cpus }, (_, cpu) => cpu) }]
})
