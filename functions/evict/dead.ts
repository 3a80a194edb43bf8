// Migration records that Nova never ends: its nova-compute forgot them when it died (EV-12a). Pure.
import type { Server } from 'openstack-sdk-lite'
import { endMs, isOpen, timeMs, type MoveRecord } from './records.ts'

const untouchedMs = 10 * 60_000
/** Nova is at work with it, or waits for its user, or nobody can say. */
const unsettled = new Set(['MIGRATING', 'RESIZE', 'REVERT_RESIZE', 'VERIFY_RESIZE', 'BUILD', 'REBUILD', 'UNKNOWN'])

/** Old enough; whether it is dead, its server tells. A rescue is never called dead: a second one would start its server twice (HA-34). */
export const mayBeDead = (record: MoveRecord, nowMs: number): boolean =>
  isOpen(record) && record.type !== 'evacuation' && nowMs - endMs(record) > untouchedMs

/** `server` undefined: Nova answered 404. `records` are of this server: Nova begins no move while another is under way. */
export function isDead(record: MoveRecord, server: Server | undefined, records: readonly MoveRecord[], nowMs: number): boolean {
  if (!mayBeDead(record, nowMs)) return false
  if (!server || records.some(({ id }) => id > record.id)) return true
  const { partial, status, taskState, updated } = server
  // a `finished` one awaits its confirmation; of one that is being confirmed that was the last step
  const isSettled = !unsettled.has(status) || (status === 'VERIFY_RESIZE' && record.status === 'confirming')
  return !partial && taskState === null && isSettled && nowMs - (timeMs(updated) ?? 0) > untouchedMs
}
