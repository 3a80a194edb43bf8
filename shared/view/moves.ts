// The VMs that leave a host or come to it: those of its drain, and those that somebody else moves.
import type { Eviction } from '../schema/eviction.ts'
import type { Migration } from '../schema/migration.ts'
import { span } from './time.ts'
import type { MoveView, Tone } from './types.ts'

type Instance = NonNullable<NonNullable<Eviction['status']>['instances']>[number]
type Status = NonNullable<Migration['status']>

const tones: Record<string, Tone> = {
  Migrating: 'busy',
  Confirming: 'busy',
  Done: 'ok',
  Gone: 'ok',
  Excluded: 'rest',
  Blocked: 'bad',
  Failed: 'bad'
}
/** What is under way first, then what needs somebody, then what is still to come, then what is over. */
const order = [
  'Migrating',
  'PostCopy',
  'Confirming',
  'Running',
  'Blocked',
  'Failed',
  'Queued',
  'Waiting',
  'Excluded',
  'Done',
  'Gone'
]
const rank = ({ word }: MoveView): number => order.indexOf(word)

export function movesOf(host: string, eviction: Eviction | undefined, migrations: readonly Migration[], now: Date): MoveView[] {
  const instances = eviction?.status?.instances ?? []
  const known = new Set(instances.map(({ id }) => id))
  const own = instances.map(instance => ofDrain(instance, migrations, now))
  const others = migrations.flatMap(migration => ofOthers(host, migration, known, now) ?? [])
  return [...own, ...others].toSorted((a, b) => rank(a) - rank(b))
}

function ofDrain(instance: Instance, migrations: readonly Migration[], now: Date): MoveView {
  const { id, name = id, state, destination, startedAt, message, reason } = instance
  const status = state === 'Migrating' ? migrations.find(({ metadata }) => metadata.name === id)?.status : undefined
  const began = startedAt && state === 'Migrating' ? `for ${span(now.getTime() - Date.parse(startedAt))}` : ''
  const line = [destination && `→ ${destination}`, began, detailOf(status), message ?? reason].filter(Boolean).join(' · ')
  return withPercent({ id, name, tone: tones[state] ?? 'rest', word: state, line }, status)
}

const open = new Set(['Queued', 'Running', 'PostCopy', 'Confirming'])
export const isUnderWay = (status: Status | undefined): boolean => open.has(status?.phase ?? '')

function ofOthers(host: string, { metadata, status }: Migration, known: ReadonlySet<string>, now: Date): MoveView | undefined {
  if (!status || known.has(metadata.name) || !isUnderWay(status)) return undefined
  if (status.origin !== host && status.destination !== host) return undefined
  const way = status.origin === host ? `→ ${status.destination ?? 'a host not known yet'}` : `comes from ${status.origin}`
  const line = [way, `for ${span(now.getTime() - Date.parse(status.started))}`, detailOf(status)].filter(Boolean).join(' · ')
  return withPercent({ id: metadata.name, name: metadata.name, tone: 'busy', word: status.phase ?? 'Running', line }, status)
}

function detailOf(status: Status | undefined): string {
  if (!status) return ''
  const left = status.stats?.timeRemainingMs
  const { memIteration = 0, memBps, dataRemaining } = status
  return [
    dataRemaining && `${dataRemaining} left`,
    memBps,
    memIteration > 1 && `pass ${memIteration}`,
    left && `about ${span(left)} more`
  ]
    .filter(Boolean)
    .join(' · ')
}

function withPercent(move: MoveView, status: Status | undefined): MoveView {
  const { dataTotal, dataProcessed = 0 } = status?.stats ?? {}
  return dataTotal ? { ...move, percent: Math.min(100, Math.round((100 * dataProcessed) / dataTotal)) } : move
}
