import { type Domain, readDomain } from '../domain.ts'
import { valueOf, type Word, word } from '../words.ts'
import type { EventRow } from './event.ts'

// virDomainEventType, and for each its details
const details = {
  defined: ['added', 'updated', 'renamed', 'from-snapshot'],
  undefined: ['removed', 'renamed'],
  started: ['booted', 'migrated', 'restored', 'from-snapshot', 'wakeup'],
  suspended: [
    'paused',
    'migrated',
    'io-error',
    'watchdog',
    'restored',
    'from-snapshot',
    'api-error',
    'post-copy',
    'post-copy-failed'
  ],
  resumed: ['unpaused', 'migrated', 'from-snapshot', 'post-copy', 'post-copy-failed'],
  stopped: ['shutdown', 'destroyed', 'crashed', 'migrated', 'saved', 'failed', 'from-snapshot'],
  shutdown: ['finished', 'by-guest', 'by-host'],
  'pm-suspended': ['memory', 'disk'],
  crashed: ['panicked', 'crashloaded']
} as const

type Details = typeof details
export type LifecycleName = keyof Details

export type Lifecycle = { readonly domain: Domain } & (
  | { [Event in LifecycleName]: { readonly event: Event; readonly detail: Word<Details[Event]> } }[LifecycleName]
  | { readonly event: number; readonly detail: number }
)

const names = Object.keys(details) as LifecycleName[]

// 0, message 318 DOMAIN_EVENT_CALLBACK_LIFECYCLE: domain, int event, int detail
export const lifecycle: EventRow<Lifecycle> = {
  id: 0,
  number: 318,
  decode: r => {
    const domain = readDomain(r)
    const event = r.int()
    const detail = r.int()
    const name = names[event]
    if (name === undefined) return { domain, event, detail }
    return { domain, event: name, detail: word(details[name], detail) } as Lifecycle // the detail is of this event's list
  }
}

/** The way back: event and detail as libvirt numbers them. */
export function lifecycleNumbers({ event, detail }: Lifecycle): [event: number, detail: number] {
  if (typeof event === 'number') return [event, detail]
  return [names.indexOf(event), valueOf<readonly string[]>(details[event], detail)]
}
