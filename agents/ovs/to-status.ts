// The status of the OVSNode, from what is known. What was not obtained is absent (OV-3). Pure.
import type { OVSNode } from '../../shared/schema/ovs-node.ts'
import type { Condition } from '../../shared/kube/conditions.ts'
import { switchKnown } from './conditions.ts'
import type { Health } from './findings.ts'
import { nbCfgOf } from './flows.ts'
import type { Physical } from './interfaces.ts'
import { type Severity, severityOf } from './issue-types.ts'
import { type Entry, type Ledger, flapFinding } from './ledger.ts'
import type { Counters, Observed } from './observed.ts'

export type Status = NonNullable<OVSNode['status']>
type Writable = { -readonly [K in keyof Status]: Status[K] }

const listed = 50
const tablesListed = 512

export interface About {
  readonly conditions: readonly Condition[]
  readonly observedAt: string | undefined
  readonly heartbeatSeconds: number
  readonly agentVersion: string
}

export function statusOf(observed: Observed, health: Health | undefined, ledger: Ledger, about: About): Status {
  const issues = issuesOf(ledger)
  const status: Writable = {
    issues: mostSevere(issues),
    issueCount: issues.length,
    ports: { orphans: issues.filter(({ type }) => type === 'OrphanPort').length },
    heartbeatSeconds: about.heartbeatSeconds,
    agentVersion: about.agentVersion,
    conditions: [...about.conditions],
    ...(about.observedAt !== undefined && { observedAt: about.observedAt }),
    ...(observed.ovsdVersion !== undefined && { ovsdVersion: observed.ovsdVersion })
  }
  return health ? { ...status, ...switchStatus(observed, health) } : status
}

function switchStatus(observed: Observed, health: Health): Partial<Status> {
  const { model } = health
  const { statistics } = observed
  const metrics = statistics && switchKnown(observed) ? totals(health, statistics) : undefined // a frozen vswitchd counts nothing
  return {
    ...(model.ovsVersion !== undefined && { ovsVersion: model.ovsVersion }),
    ...(model.schemaVersion !== undefined && { ovsdbSchemaVersion: model.schemaVersion }),
    dpdkEnabled: model.dpdk.enabled,
    dpdkVersion: model.dpdk.version,
    bridges: bridges(observed, health),
    interfaces: { physical: physical(observed, health), bonds: bonds(observed, health) },
    ovnController: ovnController(observed, health),
    ...flowStats(observed, health),
    ...(metrics && { metrics })
  }
}

function bridges(observed: Observed, health: Health): NonNullable<Status['bridges']> {
  const known = switchKnown(observed)
  return health.bridges.map(({ name, status, reason, row }) => {
    const flows = known ? observed.flows.get(name)?.total : undefined
    return {
      name,
      status: known ? status : 'Unknown',
      ...(reason !== undefined && known && { reason }),
      ...(row && {
        ports: row.ports.length,
        datapathType: row.datapath_type === 'netdev' ? 'netdev' : 'system',
        ...((row.fail_mode === 'secure' || row.fail_mode === 'standalone') && { failMode: row.fail_mode }),
        ...(row.datapath_id !== undefined && { datapathId: row.datapath_id })
      }),
      ...(flows !== undefined && { flows })
    }
  })
}

function physical(observed: Observed, health: Health): NonNullable<NonNullable<Status['interfaces']>['physical']> {
  const known = switchKnown(observed)
  return health.physical.map(card => ({
    name: card.name,
    status: known ? card.status : 'Unknown',
    ...(card.bond !== undefined && { bond: card.bond }),
    ...(known && details(card))
  }))
}

/** What only a working ovs-vswitchd knows. */
function details({ speed, row }: Physical) {
  return {
    ...(speed !== undefined && { speed }),
    ...(row?.mtu !== undefined && { mtu: row.mtu }),
    ...(row?.link_resets !== undefined && { linkResets: Number(row.link_resets) }),
    ...(row?.lacp_current !== undefined && { lacpCurrent: row.lacp_current }),
    ...(row?.error && { error: row.error })
  }
}

type BondStatus = NonNullable<NonNullable<Status['interfaces']>['bonds']>[number]

function bonds(observed: Observed, health: Health): BondStatus[] {
  const known = switchKnown(observed)
  return health.bonds.map(({ name, mode, status, members, activeMembers, kind, lacp, activeMember, bridge }) => ({
    name,
    status: known ? status : 'Unknown',
    members: members.length,
    ...(kind !== undefined && { kind }),
    ...(mode !== undefined && { mode: mode as NonNullable<BondStatus['mode']> }),
    ...(known && status !== 'Unknown' && { activeMembers }),
    ...(lacp !== undefined && { lacp }),
    ...(activeMember !== undefined && known && { activeMember }),
    ...(bridge !== undefined && { bridge })
  }))
}

function ovnController({ ovn }: Observed, { model }: Health): NonNullable<Status['ovnController']> {
  const { chassisId, remote, encapIp, encapType, mappings, integrationBridge } = model.ovn
  const progress = nbCfgOf(model)
  return {
    ...((ovn === 'connected' || ovn === 'not-connected' || ovn === 'not-running') &&
      remote !== undefined && { connected: ovn === 'connected' }),
    ...(remote !== undefined && { sbConnection: remote }),
    ...(chassisId !== undefined && { chassisId }),
    ...((encapType ?? encapIp) !== undefined && {
      encap: { ...(encapType !== undefined && { type: encapType }), ...(encapIp !== undefined && { ip: encapIp }) }
    }),
    ...(mappings.length > 0 && { bridgeMappings: [...mappings] }),
    ...(remote !== undefined && { integrationBridge }),
    ...(progress && { nbCfg: Number(progress.nbCfg) }),
    ...(progress?.atMs !== undefined && { nbCfgAt: new Date(progress.atMs).toISOString() })
  }
}

/** Absent unless every bridge was counted: a sum of some would be an invented number. */
function flowStats(observed: Observed, { model }: Health): Partial<Status> {
  if (!switchKnown(observed)) return {}
  const counted = model.bridges.map(({ name }) => [name, observed.flows.get(name)] as const)
  if (counted.some(([, flows]) => flows?.perTable === undefined || flows.total === undefined)) return {}
  const flowsPerTable = counted.flatMap(([bridge, flows]) =>
    (flows?.perTable ?? [])
      .filter(table => table.flows > 0 && table.table <= 253)
      .map(({ table, flows: count }) => ({ bridge, table, flows: count }))
  )
  const totalFlows = flowsPerTable.reduce((sum, { flows }) => sum + flows, 0)
  return { flowStats: { totalFlows, flowsPerTable: flowsPerTable.slice(0, tablesListed) } }
}

/** OV-4: bigints all the way. Over the physical interfaces alone, so that nothing is counted twice. */
function totals({ physical: cards }: Health, statistics: ReadonlyMap<string, Counters>): NonNullable<Status['metrics']> {
  const sum = (...names: string[]): bigint =>
    cards.reduce((total, { name }) => names.reduce((part, key) => part + (statistics.get(name)?.get(key) ?? 0n), total), 0n)
  return {
    packetsReceived: sum('rx_packets'),
    packetsSent: sum('tx_packets'),
    bytesReceived: sum('rx_bytes'),
    bytesSent: sum('tx_bytes'),
    drops: sum('rx_dropped', 'tx_dropped'),
    errors: sum('rx_errors', 'tx_errors')
  }
}

type Issue = NonNullable<Status['issues']>[number] & { id: string; severity: Severity }

function issuesOf(ledger: Ledger): Issue[] {
  const byId = (a: Issue, b: Issue) => (a.id < b.id ? -1 : 1)
  return [...ledger.values()].flatMap(entry => open(entry).concat(flapping(entry))).sort(byId)
}

function open({ finding: { type, object, message }, detectedAt }: Entry): Issue[] {
  if (detectedAt === undefined) return []
  return [{ id: `${type}/${object}`, type, object, severity: severityOf(type), message, detectedAt }]
}

function flapping({ finding: { object }, flapping: since }: Entry): Issue[] {
  if (since === undefined) return []
  const { type, message } = flapFinding(object)
  return [{ id: `${type}/${object}`, type, object, severity: severityOf(type), message, detectedAt: since }]
}

function mostSevere(issues: readonly Issue[]): Issue[] {
  const rank: Record<Severity, number> = { Critical: 0, Warning: 1, Info: 2 }
  if (issues.length <= listed) return [...issues]
  const kept = new Set(issues.toSorted((a, b) => rank[a.severity] - rank[b.severity]).slice(0, listed))
  return issues.filter(issue => kept.has(issue))
}
