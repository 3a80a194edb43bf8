// What is wrong with OVN on this node: its controller, its flows, its ports. Pure.
import { type Finding, finding } from './finding.ts'
import type { Health } from './findings.ts'
import { flowFaults } from './flows.ts'
import type { Observed } from './observed.ts'
import { candidates, isFlapping, orphansOf } from './orphans.ts'

export function ovnFindings({ model }: Health, observed: Observed): Finding[] {
  const found: Finding[] = []
  const { integrationBridge, remote } = model.ovn
  if (remote !== undefined && (observed.ovn === 'not-connected' || observed.ovn === 'not-running')) {
    const gone = observed.ovn === 'not-running'
    const seen = gone ? 'is not running' : `is not connected to ${remote}`
    found.push(
      finding(
        'OvnControllerDisconnected',
        'ovn-controller',
        `ovn-controller ${seen}; flows stay as they are, changes wait. Check the process and the southbound database.`,
        {
          reason: gone ? 'NotRunning' : 'Disconnected',
          evidence: { sbConnection: remote }
        }
      )
    )
  }
  for (const fault of flowFaults(model, observed)) found.push(flowFinding(integrationBridge, fault))
  for (const { port, reason, evidence } of orphansOf(model, observed)) {
    found.push(
      finding(
        'OrphanPort',
        port,
        `Port ${port} of ${integrationBridge} belongs to nobody (${reason}). Check the evidence, then remove it with ovs-vsctl del-port ${port}.`,
        {
          reason,
          evidence
        }
      )
    )
  }
  for (const { port, row } of candidates(model)) {
    const id = row.external_ids.get('iface-id') ?? ''
    if (isFlapping(observed.southbound?.bindings.get(id)))
      found.push(
        finding(
          'DuplicatePortClaim',
          port.name,
          `The logical port ${id} is claimed by this chassis and another in turn. Remove it from the wrong one.`
        )
      )
  }
  return found
}

function flowFinding(bridge: string, fault: ReturnType<typeof flowFaults>[number]): Finding {
  switch (fault.kind) {
    case 'Frozen':
      return finding(
        'FlowsFrozen',
        bridge,
        `The flows of ${bridge} are frozen: ovn-controller ${fault.because === 'not-running' ? 'is not running' : 'cannot reach the southbound database'}. Traffic goes on, changes wait. Check the process and its connection.`
      )
    case 'Lagging':
      return finding(
        'FlowsLagging',
        bridge,
        `The flows of ${bridge} are ${fault.behind ?? 'some'} configurations behind the southbound database. Look at ovn-controller's load.`,
        {
          evidence: { behind: String(fault.behind ?? 'unknown') }
        }
      )
    default:
      // OV-45
      return finding(
        'FlowsWiped',
        bridge,
        `${bridge} has ${fault.flows} flows, before ${fault.before}; ovn-controller does not restore them by itself: restart it.`,
        {
          evidence: { flows: String(fault.flows), before: String(fault.before) }
        }
      )
  }
}
