// Events the other way round: what a server writes after the callback id. Of the kinds that a simulated hypervisor tells.
import { writeDomain } from '../domain.ts'
import { eventRows, type EventKind, type EventOf } from '../events/index.ts'
import { failureActions, ioErrorActions, recipients, watchdogActions } from '../events/fault.ts'
import { agentReasons, agentStates } from '../events/guest.ts'
import { lifecycleNumbers } from '../events/lifecycle.ts'
import { writeTypedParams } from '../typed-param.ts'
import { valueOf } from '../words.ts'
import type { Writer } from '../xdr/writer.ts'

type Write<Kind extends EventKind> = (w: Writer, event: EventOf<Kind>) => unknown

function writeIoError(w: Writer, { domain, path, device, action }: EventOf<'io-error' | 'io-error-reason'>): Writer {
  return writeDomain(w, domain).string(path).string(device).int(valueOf(ioErrorActions, action))
}

const writers = {
  lifecycle: (w, event) => {
    const [number, detail] = lifecycleNumbers(event)
    return writeDomain(w, event.domain).int(number).int(detail)
  },
  reboot: (w, { domain }) => writeDomain(w, domain),
  watchdog: (w, { domain, action }) => writeDomain(w, domain).int(valueOf(watchdogActions, action)),
  'io-error': writeIoError,
  'io-error-reason': (w, event) => writeIoError(w, event).string(event.reason),
  'control-error': (w, { domain }) => writeDomain(w, domain),
  'agent-lifecycle': (w, { domain, state, reason }) =>
    writeDomain(w, domain).int(valueOf(agentStates, state)).int(valueOf(agentReasons, reason)),
  'migration-iteration': (w, { domain, iteration }) => writeDomain(w, domain).int(iteration),
  'job-completed': (w, { domain, params }) => writeTypedParams(writeDomain(w, domain), params),
  'memory-failure': (w, { domain, recipient, action, actionRequired, recursive }) =>
    writeDomain(w, domain)
      .int(valueOf(recipients, recipient))
      .int(valueOf(failureActions, action))
      .uint((actionRequired ? 1 : 0) | (recursive ? 2 : 0))
} as const satisfies { [Kind in EventKind]?: Write<Kind> }

export type ServedEventKind = keyof typeof writers
export type ServedEvent = EventOf<ServedEventKind>

export const eventIdOf = (kind: EventKind): number => eventRows[kind].id
export const messageOf = (kind: EventKind): number => eventRows[kind].number

export function writeEvent(w: Writer, callbackId: number, event: ServedEvent): void {
  const write = writers[event.kind] as (w: Writer, event: ServedEvent) => unknown // the writer is the kind's own
  write(w.int(callbackId), event)
}
