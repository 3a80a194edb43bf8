// One Migration object after a sample, an end, or a look at Nova's record (spec/hypervisor.md §1.6). Pure.
import type { Migration as MoveRecord } from 'openstack-sdk-lite'
import { timestamp } from '../../shared/kube/conditions.ts'
import { novaTimeMs } from '../../shared/openstack/nova-time.ts'
import type { Migration } from '../../shared/schema/migration.ts'
import { durationText, sizeText } from './figures.ts'

export const manager = 'drover-migration'

export type Status = NonNullable<Migration['status']>
type Stats = NonNullable<Status['stats']>

/** What an agent told: a sample, or the end with its result. */
export interface Sample {
  server: string
  host: string
  at: string
  origin?: string | undefined
  destination?: string | undefined
  stats: Readonly<Record<string, number | string | boolean>>
  result?: string | undefined
}

const spans = {
  setupTime: 'setupTimeMs',
  timeElapsed: 'timeElapsedMs',
  timeRemaining: 'timeRemainingMs',
  downtime: 'downtimeMs'
} as const
const sizes = [
  'dataTotal',
  'dataProcessed',
  'dataRemaining',
  'memTotal',
  'memProcessed',
  'memRemaining',
  'memNormalBytes',
  'memPageSize',
  'diskTotal',
  'diskProcessed',
  'diskRemaining'
] as const
const rates = ['memBps', 'diskBps'] as const
const counts = ['memConstant', 'memNormal', 'memIteration', 'memPostcopyRequests'] as const
const numbers = [...Object.values(spans), ...sizes, ...rates, 'memDirtyRate', 'memIteration', 'autoConvergeThrottle'] as const

type Figures = Partial<Record<string, number>>

/** HV-18: every figure as text, as the listing in use shows it, and as a number beside it. */
export function figuresOf(stats: Sample['stats'], at: string): Partial<Status> & { stats: Stats } {
  const known: Figures = Object.fromEntries(
    Object.entries(stats).filter((pair): pair is [string, number] => typeof pair[1] === 'number')
  )
  const told = <T>(names: readonly string[], say: (value: number) => T): Record<string, T> =>
    Object.fromEntries(names.flatMap(name => (known[name] === undefined ? [] : [[name, say(known[name])]])))
  return {
    ...Object.fromEntries(
      Object.entries(spans).flatMap(([name, from]) => (known[from] === undefined ? [] : [[name, durationText(known[from])]]))
    ),
    ...told(sizes, sizeText),
    ...told(rates, value => `${sizeText(value)}/s`),
    ...told(['memDirtyRate'], value => `${value}/s`),
    ...told(['autoConvergeThrottle'], value => `${value}%`),
    ...told(counts, value => value),
    stats: { ...told(numbers, Math.round), sampledAt: at }
  }
}

const ended = new Set<NonNullable<Status['phase']>>(['Completed', 'Failed', 'Cancelled', 'Lost'])
export const isOver = (status: Status | undefined): boolean => status?.phase !== undefined && ended.has(status.phase)

/** A told end within this time of the last one belongs to the same move: both sides tell it. */
const sameMoveMs = 60_000
/** The times of a status have no more. */
const wholeSecondMs = 1000

export function afterSample(before: Status | undefined, sample: Sample): Status {
  const { at, stats, result, server } = sample
  const atMs = Date.parse(at)
  const elapsedMs = typeof stats['timeElapsedMs'] === 'number' ? stats['timeElapsedMs'] : undefined
  const startsMs = atMs - (elapsedMs ?? 0)
  const endedMs = before?.finishedAt !== undefined && isOver(before) ? Date.parse(before.finishedAt) : Number.NaN
  // an end that says nothing of its length may be the other side's word on the move before; times are whole seconds
  const begun = elapsedMs !== undefined || result === undefined
  const isSure =
    elapsedMs !== undefined && !(result !== undefined && startsMs - Date.parse(before?.started ?? '') <= wholeSecondMs)
  const another = begun && startsMs > endedMs + (isSure ? 0 : wholeSecondMs)
  const late = !another && atMs - endedMs < sameMoveMs
  if (before && late && result === undefined) return before // a sample of the move that is over
  const fresh = !before || (isOver(before) && !late)
  const base: Partial<Status> = fresh ? { ...(before && { history: historyOf(before) }) } : before
  const { origin, destination } = sample
  // HV-18: what the destination tells comes after what the source knows, and knows less
  const told = figuresOf(stats, at)
  // … and an end may come without figures, or be told twice: what was known stays
  const figures =
    !fresh && destination !== undefined && before.stats ? {} : { ...told, stats: { ...(!fresh && before.stats), ...told.stats } }
  const { phase, type, operation, errMsg } = stats
  return {
    ...base,
    serverId: server,
    started: fresh ? timestamp(new Date(startsMs)) : before.started,
    ...(origin && { origin }),
    ...(destination && { destination }),
    ...figures,
    ...(typeof type === 'string' && { type }),
    ...(typeof operation === 'string' && { operation }),
    ...(typeof errMsg === 'string' && { errMsg }),
    ...(result === undefined
      ? { phase: String(phase).startsWith('PostCopy') ? 'PostCopy' : 'Running' }
      : endOf(result, before, late, at))
  }
}

function endOf(result: string, before: Status | undefined, late: boolean, at: string): Partial<Status> {
  if (late && before?.phase === 'Completed') return {} // the other side told it first
  const phase = result === 'success' ? 'Completed' : result === 'cancelled' ? 'Cancelled' : 'Failed'
  return { phase, result, finishedAt: timestamp(new Date(Date.parse(at))) }
}

const keptRuns = 10

function historyOf({
  started,
  finishedAt,
  origin,
  destination,
  result,
  stats,
  history = []
}: Status): NonNullable<Status['history']> {
  const run = {
    started,
    ...(finishedAt && { finished: finishedAt }),
    ...(origin && { origin }),
    ...(destination && { destination }),
    ...(result && { result }),
    ...(stats?.dataProcessed !== undefined && { bytes: stats.dataProcessed }),
    ...(stats?.downtimeMs !== undefined && { downtimeMs: stats.downtimeMs }),
    ...(stats?.memIteration !== undefined && { iterations: stats.memIteration })
  }
  return [run, ...history].slice(0, keptRuns)
}

const phaseOf: Readonly<Record<string, NonNullable<Status['phase']>>> = {
  accepted: 'Queued',
  queued: 'Queued',
  'pre-migrating': 'Queued',
  finished: 'Confirming',
  confirming: 'Confirming',
  completed: 'Completed',
  confirmed: 'Completed',
  done: 'Completed',
  failed: 'Failed',
  error: 'Failed',
  reverted: 'Cancelled',
  cancelled: 'Cancelled'
}

/** Over before the move of which agents tell began: Nova has no part in that one, or no record of it yet. Never by a time that Nova left out. */
export const isEarlier = ({ updated, created, status }: MoveRecord, { started }: Status): boolean =>
  ended.has(phaseOf[status] ?? 'Running') && (novaTimeMs(updated ?? created) ?? Number.NaN) < Date.parse(started) - sameMoveMs

/** Nova knows the real destination, its own number of the move, and how cold moves go, of which no agent tells. */
export function withRecord(
  before: Status | undefined,
  record: MoveRecord,
  evictionRef: Status['evictionRef'],
  now: Date
): Status {
  const timeOf = (text: string | null): string => timestamp(new Date(novaTimeMs(text) ?? now)) // a false time is worse than a late one
  const novaMigrationId = String(record.id)
  const fresh = !before || (before.novaMigrationId !== undefined && before.novaMigrationId !== novaMigrationId && isOver(before))
  const phase = phaseOf[record.status] ?? 'Running'
  const over = ended.has(phase)
  const told = !fresh && isOver(before) // the agent's word on the end stays
  return {
    ...(fresh ? { ...(before && { history: historyOf(before) }) } : before),
    serverId: record.server,
    started: fresh ? timeOf(record.created) : before.started,
    origin: record.source,
    ...(record.target && { destination: record.target }),
    novaMigrationId,
    ...(evictionRef && { evictionRef }),
    ...(!told && { phase: before?.phase === 'PostCopy' && phase === 'Running' ? 'PostCopy' : phase }),
    ...(over && !told && { finishedAt: timeOf(record.updated ?? record.created), result: record.status }),
    ...(fresh && { operation: 'migration_out', type: over ? (phase === 'Completed' ? 'completed' : 'failed') : 'unbounded' })
  }
}

const silentMs = 10 * 60_000
const keptMs = 30 * 24 * 3_600_000

/** Nobody tells of it any more, and Nova has nothing under way. */
export const isSilent = ({ phase, stats, started }: Status, nowMs: number): boolean =>
  (phase === 'Running' || phase === 'PostCopy') && nowMs - Date.parse(stats?.sampledAt ?? started) > silentMs

export const lost = (before: Status, now: Date): Status => ({
  ...before,
  phase: 'Lost',
  reason: 'Silent',
  finishedAt: timestamp(now)
})

/** HV-16. */
export const isOld = ({ finishedAt }: Status, nowMs: number): boolean =>
  finishedAt !== undefined && nowMs - Date.parse(finishedAt) > keptMs
