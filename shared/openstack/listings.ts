// Listings that all hosts of a tick share (AG-2): whoever asks within their short life gets the same answer, also while it is on its way.
import type { Aggregate, Cloud, ComputeService, Hypervisor } from 'openstack-sdk-lite'

export interface Listings {
  hypervisors(options?: Freshness): Promise<readonly Hypervisor[]>
  services(options?: Freshness): Promise<readonly ComputeService[]>
  aggregates(options?: Freshness): Promise<readonly Aggregate[]>
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
    forget(what) {
      if (what) all[what].forget()
      else for (const listing of Object.values(all)) listing.forget()
    }
  }
}

function shared<T>(fetch: () => Promise<T>, maxAgeMs: number, now: () => number) {
  let known: { answer: Promise<T>; askedMs: number } | undefined
  return {
    get({ fresh = false }: Freshness = {}): Promise<T> {
      if (known && !fresh && now() - known.askedMs < maxAgeMs) return known.answer
      const asked = { answer: fetch(), askedMs: now() }
      known = asked
      // a failure is told to those who waited for it, and asked again by the next
      asked.answer.catch(() => {
        if (known === asked) known = undefined
      })
      return asked.answer
    },
    forget(): void {
      known = undefined
    }
  }
}
