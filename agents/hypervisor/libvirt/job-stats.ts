// A migration job's figures, by the names of Migration.status.stats. Pure.
import { paramsByField, procedures, toSafeNumber, type TypedParam } from 'node-libvirt'
import type { Stats } from './fact.ts'

// field of libvirt's job stats → ours; what libvirt does not tell (in the first second it tells little) is left out
const fields: Readonly<Record<string, string>> = {
  setup_time: 'setupTimeMs',
  time_elapsed: 'timeElapsedMs',
  time_remaining: 'timeRemainingMs',
  downtime: 'downtimeMs',
  data_total: 'dataTotal',
  data_processed: 'dataProcessed',
  data_remaining: 'dataRemaining',
  memory_total: 'memTotal',
  memory_processed: 'memProcessed',
  memory_remaining: 'memRemaining',
  memory_bps: 'memBps',
  memory_constant: 'memConstant',
  memory_normal: 'memNormal',
  memory_normal_bytes: 'memNormalBytes',
  memory_dirty_rate: 'memDirtyRate',
  memory_iteration: 'memIteration',
  memory_page_size: 'memPageSize',
  memory_postcopy_requests: 'memPostcopyRequests',
  disk_total: 'diskTotal',
  disk_processed: 'diskProcessed',
  disk_remaining: 'diskRemaining',
  disk_bps: 'diskBps',
  auto_converge_throttle: 'autoConvergeThrottle'
}

/** By the type on the wire; a number too large to be exact is left out rather than rounded. */
function plain(param: TypedParam): number | string | boolean | undefined {
  if (typeof param.value !== 'bigint') return param.value
  try {
    return toSafeNumber(param.value)
  } catch {
    return undefined
  }
}

export function jobFigures(type: string | number, params: readonly TypedParam[]): Stats {
  const stats: Stats = { type: String(type) }
  for (const [field, param] of paramsByField(params)) {
    const name = fields[field]
    const value = plain(param)
    if (name !== undefined && value !== undefined) stats[name] = value
    if (field === 'operation') stats['operation'] = operationOf(param)
    if (field === 'errmsg') stats['errMsg'] = String(param.value)
  }
  return stats
}

const operationOf = ({ value }: TypedParam): string =>
  (procedures.jobOperations[Number(value)] ?? String(value)).replaceAll('-', '_')

export const isMigration = ({ operation }: Stats): boolean => operation === 'migration_out' || operation === 'migration_in'
