import { Type } from 'typebox'
import { event, type EventKind } from './kind.ts'

// Facts of the OVS agent (spec/ovs.md §4). A raise and its clear share `detectedAt`, so that a reader can pair them.
const data = Type.Object({
  node: Type.String({ minLength: 1 }),
  object: Type.String({ minLength: 1 }),
  before: Type.Optional(Type.String()),
  after: Type.Optional(Type.String()),
  reason: Type.String(),
  detectedAt: Type.String({ format: 'date-time' }),
  evidence: Type.Record(Type.String(), Type.String())
})

const fact = (noun: string, summary: string, reactedBy: readonly string[] = ['ha']): EventKind<typeof data> =>
  event({ type: `io.c5c3.ovs.${noun}.v1`, data, source: '/ovs-agent/<node>', emittedBy: 'agents/ovs', reactedBy, summary })

export const bondMemberLost = fact('bond-member.lost', 'a member of a bond is no longer usable')
export const bondMemberRestored = fact('bond-member.restored', 'a member of a bond is usable again')
export const bondLost = fact('bond.lost', 'a bond has no usable member')
export const bondRestored = fact('bond.restored', 'a bond has a usable member again')
export const bridgeLost = fact('bridge.lost', 'an expected bridge is absent')
export const bridgeRestored = fact('bridge.restored', 'an expected bridge is there again')
export const ovnControllerDisconnected = fact(
  'ovn-controller.disconnected',
  'ovn-controller is cut off from the southbound database'
)
export const ovnControllerReconnected = fact('ovn-controller.reconnected', 'ovn-controller is connected again')
export const portOrphaned = fact('port.orphaned', 'a port belongs to no domain and no logical port', [])
export const portReclaimed = fact('port.reclaimed', 'an orphan port was removed or is used again', [])
export const flowsOutdated = fact('flows.outdated', 'flows are frozen, lagging or wiped')
export const flowsRefreshed = fact('flows.refreshed', 'flows follow the southbound database again')
export const vswitchdLost = fact('vswitchd.lost', 'ovs-vswitchd is gone or does not answer')
export const vswitchdRestored = fact('vswitchd.restored', 'ovs-vswitchd answers again')
export const ovsdbLost = fact('ovsdb.lost', 'the switch database is gone')
export const ovsdbRestored = fact('ovsdb.restored', 'the switch database is back')
export const linkFlapped = fact('link.flapped', 'a link changed five times within a minute; silence until it is stable')
export const captureStarted = fact('capture.started', 'somebody started a packet capture', [])
export const captureEnded = fact('capture.ended', 'a packet capture ended', [])
export const ovsAgentLost = event({
  type: 'io.c5c3.ovs.agent.lost.v1',
  data,
  source: '/hypervisor',
  emittedBy: 'functions/hypervisor',
  reactedBy: ['ha'],
  summary: 'an OVS agent fell silent; what it last said is no longer trusted'
})

export const ovsKinds: readonly EventKind[] = [
  bondMemberLost,
  bondMemberRestored,
  bondLost,
  bondRestored,
  bridgeLost,
  bridgeRestored,
  ovnControllerDisconnected,
  ovnControllerReconnected,
  portOrphaned,
  portReclaimed,
  flowsOutdated,
  flowsRefreshed,
  vswitchdLost,
  vswitchdRestored,
  ovsdbLost,
  ovsdbRestored,
  linkFlapped,
  captureStarted,
  captureEnded,
  ovsAgentLost
]
