// Everything that is known at one moment, as plain values. Each source adds its own part; a part that was not obtained is absent.
import type { FlowTrend } from './flows.ts'
import type { KernelBond } from './wire/bonding.ts'
import type { Lookups } from './wire/lookups.ts'
import type { SwitchTables } from './tables.ts'

/** `unasked` until the first answer; `unknown` when there is no way to ask. */
export type DaemonState = 'unasked' | 'responding' | 'not-running' | 'not-responding' | 'unknown'
export type OvnState = 'unasked' | 'connected' | 'not-connected' | 'not-running' | 'unknown'

export interface BridgeFlows {
  readonly total?: number
  readonly perTable?: ReadonlyArray<{ readonly table: number; readonly flows: number }>
  /** The bridge speaks no OpenFlow 1.3 (OV-23). */
  readonly unavailable?: true
}

export type Counters = ReadonlyMap<string, bigint>

/** One port of the southbound database, by its logical name. */
export interface Binding {
  readonly chassis: 'this' | 'other' | 'none'
  /** This chassis is, or is asked to be, a second home of the port while it moves (OV-42). */
  readonly moving: boolean
  /** How often the chassis changed within the last ten seconds (OV-43). */
  readonly claims: number
}

export interface Southbound {
  readonly nbCfg: bigint
  readonly bindings: ReadonlyMap<string, Binding>
}

/** The domains of this node, from its Hypervisor's status. */
export interface Inventory {
  readonly domains: ReadonlySet<string>
  /** Domains that are on the move, or paused. */
  readonly moving: ReadonlySet<string>
  readonly fresh: boolean
}

export interface Expected {
  readonly bridges?: ReadonlyArray<{
    readonly name: string
    readonly datapathType?: string
    readonly failMode?: string
    readonly optional?: boolean
  }>
  readonly bonds?: ReadonlyArray<{ readonly name: string; readonly members?: number }>
}

export interface Observed {
  readonly ovsdb: 'starting' | 'connected' | 'lost' | 'schema-unsupported'
  /** The rows, while ovsdb-server is connected. */
  readonly tables?: SwitchTables | undefined
  readonly vswitchd: DaemonState
  readonly ovn: OvnState
  readonly ovsdVersion?: string | undefined
  readonly flows: ReadonlyMap<string, BridgeFlows>
  /** Of the integration bridge. */
  readonly flowTrend?: FlowTrend | undefined
  /** Kernel bonds by name; undefined: the file could not be read. Absent until the kernel was asked. */
  readonly kernelBonds?: ReadonlyMap<string, KernelBond | undefined> | undefined
  readonly statistics?: ReadonlyMap<string, Counters> | undefined
  /** By datapath. */
  readonly lookups?: ReadonlyMap<string, Lookups> | undefined
  /** Undefined without access. */
  readonly southbound?: Southbound | undefined
  readonly inventory?: Inventory | undefined
  readonly expected: Expected
  readonly eventQueue: { readonly size: number; readonly dropped: number }
  /** Captures of an earlier life that were found and removed. */
  readonly leftovers: readonly string[]
  /** The last turn of the heartbeat, and whether the database answered in it (OV-54). */
  readonly heartbeat?: { readonly at: number; readonly answered: boolean } | undefined
}

export const nothingYet: Observed = {
  ovsdb: 'starting',
  vswitchd: 'unasked',
  ovn: 'unasked',
  flows: new Map(),
  expected: {},
  eventQueue: { size: 0, dropped: 0 },
  leftovers: []
}

export type Fact = Partial<Observed>
