// HV-4: a CRD of the operator before us refuses what Drover adds to the status. The compatible fields are written; the rest is remembered by the
// process and begins anew with the next one, which costs a second look and nothing else: Nova is the truth.
import { LRUCache } from 'lru-cache'
import type { Eviction } from '../../shared/schema/eviction.ts'
import type { Status } from './seen.ts'

export interface OlderCrd {
  /** as it would be with every field */
  recall(eviction: Eviction): Eviction
  /** what may be written of it; all of it is remembered */
  keep(eviction: Eviction, status: Status): Status
}

export function olderCrd(): OlderCrd {
  const known = new LRUCache<string, Status>({ max: 1000 })
  const keyOf = ({ metadata: { uid, name } }: Eviction): string => uid ?? name
  return {
    recall(eviction) {
      const remembered = known.get(keyOf(eviction))
      return remembered ? { ...eviction, status: remembered } : eviction
    },
    keep(eviction, status) {
      known.set(keyOf(eviction), status)
      const { hypervisorServiceId, outstandingRamMb = 0, outstandingInstances, conditions } = status
      return {
        outstandingRamMb,
        ...(hypervisorServiceId && { hypervisorServiceId }),
        ...(outstandingInstances && { outstandingInstances }),
        ...(conditions && { conditions })
      }
    }
  }
}
