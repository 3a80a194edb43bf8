// What the OVSNode means for its host (OV-51, OV-53, OV-55). Pure.
import { findCondition, type Verdict } from '../../shared/kube/conditions.ts'
import type { OVSNode } from '../../shared/schema/ovs-node.ts'

const defaultHeartbeatSeconds = 30

/** An agent says at each heartbeat that it still looks; after three of them and ten seconds its word is not trusted. */
export function isSilent(ovsNode: OVSNode | undefined, now: Date): boolean {
  const { observedAt, heartbeatSeconds = defaultHeartbeatSeconds } = ovsNode?.status ?? {}
  return observedAt !== undefined && now.getTime() - Date.parse(observedAt) > (3 * heartbeatSeconds + 10) * 1000
}

/** A degraded network is a warning; one that is down carries no traffic. */
const outages: ReadonlyArray<[type: string, reason?: string]> = [
  ['OVSDBConnected'],
  ['VswitchdResponsive'],
  ['AllBondsHealthy', 'BondDown'],
  ['AllBridgesHealthy', 'BridgeMissing'],
  ['FlowsCurrent', 'FlowsWiped']
]

/** Undefined while nobody reports: a fact that nobody tells holds nothing up (HV-3). */
export function networkVerdict(ovsNode: OVSNode | undefined, now: Date): Verdict | undefined {
  const type = 'NetworkHealthy'
  const ready = findCondition(ovsNode, 'Ready')
  if (!ready) return undefined
  if (isSilent(ovsNode, now))
    return {
      type,
      status: 'Unknown',
      reason: 'AgentSilent',
      message: `The OVS agent was last heard at ${ovsNode?.status?.observedAt}.`
    }
  const outage = outages
    .map(([condition, reason]) => ({ found: findCondition(ovsNode, condition), reason }))
    .find(({ found, reason }) => found?.status === 'False' && (reason === undefined || found.reason === reason))?.found
  const because = ({ reason = '', message = '' }: { reason?: string; message?: string }) => `${reason}: ${message}`
  if (outage) return { type, status: 'False', reason: 'NetworkDown', message: because(outage) }
  if (ready.status === 'True') return { type, status: 'True', reason: 'AllHealthy', message: 'Open vSwitch and OVN work.' }
  if (ready.status === 'False') return { type, status: 'False', reason: 'NetworkDegraded', message: because(ready) }
  return { type, status: 'Unknown', reason: 'NotKnown', message: because(ready) }
}

/** OV-53: what a dead agent left must not read healthy. Undefined when that was said already. */
export function silencedReady(ovsNode: OVSNode | undefined, now: Date): Verdict | undefined {
  if (!isSilent(ovsNode, now) || findCondition(ovsNode, 'Ready')?.reason === 'AgentSilent') return undefined
  const message = `The agent was last heard at ${ovsNode?.status?.observedAt}; what it said is no longer trusted.`
  return { type: 'Ready', status: 'Unknown', reason: 'AgentSilent', message }
}
