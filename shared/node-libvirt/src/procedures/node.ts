// The host: processors, memory, NUMA cells. Numbers are REMOTE_PROC_NODE_*.
import type { Reader } from '../xdr/reader.ts'
import { nothing, type Procedure } from './procedure.ts'

export interface NodeInfo {
  readonly model: string
  readonly memoryKiB: bigint
  readonly cpus: number
  readonly mhz: number
  readonly numaNodes: number
  readonly socketsPerNode: number
  readonly coresPerSocket: number
  readonly threadsPerCore: number
}

// 6 NODE_GET_INFO -> char[32] model, unsigned hyper KiB, int cpus, mhz, nodes, sockets, cores, threads
export const nodeGetInfo: Procedure<void, NodeInfo> = {
  number: 6,
  encode: nothing,
  decode: r => ({
    model: readChars(r, 32),
    memoryKiB: r.uhyper(),
    cpus: r.int(),
    mhz: r.int(),
    numaNodes: r.int(),
    socketsPerNode: r.int(),
    coresPerSocket: r.int(),
    threadsPerCore: r.int()
  })
}

/** A char takes a whole word on the wire; the text ends at the first zero. */
function readChars(r: Reader, length: number): string {
  const chars = Uint8Array.from({ length }, () => r.int())
  const end = chars.indexOf(0)
  return Buffer.from(end === -1 ? chars : chars.subarray(0, end)).toString()
}

// 101 NODE_GET_CELLS_FREE_MEMORY: int first cell, int how many -> unsigned hyper[] bytes
export const nodeGetCellsFreeMemory: Procedure<{ startCell: number; maxCells: number }, bigint[]> = {
  number: 101,
  encode: (w, { startCell, maxCells }) => void w.int(startCell).int(maxCells),
  decode: r => r.list(() => r.uhyper(), 8)
}

// 102 NODE_GET_FREE_MEMORY -> unsigned hyper bytes
export const nodeGetFreeMemory: Procedure<void, bigint> = { number: 102, encode: nothing, decode: r => r.uhyper() }

/** cell or cpu -1: all of them together */
export const ALL = -1

export interface NodeStat {
  readonly field: string
  readonly value: bigint
}

/** The server insists on the exact count: ask with 0 for it, then again with what it said. Libvirt's methods do so. */
export interface NodeStats {
  readonly stats: readonly NodeStat[]
  readonly count: number
}

const readStats = (r: Reader): NodeStats => ({
  stats: r.list(() => ({ field: r.string(), value: r.uhyper() }), 12),
  count: r.int()
})

// 227 NODE_GET_CPU_STATS: int cpu, int count, unsigned flags -> (string field, unsigned hyper ns)[], int count
export const nodeGetCpuStats: Procedure<{ cpu?: number; count: number; flags?: number }, NodeStats> = {
  number: 227,
  encode: (w, { cpu = ALL, count, flags = 0 }) => void w.int(cpu).int(count).uint(flags),
  decode: readStats
}

// 228 NODE_GET_MEMORY_STATS: int count, int cell, unsigned flags -> (string field, unsigned hyper KiB)[], int count
export const nodeGetMemoryStats: Procedure<{ cell?: number; count: number; flags?: number }, NodeStats> = {
  number: 228,
  encode: (w, { cell = ALL, count, flags = 0 }) => void w.int(count).int(cell).uint(flags),
  decode: readStats
}

// 293 NODE_GET_CPU_MAP: int map wanted, int online wanted, unsigned flags -> opaque map, unsigned online, int cpus
export const nodeGetCpuMap: Procedure<{ flags?: number }, { cpus: number; online: number; map: boolean[] }> = {
  number: 293,
  encode: (w, { flags = 0 }) => void w.int(1).int(1).uint(flags),
  decode: r => {
    const bits = r.opaque()
    const online = r.uint()
    const cpus = r.int()
    const map = Array.from(
      { length: Math.min(cpus, bits.length * 8) },
      (_, cpu) => (((bits[cpu >> 3] ?? 0) >> (cpu & 7)) & 1) === 1
    )
    return { cpus, online, map }
  }
}

// 340 NODE_GET_FREE_PAGES: unsigned[] page sizes in KiB, int first cell, unsigned how many, unsigned flags -> unsigned hyper[] (cells x sizes)
export const nodeGetFreePages: Procedure<
  { pageKiB: readonly number[]; startCell?: number; cellCount?: number; flags?: number },
  bigint[]
> = {
  number: 340,
  encode: (w, { pageKiB, startCell = 0, cellCount = 1, flags = 0 }) =>
    void w
      .list(pageKiB, size => w.uint(size))
      .int(startCell)
      .uint(cellCount)
      .uint(flags),
  decode: r => r.list(() => r.uhyper(), 8)
}
