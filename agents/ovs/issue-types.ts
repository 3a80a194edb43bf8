// The catalogue of what can be wrong (OV-48), and how each is told: what it is an issue of, after which time, by which events. Data only.
import type { EventKind } from '../../shared/events/kind.ts'
import * as kinds from '../../shared/events/ovs.ts'

export type Severity = 'Info' | 'Warning' | 'Critical'

/** A thing that is either well or not. Several types of issue may be about one: a member's link and its LACP partner. */
interface TopicRow {
  /** Milliseconds for which it must be seen before it is told; a word names the setting. */
  readonly raise: number | Timing
  /** … for which it must be gone before that is told. */
  readonly clear: number | Timing
  readonly events?: { readonly raise: EventKind; readonly clear: EventKind }
  /** What it is judged from: while that is not known, it neither begins nor ends (OV-28). */
  readonly from: ReadonlyArray<'switch' | 'ovn-state' | 'ovn-connected' | 'vswitchd'>
  /** Damped when it flaps (OV-27). */
  readonly link?: true
}

/** The times of spec/ovs.md §4 and §5; tests and simulators may shorten them. */
export const defaultTimings = {
  linkStableMs: 2000,
  bridgeLostMs: 3000,
  ovnLostMs: 5000,
  orphanGraceMs: 300_000,
  frozenMs: 30_000,
  laggingMs: 60_000,
  ovsdbLostMs: 3000,
  configLagMs: 30_000,
  flapWindowMs: 60_000,
  gatherMs: 20,
  livenessMs: 2000,
  flowPollMs: 5000,
  bondingPollMs: 1000,
  certificatePollMs: 30_000
}
export type Timings = Readonly<typeof defaultTimings>
type Timing = keyof Timings

// In the order in which they are told: members before their bond (OV-26).
export const topics = {
  ovsdb: { raise: 'ovsdbLostMs', clear: 0, from: [], events: { raise: kinds.ovsdbLost, clear: kinds.ovsdbRestored } },
  vswitchd: {
    raise: 0,
    clear: 'linkStableMs',
    from: ['vswitchd'],
    events: { raise: kinds.vswitchdLost, clear: kinds.vswitchdRestored }
  },
  'bond-member': {
    raise: 0,
    clear: 'linkStableMs',
    from: ['switch'],
    link: true,
    events: { raise: kinds.bondMemberLost, clear: kinds.bondMemberRestored }
  },
  bond: {
    raise: 0,
    clear: 'linkStableMs',
    from: ['switch'],
    link: true,
    events: { raise: kinds.bondLost, clear: kinds.bondRestored }
  },
  bridge: {
    raise: 'bridgeLostMs',
    clear: 0,
    from: ['switch'],
    events: { raise: kinds.bridgeLost, clear: kinds.bridgeRestored }
  },
  'ovn-controller': {
    raise: 'ovnLostMs',
    clear: 'linkStableMs',
    from: ['ovn-state'],
    events: { raise: kinds.ovnControllerDisconnected, clear: kinds.ovnControllerReconnected }
  },
  'flows-frozen': {
    raise: 'frozenMs',
    clear: 0,
    from: ['ovn-state'],
    events: { raise: kinds.flowsOutdated, clear: kinds.flowsRefreshed }
  },
  'flows-lagging': {
    raise: 'laggingMs',
    clear: 0,
    from: ['switch', 'ovn-connected'],
    events: { raise: kinds.flowsOutdated, clear: kinds.flowsRefreshed }
  },
  'flows-wiped': {
    raise: 0,
    clear: 0,
    from: ['switch', 'ovn-connected'],
    events: { raise: kinds.flowsOutdated, clear: kinds.flowsRefreshed }
  },
  port: {
    raise: 'orphanGraceMs',
    clear: 0,
    from: ['switch', 'ovn-connected'],
    events: { raise: kinds.portOrphaned, clear: kinds.portReclaimed }
  },
  claim: { raise: 0, clear: 'linkStableMs', from: ['switch', 'ovn-connected'] },
  health: { raise: 0, clear: 0, from: ['switch'] },
  config: { raise: 'configLagMs', clear: 0, from: ['switch'] },
  agent: { raise: 0, clear: 0, from: [] }
} as const satisfies Record<string, TopicRow>
export type Topic = keyof typeof topics
export const topicRow = (topic: Topic): TopicRow => topics[topic]

type IssueRow = readonly [severity: Severity, topic: Topic, well?: string, notWell?: string]

/** The severity and the topic; for what has events of its own also how it is when it is well, and when it is not. */
export const issueTypes = {
  BondMemberDown: ['Warning', 'bond-member', 'Usable', 'NotUsable'],
  BondDown: ['Critical', 'bond', 'Active', 'Down'],
  LacpNotCurrent: ['Warning', 'bond-member', 'Usable', 'NotUsable'],
  LinkFlapping: ['Warning', 'agent'],
  BridgeMissing: ['Critical', 'bridge', 'Active', 'Missing'],
  BridgeDegraded: ['Warning', 'health'],
  MappingUnresolved: ['Warning', 'health'],
  PatchPeerMissing: ['Warning', 'health'],
  InterfaceError: ['Warning', 'health'],
  OvnControllerDisconnected: ['Warning', 'ovn-controller', 'Connected', 'Disconnected'],
  OrphanPort: ['Warning', 'port', 'Accounted', 'Orphaned'],
  DuplicatePortClaim: ['Critical', 'claim'],
  FlowsFrozen: ['Warning', 'flows-frozen', 'Current', 'Frozen'],
  FlowsLagging: ['Warning', 'flows-lagging', 'Current', 'Lagging'],
  FlowsWiped: ['Critical', 'flows-wiped', 'Current', 'Wiped'],
  VswitchdLost: ['Critical', 'vswitchd', 'Responding', 'Lost'],
  OvsdbLost: ['Critical', 'ovsdb', 'Connected', 'Lost'],
  ConfigLag: ['Warning', 'config'],
  DpdkNotInitialised: ['Critical', 'health'],
  ProtocolUnavailable: ['Info', 'health'],
  CaptureLeftover: ['Info', 'agent'],
  EventQueueFull: ['Warning', 'agent']
} as const satisfies Record<string, IssueRow>
export type IssueType = keyof typeof issueTypes

export const isIssueType = (type: string | undefined): type is IssueType => type !== undefined && Object.hasOwn(issueTypes, type)
export function wordsOf(type: IssueType): { before: string; after: string } {
  const [, , before = 'well', after = 'not well']: IssueRow = issueTypes[type]
  return { before, after }
}
export const severityOf = (type: IssueType): Severity => issueTypes[type][0]

/** Issues of one topic and object are one entry, so that a member whose link falls after its partner fell silent is not told twice. */
export const topicOf = (type: IssueType): Topic => issueTypes[type][1]
const oneEach: ReadonlySet<Topic> = new Set(['health', 'agent'])
export const entryKey = (type: IssueType, object: string): string =>
  oneEach.has(topicOf(type)) ? `${type}/${object}` : `${topicOf(type)}/${object}`
