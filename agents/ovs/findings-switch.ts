// What is wrong with bonds, cards and bridges. Pure.
import type { Bond } from './bonds.ts'
import { type Finding, finding } from './finding.ts'
import type { Health } from './findings.ts'
import type { Observed } from './observed.ts'

export function bondFindings({ bonds, physical }: Health): Finding[] {
  const members = bonds.flatMap(bond =>
    bond.members
      .filter(({ usable }) => !usable)
      .map(({ name, reason }) => {
        const type = reason === 'LacpNotCurrent' || reason === 'NotInAggregator' ? 'LacpNotCurrent' : 'BondMemberDown'
        return finding(type, `${bond.name}/${name}`, memberMessage(bond, name, reason), {
          reason: reason ?? 'LinkDown',
          evidence: {
            bond: bond.name,
            activeMembers: `${bond.activeMembers} of ${bond.expectedMembers}`,
            ...(bond.lacp && { lacp: bond.lacp }),
            ...(bond.lacpTime && { 'lacp-time': bond.lacpTime }), // OV-32: slow timers tell late
            ...(bond.activeMember && { activeMember: bond.activeMember })
          }
        })
      })
  )
  const down = bonds
    .filter(({ status }) => status === 'Down')
    .map(bond =>
      finding(
        'BondDown',
        bond.name,
        bond.kind
          ? `Bond ${bond.name} has no usable member of ${bond.expectedMembers}. Check the links and the switch ports.`
          : `Bond ${bond.name} is expected and does not exist. Create it, or take it out of spec.expected.bonds.`,
        {
          reason: bond.kind ? 'NoUsableMember' : 'Missing',
          evidence: {
            members: bond.members.map(({ name, reason }) => `${name}=${reason ?? 'usable'}`).join(','),
            ...(bond.bridge && { bridge: bond.bridge })
          }
        }
      )
    )
  const errors = physical
    .filter(({ status, bond }) => (status === 'Error' || status === 'Missing') && bond === undefined)
    .map(({ name, status, row }) =>
      finding(
        'InterfaceError',
        name,
        `Interface ${name} is ${status}: ${row?.error || 'its device is gone'}. Re-add the port when the device is back.`
      )
    )
  return [...members, ...down, ...errors]
}

function memberMessage({ name: bond, lacp }: Bond, member: string, reason: string | undefined): string {
  switch (reason) {
    case 'Missing':
      // OV-36
      return `Member ${member} of ${bond} has no device. A device that was removed and made again does not heal: delete the port and add it anew.`
    case 'AdminDown':
      return `Member ${member} of ${bond} was set down, expected up. Set the link up, or take it out of the bond.`
    case 'LacpNotCurrent':
      return `Member ${member} of ${bond} hears no LACP partner (lacp ${lacp ?? 'on'}), expected current. Check the switch port's LACP configuration.`
    case 'NotInAggregator':
      return `Member ${member} of ${bond} is not in the active aggregator. Check that all links lead to the same switch.`
    default:
      return `Member ${member} of ${bond} has no link, expected up. Check cable, transceiver and switch port.`
  }
}

export function bridgeFindings({ bridges, model }: Health, { flows }: Observed): Finding[] {
  const missing = bridges
    .filter(({ status }) => status === 'Missing')
    .map(({ name }) =>
      finding(
        'BridgeMissing',
        name,
        `Bridge ${name} is expected and does not exist. Create it, or take it out of spec.expected.bridges.`
      )
    )
  const degraded = bridges
    .filter(({ status }) => status === 'Degraded')
    .map(({ name, reason }) => finding('BridgeDegraded', name, `Bridge ${name}: ${reason}. Correct its configuration.`))
  const peers = bridges.flatMap(({ name, missingPeers }) =>
    missingPeers.map(port =>
      finding('PatchPeerMissing', port, `Patch port ${port} of ${name} has no peer. Create the other end or remove it.`)
    )
  )
  const present = new Set(model.bridges.map(({ name }) => name))
  const unresolved = model.ovn.mappings
    .filter(({ bridge }) => !present.has(bridge))
    .map(({ physicalNetwork, bridge }) =>
      finding(
        'MappingUnresolved',
        physicalNetwork,
        `ovn-bridge-mappings maps ${physicalNetwork} to ${bridge}, which does not exist. Create the bridge or correct the mapping.`
      )
    )
  const silent = [...flows]
    .filter(([name, { unavailable }]) => unavailable && present.has(name))
    .map(([name]) =>
      finding(
        'ProtocolUnavailable',
        name,
        `Bridge ${name} takes no OpenFlow 1.3, so its flows are not counted. Add OpenFlow13 to its protocols.`
      )
    )
  return [...missing, ...degraded, ...peers, ...unresolved, ...silent]
}
