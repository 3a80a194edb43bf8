// The figures of a live move, as QEMU would give them for a guest that writes to its memory all the time. Pure.
import { procedures, type TypedParam } from 'node-libvirt'
import type { Job, SimDomain } from './domain.ts'

const mib = 1024n * 1024n
const pageBytes = 4096n
const setupMs = 40
const downtimeMs = 180

const ullong = (field: string, value: bigint): TypedParam => ({ field, type: 'ullong', value })

/** How much of it is done, from 0 to 1. */
export const progress = ({ startedMs, durationMs }: Job, nowMs: number): number =>
  durationMs === 0 ? 1 : Math.min(1, Math.max(0, (nowMs - startedMs) / durationMs))

/** Rounds are shorter and shorter: each moves what was written during the one before. */
export const iterationAt = (done: number): number => 1 + Math.floor(4 * done ** 2)

export function jobParams({ memoryMiB }: SimDomain, job: Job, nowMs: number, ended?: 'in' | 'out'): TypedParam[] {
  const done = ended === undefined ? progress(job, nowMs) : 1
  const operation = procedures.jobOperations.indexOf(ended === 'in' ? 'migration-in' : 'migration-out')
  const total = BigInt(memoryMiB) * mib
  const processed = (total * BigInt(Math.round(done * 1000))) / 1000n
  const elapsedMs = ended === undefined ? nowMs - job.startedMs : job.durationMs
  const bytesPerSecond = job.durationMs === 0 ? total : (total * 1000n) / BigInt(Math.ceil(job.durationMs))
  return [
    { field: 'operation', type: 'int', value: operation },
    ullong('time_elapsed', BigInt(Math.max(0, Math.round(elapsedMs)))),
    ...(ended === undefined ? [] : [ullong('downtime', BigInt(downtimeMs))]),
    ullong('setup_time', BigInt(setupMs)),
    ullong('data_total', total),
    ullong('data_processed', processed),
    ullong('data_remaining', total - processed),
    ullong('memory_total', total),
    ullong('memory_processed', processed),
    ullong('memory_remaining', total - processed),
    ullong('memory_bps', bytesPerSecond),
    ullong('memory_constant', total / pageBytes / 8n),
    ullong('memory_normal', processed / pageBytes),
    ullong('memory_normal_bytes', processed),
    ullong('memory_dirty_rate', bytesPerSecond / pageBytes / 10n),
    ullong('memory_iteration', BigInt(iterationAt(done))),
    ullong('memory_page_size', pageBytes)
  ]
}
