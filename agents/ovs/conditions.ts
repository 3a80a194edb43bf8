// The conditions of an OVSNode (spec/ovs.md §6). Pure.
import type { Verdict } from '../../shared/kube/conditions.ts'
import type { Health } from './findings.ts'
import type { IssueType } from './issue-types.ts'
import type { Ledger } from './ledger.ts'
import type { Observed } from './observed.ts'
import type { SwitchTables } from './tables.ts'

type Say = Omit<Verdict, 'type'>
const yes = (reason: string, message: string): Say => ({ status: 'True', reason, message })
const no = (reason: string, message: string): Say => ({ status: 'False', reason, message })
const unknown = (reason: string, message: string): Say => ({ status: 'Unknown', reason, message })
const about = (type: string, say: Say): Verdict => ({ type, ...say })
const sourceLost = unknown('SourceLost', 'Open vSwitch cannot be asked.')

/** Whether what the switch says of itself can be trusted now (OV-28). */
export const switchKnown = ({ ovsdb, vswitchd, tables }: Observed): boolean =>
  ovsdb === 'connected' && (vswitchd === 'responding' || vswitchd === 'unknown') && tables !== undefined && isFilled(tables)

/** The state of links is not stored: a database that was restarted has none until ovs-vswitchd writes it anew, all at once. */
function isFilled({ Interface }: SwitchTables): boolean {
  const working = [...Interface.values()].filter(({ ofport }) => ofport !== undefined && ofport > 0)
  return working.length === 0 || working.some(({ link_state }) => link_state !== undefined)
}

export function conditionsOf(observed: Observed, health: Health | undefined, ledger: Ledger): Verdict[] {
  const known = switchKnown(observed) ? health : undefined
  const said: Array<[type: string, say: Say]> = [
    ['OVSDBConnected', ovsdbConnected(observed, ledger)],
    ['VswitchdResponsive', vswitchdResponsive(observed, ledger)],
    ['OVNControllerConnected', ovnConnected(observed, health)],
    ['AllBridgesHealthy', known ? bridgesHealthy(known) : sourceLost],
    ['AllBondsHealthy', known ? bondsHealthy(known) : sourceLost]
  ]
  const flows = known ? flowsCurrent(ledger) : sourceLost
  const ports = known ? portsAccounted(observed, ledger) : unknown('InventoryUnavailable', 'The ports are not known.')
  const says = said.map(([, say]) => say)
  return [
    about('Ready', ready(flows.reason === 'FlowsWiped' ? [...says, flows] : says)),
    ...said.map(([type, say]) => about(type, say)),
    about('FlowsCurrent', flows),
    about('PortsAccounted', ports)
  ]
}

/** OV-50. What is known to be wrong counts before what is not known. */
function ready(rows: readonly Say[]): Say {
  const counting = rows.filter(({ reason }) => reason !== 'NotUsed')
  const failing = counting.find(({ status }) => status === 'False') ?? counting.find(({ status }) => status === 'Unknown')
  return failing ?? yes('AllHealthy', 'Open vSwitch and OVN work.')
}

function ovsdbConnected({ ovsdb }: Observed, ledger: Ledger): Say {
  if (ovsdb === 'connected') return yes('Connected', 'The database answers.')
  // an agent that has only just started has lost nothing: its host would be called down at each of its starts
  if (ovsdb === 'starting' && raised(ledger, 'OvsdbLost').length === 0)
    return unknown('SourceLost', 'The database was not asked yet.')
  if (ovsdb === 'schema-unsupported') return no('SchemaUnsupported', 'The database has a schema that this agent does not know.')
  return no('ConnectionLost', 'The database cannot be reached.')
}

function vswitchdResponsive({ vswitchd, ovsdb }: Observed, ledger: Ledger): Say {
  if (vswitchd === 'not-running') return no('NotRunning', 'ovs-vswitchd is not running.')
  if (vswitchd === 'not-responding') return no('NotResponding', 'ovs-vswitchd does not answer.')
  if (vswitchd !== 'responding') return unknown('SourceLost', 'ovs-vswitchd cannot be asked.')
  const lag = ovsdb === 'connected' && raised(ledger, 'ConfigLag')[0]
  return lag ? no('ConfigLag', lag.message) : yes('Responding', 'ovs-vswitchd answers.')
}

function ovnConnected({ ovn }: Observed, health: Health | undefined): Say {
  if (health && health.model.ovn.remote === undefined) return unknown('NotUsed', 'No ovn-remote is configured.')
  switch (ovn) {
    case 'connected':
      return yes('Connected', 'ovn-controller reaches the southbound database.')
    case 'not-connected':
      return no('Disconnected', 'ovn-controller does not reach the southbound database.')
    case 'not-running':
      return no('NotRunning', 'ovn-controller is not running.')
    default:
      return unknown('SocketMissing', "ovn-controller's control socket cannot be reached.")
  }
}

function bridgesHealthy({ bridges }: Health): Say {
  const named = (status: string) => bridges.filter(bridge => bridge.status === status).map(({ name }) => name)
  const [missing, degraded] = [named('Missing'), named('Degraded')]
  if (missing.length > 0) return no('BridgeMissing', `Missing: ${missing.join(', ')}.`)
  if (degraded.length > 0) return no('BridgeDegraded', `Degraded: ${degraded.join(', ')}.`)
  return yes('AllActive', 'All expected bridges are active.')
}

function bondsHealthy({ bonds }: Health): Say {
  if (bonds.length === 0) return yes('NoBonds', 'There are no bonds.')
  const list = (status: string) =>
    bonds
      .filter(bond => bond.status === status)
      .map(({ name, activeMembers, expectedMembers }) => `${name} ${activeMembers}/${expectedMembers}`)
  const [down, degraded, lost] = [list('Down'), list('Degraded'), list('Unknown')]
  if (down.length > 0) return no('BondDown', `No usable member: ${down.join(', ')}.`)
  if (degraded.length > 0) return no('BondDegraded', `Usable members: ${degraded.join(', ')}.`)
  if (lost.length > 0) return unknown('SourceLost', `Not known: ${lost.join(', ')}.`)
  return yes('AllActive', 'All members of all bonds are usable.')
}

const raised = (ledger: Ledger, ...types: IssueType[]) =>
  [...ledger.values()]
    .filter(({ finding, detectedAt }) => detectedAt !== undefined && types.includes(finding.type))
    .map(({ finding }) => finding)

function flowsCurrent(ledger: Ledger): Say {
  for (const type of ['FlowsWiped', 'FlowsFrozen', 'FlowsLagging'] as const) {
    const [issue] = raised(ledger, type)
    if (issue) return no(type, issue.message)
  }
  return yes('Current', 'The flows follow the southbound database, as far as is known.')
}

function portsAccounted({ southbound, inventory }: Observed, ledger: Ledger): Say {
  const orphans = raised(ledger, 'OrphanPort').map(({ object }) => object)
  const without = [!southbound && 'the southbound database', !inventory?.fresh && "the node's list of domains"].filter(Boolean)
  const note = without.length > 0 ? ` Judged without ${without.join(' and ')}.` : ''
  return orphans.length > 0
    ? no('OrphanPorts', `${orphans.length} without an owner: ${orphans.slice(0, 10).join(', ')}.${note}`)
    : yes('NoOrphans', `Every port has an owner.${note}`)
}
