// Every kind that can be subscribed to, by the name virsh gives it
import type { Reader } from '../xdr/reader.ts'
import { blockJob, blockJob2, blockThreshold } from './block-job.ts'
import { balloonChange, deviceAdded, deviceRemovalFailed, deviceRemoved, diskChange, graphics, trayChange } from './device.ts'
import { controlError, ioError, ioErrorReason, memoryFailure, watchdog } from './fault.ts'
import { agentLifecycle, metadataChange, tunable } from './guest.ts'
import { jobCompleted, migrationIteration } from './job.ts'
import { lifecycle } from './lifecycle.ts'
import { pmSuspend, pmSuspendDisk, pmWakeup, reboot, rtcChange } from './power.ts'

export const eventRows = {
  lifecycle,
  reboot,
  'rtc-change': rtcChange,
  watchdog,
  'io-error': ioError,
  graphics,
  'io-error-reason': ioErrorReason,
  'control-error': controlError,
  'block-job': blockJob,
  'disk-change': diskChange,
  'tray-change': trayChange,
  'pm-wakeup': pmWakeup,
  'pm-suspend': pmSuspend,
  'balloon-change': balloonChange,
  'pm-suspend-disk': pmSuspendDisk,
  'device-removed': deviceRemoved,
  'block-job-2': blockJob2,
  tunable,
  'agent-lifecycle': agentLifecycle,
  'device-added': deviceAdded,
  'migration-iteration': migrationIteration,
  'job-completed': jobCompleted,
  'device-removal-failed': deviceRemovalFailed,
  'metadata-change': metadataChange,
  'block-threshold': blockThreshold,
  'memory-failure': memoryFailure
} as const

type Rows = typeof eventRows
export type EventKind = keyof Rows

export type EventOf<Kind extends EventKind> = { [K in Kind]: { readonly kind: K } & ReturnType<Rows[K]['decode']> }[Kind]
export type DomainEvent = EventOf<EventKind>

export const eventKinds = Object.keys(eventRows) as EventKind[]

const kindByNumber = new Map(eventKinds.map(kind => [eventRows[kind].number, kind]))

/** The kind whose message has this number. */
export function eventKindOf(number: number): EventKind | undefined {
  return kindByNumber.get(number)
}

export function decodeEvent(kind: EventKind, r: Reader): DomainEvent {
  const event = { kind, ...eventRows[kind].decode(r) } as DomainEvent // the row is the kind's own
  r.end()
  return event
}
