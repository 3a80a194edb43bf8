// What one pass sees, and what the status remembers of each server. Types only.
import type { ComputeService, Migration as MoveRecord, Server } from 'openstack-sdk-lite'
import type { Eviction } from '../../shared/schema/eviction.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Policy } from './classify.ts'

export type Status = NonNullable<Eviction['status']>
export type Entry = NonNullable<Status['instances']>[number]
export type Check = NonNullable<Status['preflight']>[number]
export type Incoming = NonNullable<Status['incoming']>[number]
export type Verdict = NonNullable<Status['verdict']>

/** Another open Eviction: what it has in flight counts against the limits that all share. */
export interface Peer {
  name: string
  hypervisor: string
  mode: 'drain' | 'evacuate'
  created: string
  zone: string | undefined
  /** the destination of each move in flight; undefined while Nova has not chosen */
  destinations: readonly (string | undefined)[]
}

export interface Seen {
  eviction: Eviction
  hypervisor: Hypervisor | undefined
  peers: readonly Peer[]
  /** Nova's name of the host; undefined when Nova does not know it */
  host: string | undefined
  service: ComputeService | undefined
  /** services that might be this host by their name, when none is for sure */
  alike: readonly string[]
  /** hosts that may take servers: up, enabled, in the zone, allowed by the spec */
  targets: readonly string[]
  /** on the host, complete over all pages */
  servers: readonly Server[]
  /** with the host as source or target, but for the dead ones */
  records: readonly MoveRecord[]
  /** EV-12a: open for ever, and no move */
  dead: readonly MoveRecord[]
  /** servers that are no longer on the host, read one by one; undefined: 404 */
  left: ReadonlyMap<string, Server | undefined>
  /** Nova's words on failed records, by record */
  words: ReadonlyMap<number, string>
  /** where servers would fit; undefined when nobody asked */
  capacity?: Capacity
  /** moves to this host that are nearly done, by record: they end sooner than they are given up (EV-5) */
  nearlyDone: ReadonlySet<number>
  /** servers whose copy does not get closer to its end (EV-18) */
  stalled: ReadonlySet<string>
  /** EV-26: bytes that moves copied, by server, where an agent told */
  copied: ReadonlyMap<string, number>
  /** how many moves Nova was seen to run at a time from this host while others queued */
  novaLimit: number | undefined
}

export interface Capacity {
  /** hosts that could take it now, by server, for those that were asked about */
  candidates: ReadonlyMap<string, readonly string[]>
  needMiB: number
  /** of Ready hosts of the zone; undefined when they do not say */
  freeMiB: number | undefined
}

export interface Options {
  maxParallel: number
  maxAttempts: number
  timeoutPerInstanceMs: number
  destinationLimit: number
  zoneLimit: number
  regionLimit: number
  /** `TRAIT=N`: at most N moves at a time from a host with this trait */
  traitLimits: readonly string[]
  /** the key of the servers' metadata that holds their priority: a number, or high, normal, low */
  priorityKey: string
  settleGapMs: number
  settleLimitMs: number
  verifyGapMs: number
  hostMissingMs: number
  heartbeatStaleMs: number
  policy: Policy
}

/** What may be asked of Nova in one pass. */
export type Call =
  | { do: 'disable' }
  | { do: 'enable' }
  | { do: 'live' | 'cold' | 'evacuate'; server: string; target?: string; probe?: Probe }
  | { do: 'confirm' | 'offload' | 'reset' | 'resume' | 'suspend'; server: string }
  | { do: 'abort' | 'force'; server: string; record: number; why: 'Incoming' | 'TimedOut' | 'Cancelled' }

/** A server for which Nova found no host: Placement is asked first whether there is one now. */
export interface Probe {
  vcpus: number
  ramMiB: number
  traits: string[]
}

/** Refused: of this server alone, and maybe for good; Transient: an outage. */
export type Refusal = 'Transient' | 'Refused' | 'NoCapacity' | 'NotMigratable' | 'Denied' | 'Gone'
export type Outcome = { ok: true } | { ok: false; kind: Refusal; message: string; maybeDone: boolean }
