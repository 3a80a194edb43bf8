// What the tests against the real libvirtd share
import { EventEmitter, once } from 'node:events'
import type { Test } from 'tap'
import {
  connect,
  type ConnectOptions,
  type Domain,
  type DomainEvent,
  type EventKind,
  type EventOf,
  type Libvirt,
  procedures
} from 'node-libvirt'
import { prepare } from '../servers/libvirt.ts'
import { guestXml, type GuestOptions } from '../servers/libvirt/guest.ts'

export async function libvirtNeeded(): Promise<void> {
  const prepared = await prepare()
  if (!prepared.ok) throw new Error(`no real libvirtd here: ${prepared.reason}`)
}

export async function open(t: Test, uri: string, options?: ConnectOptions): Promise<Libvirt> {
  const virt = await connect(uri, options)
  t.teardown(() => virt.close())
  return virt
}

/** A transient guest that is there until the lab ends. */
export function create(virt: Libvirt, name: string, options: GuestOptions & { flags?: number } = {}): Promise<Domain> {
  const { flags = 0, ...guest } = options
  return virt.call(procedures.domainCreateXml, { xml: guestXml(name, guest), flags })
}

/** Collects from now on; `seen` waits for an event of the kind that fits, those of the past included. */
export async function listen(virt: Libvirt) {
  const events: DomainEvent[] = []
  const arrivals = new EventEmitter()
  const subscription = await virt.subscribe()

  async function collect(): Promise<void> {
    for await (const event of subscription) {
      if (event.kind === 'overflow' || event.kind === 'undecodable')
        throw new Error(`an event was lost: ${JSON.stringify(event)}`)
      events.push(event)
      arrivals.emit('event')
    }
  }
  collect().catch(err => arrivals.emit('error', err))
  arrivals.on('error', () => {}) // a lost connection is for those who wait in `seen`

  async function seen<Kind extends EventKind>(
    kind: Kind,
    name: string,
    fits: (event: EventOf<Kind>) => boolean = () => true
  ): Promise<EventOf<Kind>> {
    const signal = AbortSignal.timeout(20_000)
    const isIt = (event: DomainEvent) => event.kind === kind && event.domain.name === name && fits(event as EventOf<Kind>)
    while (true) {
      const found = events.find(isIt)
      if (found) return found as EventOf<Kind>
      try {
        await once(arrivals, 'event', { signal })
      } catch (cause) {
        throw new Error(`no ${kind} of ${name}; seen: ${summary(events)}`, { cause })
      }
    }
  }
  return { events, seen }
}

const summary = (events: readonly DomainEvent[]) =>
  events
    .map(event => `${event.domain.name} ${event.kind === 'lifecycle' ? `${event.event}/${event.detail}` : event.kind}`)
    .join(', ')
