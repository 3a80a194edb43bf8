// What one look at a host sees, and what the status remembers. Types only.
import type { ActionStep, ComputeService, InstanceAction, Server } from 'openstack-sdk-lite'
import type { Eviction } from '../../shared/schema/eviction.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { OVSNode } from '../../shared/schema/ovs-node.ts'
import type { Fleet } from './fleet.ts'
import type { Mode, Policy } from './policy.ts'
import type { Heard } from './heard.ts'

export type Status = NonNullable<Hypervisor['status']>
export type Ha = NonNullable<Status['ha']>
export type Incident = NonNullable<Ha['incidents']>[number]
export type Attempt = NonNullable<Incident['attempts']>[number]
export type Signal = NonNullable<Ha['signals']>[number]
export type Decision = NonNullable<Ha['history']>[number]
export type Domain = NonNullable<Status['instances']>[number]

/** What Nova says of one server. */
export interface Evidence {
  /** undefined: Nova knows none of this id */
  server: Server | undefined
  actions: readonly InstanceAction[]
  /** of actions that began long before and may be under way still, by request id */
  steps: ReadonlyMap<string, readonly ActionStep[]>
}

/** Of the Node, as far as it matters here. */
export interface NodeView {
  ready: boolean | undefined
  since: string | undefined
  pressure: { type: string; since: string } | undefined
}

/** The objects of a host. */
export interface Parts {
  hypervisor: Hypervisor
  ovsNode: OVSNode | undefined
  node: NodeView | undefined
  /** the drain that was asked for here */
  eviction: Eviction | undefined
}

export interface Seen extends Parts {
  /** what events told since the last look, in the order they came */
  heard: readonly Heard[]
  /** whether Nova was asked at all */
  nova: boolean
  /** when the look began: what others did later is not in it */
  askedMs: number
  /** by server, of those that were asked about; why Nova could not be asked otherwise */
  evidence: ReadonlyMap<string, Evidence>
  outage: string | undefined
  /** undefined: not asked for, or Nova has none */
  service: ComputeService | undefined
  fleet: Fleet
  policy: Policy
  /** HV-8 */
  observed: boolean
}

export type Modes = Record<'vm' | 'signals', Mode>

export type Call =
  | { do: 'restart' | 'move' | 'start' | 'confirm'; server: string; decisionId: string; trace: string | undefined; atMs: number }
  | { do: 'disable'; reason: string }
  | { do: 'enable' }
  | { do: 'drain'; name: string; reason: string }
  | { do: 'stop-drain'; name: string; over: boolean }

/** What is told beside the status. */
export interface News {
  event?: { kind: 'recovered' | 'blocked'; server: string }
  type: 'Normal' | 'Warning'
  reason: string
  note: string
  decision?: Decision
  trace?: string | undefined
}
