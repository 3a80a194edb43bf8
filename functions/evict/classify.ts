// What to do with one server: the table of spec/hypervisor.md §4.2, first match wins (EV-6). Pure.
import type { Server } from 'openstack-sdk-lite'
import { departure, endMs, hasFailed, hasSucceeded, isOpen, timeMs, type MoveRecord } from './records.ts'

/** What may be done beyond the cautious default, by configuration. */
export interface Policy {
  /** row 5: reset the state of a server that Nova left in `migrating` */
  resetStuck: boolean
  /** row 6: confirm a user's own resize after the wait */
  confirmResize: boolean
  /** row 8: reset the state of a server that a failed move left in ERROR though libvirt runs it, and try again as often as allowed */
  resetAndRetry: boolean
  /** row 10: resume a suspended server, so that it can be moved. It runs afterwards: Nova cannot move it suspended */
  resumeSuspended: boolean
}

export const cautious: Policy = { resetStuck: false, confirmResize: false, resetAndRetry: false, resumeSuspended: false }

export interface Circumstances {
  /** exactly as Nova writes it; never cut at a dot (HV-29) */
  host: string
  nowMs: number
  strategy: 'auto' | 'live' | 'cold'
  policy: Policy
  excluded: boolean
  /** what the agent says of the domain on the host; undefined when nobody says */
  domain: 'running' | 'stopped' | undefined
  /** of this server, with the host as source or target, the newest first */
  records: readonly MoveRecord[]
}

export type BlockedReason =
  | 'DeleteStuck'
  | 'StuckTask'
  | 'ResizeAwaitsUser'
  | 'ServerError'
  | 'Rescue'
  | 'SoftDeleted'
  | 'Suspended'
  | 'ResizeOpen'
  | 'NotEvacuable'

export type WaitReason = 'Deleting' | 'Busy' | 'ResizeAwaitsUser' | 'PowerUnsure' | 'Unknown' | 'Offloading' | 'Settling'

export type Action =
  | { do: 'gone' | 'excluded' }
  | { do: 'done'; destination?: string }
  | { do: 'wait'; reason: WaitReason; message: string }
  | { do: 'watch'; record?: MoveRecord }
  | { do: 'blocked'; reason: BlockedReason; message: string }
  | { do: 'failed'; reason: 'Disagreement'; message: string }
  | { do: 'live' | 'cold' | 'evacuate' | 'confirm' | 'offload' | 'reset' | 'resume' }

export const minuteMs = 60_000
const busyStatus = new Set(['BUILD', 'REBOOT', 'HARD_REBOOT', 'PASSWORD', 'REBUILD'])
const resizing = new Set(['RESIZE', 'REVERT_RESIZE'])
const settled = new Set(['ACTIVE', 'PAUSED', 'SHUTOFF', 'SUSPENDED', 'RESCUE', 'SHELVED'])
const power = { running: 1, paused: 3 } as const

/** `server` undefined: Nova answered 404. */
export function classify(server: Server | undefined, seen: Circumstances): Action {
  if (!server || server.status === 'DELETED') return { do: 'gone' } // 1
  if (seen.excluded) return { do: 'excluded' }
  if (server.partial || server.status === 'UNKNOWN' || server.vmState === null) return unknown(server) // 15, before anything is read from it
  return server.host === seen.host ? here(server, seen) : elsewhere(server, seen)
}

const unknown = ({ status }: Server): Action => ({
  do: 'wait',
  reason: 'Unknown',
  message: `Nova does not know the state of the server (${status}).`
})

/** Rows 2 and 11: it left, and Nova must say so in every place (EV-19). */
function elsewhere(server: Server, seen: Circumstances): Action {
  const { host, nowMs, records } = seen
  const { status, taskState } = server
  if (status === 'SHELVED_OFFLOADED') return { do: 'done' }
  if (server.host === null) return nowhere(server, nowMs)
  const record = departure(records, host) ?? records.find(({ target, status }) => target === host && status === 'reverted')
  const idleMs = nowMs - Math.max(record ? endMs(record) : 0, timeMs(server.updated) ?? 0)
  if (status === 'VERIFY_RESIZE' && taskState === null && record?.status === 'finished') {
    return record.type === 'migration' ? { do: 'confirm' } : resized(idleMs, seen) // EV-17; a user's own resize has another type
  }
  const proven = record !== undefined && (hasSucceeded(record) || record.status === 'reverted')
  if (proven && taskState === null && settled.has(status)) return { do: 'done', destination: server.host }
  // a cold move that nobody can confirm any more is left `finished` for good
  if (record && isOpen(record) && (record.status !== 'finished' || idleMs <= minuteMs)) return { do: 'watch', record }
  const message = `It is on ${server.host} (${status}, task ${taskState ?? 'none'}), but its record says ${record?.status ?? 'nothing'}.`
  if (idleMs <= minuteMs || taskState !== null) return { do: 'wait', reason: 'Settling', message }
  return { do: 'failed', reason: 'Disagreement', message }
}

/** HV-29: no host is not another host. But for good on none, it is not on this one either: it does not count as moved, and holds up nobody. */
function nowhere(server: Server, nowMs: number): Action {
  const { status, updated } = server
  if (nowMs - (timeMs(updated) ?? nowMs) <= 10 * minuteMs) return unknown({ ...server, status: `${status}, on no host` })
  return {
    do: 'failed',
    reason: 'Disagreement',
    message: `It is on no host (${status}), and has been so for more than 10 minutes.`
  }
}

function here(server: Server, seen: Circumstances): Action {
  const { status, taskState, vmState } = server
  const { records, nowMs } = seen
  const idleMs = nowMs - (timeMs(server.updated) ?? nowMs)
  const open = records.find(isOpen)
  if (taskState === 'deleting' || taskState === 'soft-deleting') {
    // 3
    if (idleMs > 10 * minuteMs) return blocked('DeleteStuck', `It has been ${taskState} for more than 10 minutes.`)
    return { do: 'wait', reason: 'Deleting', message: 'It is being deleted.' }
  }
  if (resizing.has(status) || taskState?.startsWith('resize_')) return { do: 'watch', ...(open && { record: open }) } // 4
  if (taskState === 'migrating' || status === 'MIGRATING') return migrating(open, records, idleMs, seen) // 4, 5
  if (status === 'VERIFY_RESIZE') return resized(idleMs, seen) // 6
  if (busyStatus.has(status) || taskState !== null) {
    // 7
    if (idleMs > 10 * minuteMs)
      return blocked('StuckTask', `Nova has been busy with it for more than 10 minutes (${taskState ?? status}).`)
    return { do: 'wait', reason: 'Busy', message: `Nova is busy with it (${taskState ?? status}).` }
  }
  // a record without a task: the move is about to begin or has just ended, and the list was read in between
  if (open && open.status !== 'finished') return { do: 'watch', record: open }
  if (status === 'ERROR') return broken(server, seen) // 8
  if (status === 'RESCUE') return blocked('Rescue', 'It runs its rescue image; Nova moves it neither live nor cold.') // 9
  if (status === 'SOFT_DELETED') return blocked('SoftDeleted', 'It is deleted, but can still be restored and holds its place.')
  if (status === 'SUSPENDED') return suspended(seen) // 10
  if (status === 'SHELVED') return { do: 'offload' } // 11
  if (status === 'SHELVED_OFFLOADED') return { do: 'wait', reason: 'Offloading', message: 'Nova is about to let go of the host.' }
  if (status === 'PAUSED') return { do: 'live' } // 14: Nova refuses to move it cold
  if (status === 'ACTIVE') return active(server, idleMs, seen) // 12, 13
  if (status === 'SHUTOFF') {
    // 13
    if (seen.domain !== 'running') return { do: 'cold' }
    return { do: 'wait', reason: 'PowerUnsure', message: 'Nova says that it is stopped, libvirt that it runs.' }
  }
  return unknown({ ...server, status: `${status}, ${vmState}` }) // 15
}

const blocked = (reason: BlockedReason, message: string): Action => ({ do: 'blocked', reason, message })

function migrating(
  open: MoveRecord | undefined,
  records: readonly MoveRecord[],
  idleMs: number,
  { nowMs, policy }: Circumstances
): Action {
  if (open) return { do: 'watch', record: open }
  const sinceEndMs = records[0] ? nowMs - endMs(records[0]) : Number.POSITIVE_INFINITY
  if (Math.min(idleMs, sinceEndMs) <= 5 * minuteMs) return { do: 'watch' }
  if (policy.resetStuck) return { do: 'reset' }
  return blocked('StuckTask', 'Nova says that it is migrating, but has had no move of it under way for 5 minutes.')
}

function resized(idleMs: number, { policy }: Circumstances): Action {
  const message = 'Its user has not confirmed or reverted a resize.'
  if (idleMs <= 60 * minuteMs) return { do: 'wait', reason: 'ResizeAwaitsUser', message }
  return policy.confirmResize ? { do: 'confirm' } : blocked('ResizeAwaitsUser', message)
}

/** Only a move can be blamed that failed last of all, and only libvirt knows that no harm was done. */
function broken({ fault }: Server, { host, policy, domain, records }: Circumstances): Action {
  const [last] = records
  const byMove = last?.source === host && hasFailed(last)
  if (policy.resetAndRetry && byMove && domain === 'running') return { do: 'reset' }
  return blocked('ServerError', fault?.message ?? 'The server is in ERROR.')
}

function suspended({ policy }: Circumstances): Action {
  if (policy.resumeSuspended) return { do: 'resume' }
  return blocked('Suspended', 'Nova moves a suspended server neither live nor cold.')
}

function active({ powerState }: Server, idleMs: number, { strategy, domain }: Circumstances): Action {
  const runs = powerState === power.running || powerState === power.paused || domain === 'running'
  if (runs) return { do: strategy === 'cold' ? 'cold' : 'live' }
  if (idleMs > minuteMs) return { do: 'cold' }
  return { do: 'wait', reason: 'PowerUnsure', message: `Nova says ACTIVE, but its power state is ${powerState ?? 'unknown'}.` }
}

/** The same for a host that is dead and fenced (spec/ha.md §6). */
export function classifyDead(server: Server | undefined, seen: Circumstances): Action {
  if (!server || server.status === 'DELETED') return { do: 'gone' }
  if (seen.excluded) return { do: 'excluded' }
  if (server.partial || server.vmState === null) return unknown(server)
  if (server.host !== seen.host) return elsewhere(server, seen)
  const { vmState, taskState } = server
  if (taskState === 'deleting' || taskState === 'soft-deleting' || vmState === 'soft-delete') return { do: 'excluded' }
  const open = seen.records.find(isOpen)
  if (open && (open.type === 'evacuation' || seen.nowMs - endMs(open) <= minuteMs)) return { do: 'watch', record: open } // HA-34
  if (vmState === 'resized') return blocked('ResizeOpen', 'A resize of it is open; a person has to decide which side lives.')
  if (vmState === 'error' && server.launchedAt === null) return blocked('NotEvacuable', 'It never ran.')
  if (vmState === 'active' || vmState === 'stopped' || vmState === 'error') return { do: 'evacuate' }
  return blocked('NotEvacuable', `Nova does not evacuate a server that is ${vmState}.`)
}
