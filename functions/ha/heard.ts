// What a row of the table of reactions makes of an event: a report of one server, a count, a fact of the host. Pure.
import type { Static } from 'typebox'
import type { EventKind } from '../../shared/events/kind.ts'
import type * as libvirt from '../../shared/events/libvirt.ts'
import type { Policy } from './policy.ts'

export type FaultKind = keyof Policy['vm']['answer'] | 'postcopy'

/** A server was reported: it is looked at after the wait. */
export interface Report {
  about: 'server'
  server: string
  name: string
  kind: FaultKind
  /** as stopped/failed */
  event: string
  atMs: number
  waitMs: number
  storage?: string
  trace: string | undefined
}

export type Heard =
  | Report
  /** no fault, only a count of one (HA-15, HA-16) */
  | (Omit<Report, 'about' | 'waitMs'> & { about: 'count' })
  | { about: 'host'; kind: 'MemoryFailing'; fatal: boolean; atMs: number }
  | { about: 'host'; kind: 'ShutdownRequested' | 'ShutdownCancelled'; bootId: string; atMs: number }
  | { about: 'host'; kind: 'KernelCrashed'; atMs: number }

export type Lifecycle = Static<typeof libvirt.domainStopped.data>
export interface About {
  server: string
  name: string
  at: string
}

export interface Row<D = never> {
  kind: EventKind
  /** which of the events of this type, for people */
  when: string
  vm: string
  host: string
  /** undefined: another row's */
  hear(data: D, trace: string | undefined, policy: Policy): readonly Heard[] | undefined
}

export const row = <D>(given: Row<D>): Row => given
export const check = (kind: FaultKind, event: string, data: About, waitSeconds: number, trace: string | undefined): Report => ({
  about: 'server',
  server: data.server,
  name: data.name,
  kind,
  event,
  atMs: Date.parse(data.at),
  waitMs: waitSeconds * 1000,
  trace
})

/** One row for each way in which a domain's life can change: `details` as libvirt names them. */
export const life = (
  kind: EventKind,
  details: readonly string[],
  given: Pick<Row, 'vm' | 'host'> & { is: FaultKind; wait?: (policy: Policy) => number; cause?: readonly (string | undefined)[] }
): Row =>
  row<Lifecycle>({
    kind,
    when: `${details.join(', ')}${given.cause ? ` (${given.cause.map(cause => cause ?? 'cause not known').join(', ')})` : ''}`,
    vm: given.vm,
    host: given.host,
    hear(data, trace, policy) {
      const event = `${data.event}/${data.detail}`
      if (!details.includes(event) || (given.cause && !given.cause.includes(data.cause))) return undefined
      const wait = given.wait?.(policy) ?? policy.vm.check.waitSeconds
      return [check(given.is, event, data, wait, trace)]
    }
  })

export const counted = (
  kind: FaultKind,
  data: About & { action: string },
  trace: string | undefined
): Heard & { about: 'count' } => ({
  about: 'count',
  server: data.server,
  name: data.name,
  kind,
  event: `${kind}/${data.action}`,
  atMs: Date.parse(data.at),
  trace
})

export const diskWords = ({ device, action, reason }: { device: string; action: string; reason: string }): string =>
  ['disk', device || 'unknown device', action, reason].filter(Boolean).join('/')

export const resetByWatchdog = 'watchdog/reset'

/** The domain runs all the while, only its guest begins anew. */
export const isReboot = ({ kind, event }: { kind: string; event?: string | undefined }): boolean =>
  kind === 'rebooted' || event === resetByWatchdog
