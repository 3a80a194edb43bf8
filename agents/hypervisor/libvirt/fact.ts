// What is learned from libvirt, as plain values
import type { DomainEvent } from 'node-libvirt'
import type { DomainCapabilities } from '../figures/domain-capabilities.ts'
import type { DomainFigures } from '../figures/domain.ts'
import type { HostFigures } from '../figures/host.ts'

/** What the connection tells of the host; parts that could not be read are left out and named in `unread`. */
export interface Link {
  libvirtVersion?: string
  hypervisorVersion?: string
  host?: HostFigures
  domainCapabilities?: DomainCapabilities
  unread: readonly string[]
  /** Something that this driver has could not be read. */
  failed: boolean
}

/** The state of a domain whose state could not be read. */
export const unreadable = 'unknown'

/** Whether libvirt can manage a domain: `ok`, `job`, `occupied`, or `error` and what of it. */
export interface Control {
  state: string
  details: string
}

export interface DomainRead {
  id: string
  name: string
  state: string
  reason: string
  /** Only of a domain that libvirt once could not manage. */
  control?: Control
  /** Left out when the XML could not be read or made no sense. */
  figures?: DomainFigures
}

/** How a move stands: figures by the names of Migration.status.stats, and its phase. */
export type Stats = Record<string, number | string | boolean>
export type MoveResult = 'success' | 'failed' | 'cancelled'

export type Fact =
  | { kind: 'connected'; epoch: number; link: Link }
  /** The host, read again. */
  | { kind: 'link'; epoch: number; link: Link }
  | { kind: 'unreachable'; reason: 'ConnectFailed' | 'LibVirtServiceNotRunning' | 'ProcessFailed'; message: string }
  | { kind: 'lost'; epoch: number; message: string }
  /** Complete. Of those in `except` an event came while it was made: what follows the event counts. */
  | { kind: 'snapshot'; epoch: number; domains: readonly DomainRead[]; except?: ReadonlySet<string> }
  /** Read again after an event; undefined: it is gone. */
  | { kind: 'domain'; epoch: number; id: string; read: DomainRead | undefined }
  | { kind: 'event'; epoch: number; at: Date; event: DomainEvent }
  | { kind: 'overflow'; epoch: number; dropped: number }
  | { kind: 'moving'; epoch: number; at: Date; id: string; name: string; incoming: boolean; stats: Stats }
  | { kind: 'moved'; epoch: number; at: Date; id: string; name: string; incoming: boolean; stats: Stats; result: MoveResult }
