// What is on its way to a host that is to be emptied (EV-4, EV-5). Pure.
import { plural } from '../../shared/view/time.ts'
import type { Scene } from './judge.ts'
import { canAbort, isOpen, type MoveRecord } from './records.ts'
import type { Call, Incoming, Options, Seen } from './seen.ts'
import { pollMovingMs, type Step } from './step.ts'

/** It would fill the host again behind our back. Undefined: settled. */
export function settle(
  seen: Seen,
  step: Step,
  { host, nowMs }: Scene,
  { settleGapMs, settleLimitMs }: Options
): Step | undefined {
  const { eviction, nearlyDone } = seen
  const coming = comingTo(host, seen)
  const { phase, incoming: before = [] } = eviction.status ?? {}
  const past = phase === 'Draining' || phase === 'Verifying' || phase === 'Done'
  if ((past && !step.anew) || eviction.spec.cancel) return undefined // EV-22 adds late arrivals
  const incoming = incomingOf(host, seen)
  const calls: Call[] = coming.flatMap(record =>
    canAbort(record) &&
    !nearlyDone.has(record.id) &&
    !before.some(({ migrationId, action }) => migrationId === String(record.id) && action !== 'wait')
      ? [{ do: 'abort', server: record.server, record: record.id, why: 'Incoming' }]
      : []
  )
  if (coming.length > 0 && nowMs - step.startedMs < settleLimitMs) {
    return {
      ...step,
      phase: 'Settling',
      incoming,
      calls,
      waitingFor: `${plural(coming.length, 'move')} to this host to end`,
      nextCheckMs: pollMovingMs
    }
  }
  // two empty reads: a move that was being scheduled at the first may have a destination at the second
  if (coming.length === 0 && (phase !== 'Settling' || before.length > 0))
    return { ...step, phase: 'Settling', waitingFor: 'a second look at moves to this host', nextCheckMs: settleGapMs }
  return undefined
}

const comingTo = (host: string, { records }: Seen): MoveRecord[] =>
  records.filter(record => record.target === host && isOpen(record) && record.status !== 'finished')

/** As the status tells it: what was given up stays so. */
export function incomingOf(host: string, seen: Seen): Incoming[] {
  const { eviction, nearlyDone } = seen
  return comingTo(host, seen).map(record => {
    const migrationId = String(record.id)
    const givenUp = eviction.status?.incoming?.some(entry => entry.migrationId === migrationId && entry.action === 'abort')
    const abort = givenUp || (canAbort(record) && !nearlyDone.has(record.id))
    return { migrationId, serverId: record.server, status: record.status, action: abort ? 'abort' : 'wait' }
  })
}
