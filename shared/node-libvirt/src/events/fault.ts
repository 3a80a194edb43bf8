// What goes wrong in or under a guest
import { type Domain, readDomain } from '../domain.ts'
import { type Word, word } from '../words.ts'
import type { EventRow } from './event.ts'

export const watchdogActions = ['none', 'pause', 'reset', 'poweroff', 'shutdown', 'debug', 'inject-nmi'] as const
export const ioErrorActions = ['none', 'pause', 'report'] as const
export const recipients = ['hypervisor', 'guest'] as const
export const failureActions = ['ignore', 'inject', 'fatal', 'reset'] as const

// 3, message 321 DOMAIN_EVENT_CALLBACK_WATCHDOG: domain, int action
export const watchdog: EventRow<{ domain: Domain; action: Word<typeof watchdogActions> }> = {
  id: 3,
  number: 321,
  decode: r => ({ domain: readDomain(r), action: word(watchdogActions, r.int()) })
}

export interface IoError {
  readonly domain: Domain
  readonly path: string
  readonly device: string
  readonly action: Word<typeof ioErrorActions>
}

// 4, message 322 DOMAIN_EVENT_CALLBACK_IO_ERROR: domain, string path, string device, int action
export const ioError: EventRow<IoError> = {
  id: 4,
  number: 322,
  decode: r => ({ domain: readDomain(r), path: r.string(), device: r.string(), action: word(ioErrorActions, r.int()) })
}

// 6, message 324 DOMAIN_EVENT_CALLBACK_IO_ERROR_REASON: as 322, string reason ("enospc", or empty)
export const ioErrorReason: EventRow<IoError & { reason: string }> = {
  id: 6,
  number: 324,
  decode: r => ({ ...ioError.decode(r), reason: r.string() })
}

// 7, message 325 DOMAIN_EVENT_CALLBACK_CONTROL_ERROR: domain
export const controlError: EventRow<{ domain: Domain }> = { id: 7, number: 325, decode: r => ({ domain: readDomain(r) }) }

export interface MemoryFailure {
  readonly domain: Domain
  readonly recipient: Word<typeof recipients>
  readonly action: Word<typeof failureActions>
  readonly actionRequired: boolean
  readonly recursive: boolean
}

// 25, message 423 DOMAIN_EVENT_MEMORY_FAILURE: domain, int recipient, int action, unsigned flags
export const memoryFailure: EventRow<MemoryFailure> = {
  id: 25,
  number: 423,
  decode: r => {
    const [domain, recipient, action] = [readDomain(r), word(recipients, r.int()), word(failureActions, r.int())]
    const flags = r.uint()
    return { domain, recipient, action, actionRequired: (flags & 1) !== 0, recursive: (flags & 2) !== 0 }
  }
}
