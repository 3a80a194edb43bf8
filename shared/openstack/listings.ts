// Listings that all hosts of a tick share (AG-2): whoever asks within their short life gets the same answer, also while it is on its way.
import type { Aggregate, Cloud, ComputeService, Hypervisor } from 'openstack-sdk-lite'
import type { Hypervisor as HypervisorObject } from '../schema/hypervisor.ts'
import { novaHost } from './host.ts'

export interface Listings {
  hypervisors(options?: Freshness): Promise<readonly Hypervisor[]>
  services(options?: Freshness): Promise<readonly ComputeService[]>
  aggregates(options?: Freshness): Promise<readonly Aggregate[]>
  /**
   * What the answer to a write shows of one host: the listing stays true without being asked for again. Of that host alone, since
   * answers about others may come in another order than they were made.
   */
  noteMembership(aggregate: Aggregate, host: string): void
  /** After a write: the next reader asks OpenStack. */
  forget(what?: 'hypervisors' | 'services' | 'aggregates'): void
}

export interface Freshness {
  /** Ask anew, whatever is known; the answer then serves the others too. */
  fresh?: boolean
}

export interface ListingOptions {
  maxAgeMs?: number
  now?: () => number
}

export function createListings(
  cloud: Pick<Cloud, 'hypervisors' | 'services' | 'aggregates'>,
  { maxAgeMs = 10_000, now = Date.now }: ListingOptions = {}
): Listings {
  const hypervisors = shared(() => cloud.hypervisors.list(), maxAgeMs, now)
  const services = shared(() => cloud.services.list({ binary: 'nova-compute' }), maxAgeMs, now)
  const aggregates = shared(() => cloud.aggregates.list(), maxAgeMs, now)
  const all = { hypervisors, services, aggregates }
  return {
    hypervisors: options => hypervisors.get(options),
    services: options => services.get(options),
    aggregates: options => aggregates.get(options),
    noteMembership: (answer, host) =>
      aggregates.update(all =>
        all.map(known => (known.id === answer.id ? withHost(known, host, answer.hosts.includes(host)) : known))
      ),
    forget(what) {
      if (what) all[what].forget()
      else for (const listing of Object.values(all)) listing.forget()
    }
  }
}

const withHost = (aggregate: Aggregate, host: string, isMember: boolean): Aggregate => ({
  ...aggregate,
  hosts: [...aggregate.hosts.filter(name => name !== host), ...(isMember ? [host] : [])]
})

function shared<T>(fetch: () => Promise<T>, maxAgeMs: number, now: () => number) {
  let known: { answer: Promise<T>; askedMs: number } | undefined
  const keep = (answer: Promise<T>, askedMs: number): Promise<T> => {
    const kept = { answer, askedMs }
    known = kept
    // a failure is told to those who waited for it, and asked again by the next
    answer.catch(() => {
      if (known === kept) known = undefined
    })
    return answer
  }
  return {
    get({ fresh = false }: Freshness = {}): Promise<T> {
      if (known && !fresh && now() - known.askedMs < maxAgeMs) return known.answer
      return keep(fetch(), now())
    },
    /** Also when it is still on its way: the answer may be from before the write. */
    update(change: (value: T) => T): void {
      if (known) void keep(known.answer.then(change), known.askedMs)
    },
    forget(): void {
      known = undefined
    }
  }
}

/** HV-29: the name by which Nova places servers: as it was recorded, or as the listing shows it for the stored id. */
export async function resolveHost(
  hypervisor: HypervisorObject,
  listings: Pick<Listings, 'hypervisors'>
): Promise<string | undefined> {
  const recorded = novaHost(hypervisor)
  if (recorded) return recorded
  const { hypervisorId } = hypervisor.status ?? {}
  return (await listings.hypervisors()).find(({ id }) => id === hypervisorId)?.service.host
}
