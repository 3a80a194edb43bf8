// What is on its way to a host that is to be emptied (EV-4, EV-5). Pure.
import type { Scene } from './judge.ts'
import { canAbort, isOpen, type MoveRecord } from './records.ts'
import type { Call, Incoming, Options, Seen } from './seen.ts'
import { pollMovingMs, type Step } from './step.ts'

/** It would fill the host again behind our back. Undefined: settled. */
export function settle(
  { eviction, records }: Seen,
  step: Step,
  { host, nowMs }: Scene,
  { settleGapMs, settleLimitMs }: Options
): Step | undefined {
  const coming = records.filter(record => record.target === host && isOpen(record) && record.status !== 'finished')
  const { phase, incoming: before = [] } = eviction.status ?? {}
  const past = phase === 'Draining' || phase === 'Verifying' || phase === 'Done'
  if ((past && !step.anew) || eviction.spec.cancel) return undefined // EV-22 adds late arrivals
  const incoming = coming.map(record => incomingOf(record, before))
  const calls: Call[] = coming.flatMap(record =>
    canAbort(record) && !before.some(({ migrationId, action }) => migrationId === String(record.id) && action !== 'wait')
      ? [{ do: 'abort', server: record.server, record: record.id, why: 'Incoming' }]
      : []
  )
  if (coming.length > 0 && nowMs - step.startedMs < settleLimitMs) {
    return {
      ...step,
      phase: 'Settling',
      incoming,
      calls,
      waitingFor: `${coming.length} moves to this host to end`,
      nextCheckMs: pollMovingMs
    }
  }
  // two empty reads: a move that was being scheduled at the first may have a destination at the second
  if (coming.length === 0 && phase !== 'Settling')
    return { ...step, phase: 'Settling', waitingFor: 'a second look at moves to this host', nextCheckMs: settleGapMs }
  return undefined
}

function incomingOf(record: MoveRecord, before: readonly Incoming[]): Incoming {
  const migrationId = String(record.id)
  const known = before.find(entry => entry.migrationId === migrationId)
  const action = known?.action ?? (canAbort(record) ? 'abort' : 'wait')
  return { migrationId, serverId: record.server, status: record.status, action }
}
