// Reboot, clock, sleep
import { type Domain, readDomain } from '../domain.ts'
import type { EventRow } from './event.ts'

// 1, message 319 DOMAIN_EVENT_CALLBACK_REBOOT: domain
export const reboot: EventRow<{ domain: Domain }> = { id: 1, number: 319, decode: r => ({ domain: readDomain(r) }) }

// 2, message 320 DOMAIN_EVENT_CALLBACK_RTC_CHANGE: domain, hyper seconds from UTC
export const rtcChange: EventRow<{ domain: Domain; offsetSeconds: bigint }> = {
  id: 2,
  number: 320,
  decode: r => ({ domain: readDomain(r), offsetSeconds: r.hyper() })
}

export interface PowerManagement {
  readonly domain: Domain
  readonly reason: number
}

const sleep = (id: number, number: number): EventRow<PowerManagement> => ({
  id,
  number,
  decode: r => {
    const reason = r.int() // stands before the domain here
    return { domain: readDomain(r), reason }
  }
})

// 11, 12, 14, messages 329, 330, 332 DOMAIN_EVENT_CALLBACK_PMWAKEUP, PMSUSPEND, PMSUSPEND_DISK: int reason, domain
export const pmWakeup = sleep(11, 329)
export const pmSuspend = sleep(12, 330)
export const pmSuspendDisk = sleep(14, 332)
