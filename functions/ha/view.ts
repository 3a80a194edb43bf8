// What one server is judged from, and what comes of it. Types only.
import type { Facts } from './check.ts'
import type { Call, Decision, Incident, Modes, News } from './seen.ts'

/** Why no server of this host is restarted now: the fault may be the host's, the storage's or the fleet's. */
export interface Hold {
  kind: 'HostSuspect' | 'SeveralHosts' | 'FleetFault' | 'StorageOutage'
  words: string
}

export interface View extends Omit<Facts, 'incident'> {
  modes: Modes
  /** when Nova was asked: what it did later is not in the evidence */
  askedMs: number
  hold: Hold | undefined
  aggregates: readonly { name: string; metadata?: Record<string, string> | undefined }[]
}

export interface Judged {
  incident: Incident
  call?: Call
  decision?: Decision
  news?: News
}
