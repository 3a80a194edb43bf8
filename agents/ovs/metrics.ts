// OV-71. Read from what is known at the moment of the scrape, so that nothing of the past stays behind.
import type { Status as Connection } from 'ovsdb-client'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Timed } from './daemons.ts'
import type { Judge } from './judge.ts'
import { switchKnown } from './conditions.ts'
import { type IssueType, severityOf } from './issue-types.ts'

export interface AgentMetrics {
  diagnostics: Counter<'kind' | 'verdict'>
  events: Counter<'type' | 'result'>
  /** To be told of each state of a connection; the first one made is no reconnect. */
  connection: (peer: string) => (status: Connection) => void
  timed: Timed
}

export interface MetricsOptions {
  readonly judge: Judge
  readonly queueLength: () => number
  readonly allPorts: boolean
}

type Labels = Record<string, string>
type Show = (labels: Labels, value: number) => void

export function agentMetrics(registry: Registry, { judge, queueLength, allPorts }: MetricsOptions): AgentMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[], collect: (show: Show) => void): void => {
    const made: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect: (): void => {
        made.reset()
        collect((labels, value) => made.set(labels, value))
      }
    })
  }
  /** Counted by somebody else: shown as it stands, with the type that lets `rate()` see a restart. */
  const counter = (name: string, help: string, labelNames: string[], collect: (show: Show) => void): void => {
    const made: Counter = new Counter({
      name,
      help,
      labelNames,
      registers,
      collect: (): void => {
        made.reset()
        collect((labels, value) => made.inc(labels, value))
      }
    })
  }
  const bridges = () => judge.health?.bridges ?? []
  const bonds = () => judge.health?.bonds ?? []
  const known = () => switchKnown(judge.observed)
  /** What a switch that cannot be asked has shown is not shown as if it were so now (OV-3). */
  const ifKnown = <T>(items: Iterable<T> | undefined): Iterable<T> => (known() && items) || []
  gauge('ovs_bridge_ports', 'Ports of a bridge', ['bridge'], show => {
    for (const { name, row } of bridges()) if (row) show({ bridge: name }, row.ports.length)
  })
  gauge('ovs_bridge_flows', 'OpenFlow flows of a bridge', ['bridge'], show => {
    for (const [bridge, { total }] of ifKnown(judge.observed.flows)) if (total !== undefined) show({ bridge }, total)
  })
  gauge('ovs_table_flows', 'OpenFlow flows of a table', ['bridge', 'table'], show => {
    for (const [bridge, { perTable = [] }] of ifKnown(judge.observed.flows))
      for (const { table, flows } of perTable) show({ bridge, table: String(table) }, flows)
  })
  gauge('ovs_interface_up', '1 while the link of a network card is up', ['interface', 'bond'], show => {
    for (const { name, bond, status } of ifKnown(judge.health?.physical))
      show({ interface: name, bond: bond ?? '' }, Number(status === 'Up'))
  })
  gauge('ovs_bond_member_usable', '1 while a member of a bond is usable', ['interface', 'bond'], show => {
    for (const { name, members } of ifKnown(bonds()))
      for (const member of members) show({ interface: member.name, bond: name }, Number(member.usable))
  })
  gauge('ovs_bond_status', '1 for the state a bond is in', ['bond', 'status'], show => {
    for (const { name, status } of bonds())
      for (const word of ['Active', 'Degraded', 'Down', 'Unknown'])
        show({ bond: name, status: word }, Number(word === (known() ? status : 'Unknown')))
  })
  gauge('ovs_condition', '1 for the status a condition has', ['type', 'status'], show => {
    for (const { type, status } of judge.conditions)
      for (const word of ['True', 'False', 'Unknown']) show({ type, status: word }, Number(word === status))
  })
  gauge('ovs_issues', 'Open issues', ['type', 'severity'], show => {
    const open: IssueType[] = []
    for (const { finding, detectedAt, flapping } of judge.ledger.values()) {
      if (detectedAt !== undefined) open.push(finding.type)
      if (flapping !== undefined) open.push('LinkFlapping')
    }
    for (const type of new Set(open)) show({ type, severity: severityOf(type) }, open.filter(each => each === type).length)
  })
  gauge('ovs_agent_event_queue_length', 'Events that the sink has not taken yet', [], show => show({}, queueLength()))
  gauge('ovs_agent_observed_timestamp_seconds', 'When the switch last answered', [], show => {
    if (judge.observedAt !== undefined) show({}, Date.parse(judge.observedAt) / 1000)
  })
  for (const [name, keys] of Object.entries(interfaceCounters)) {
    counter(name, `Interface.statistics ${keys.join(' + ')}`, ['interface'], show => {
      const cards = new Set((judge.health?.physical ?? []).map(card => card.name))
      for (const [card, counters] of ifKnown(judge.observed.statistics))
        if (allPorts || cards.has(card))
          show({ interface: card }, Number(keys.reduce((sum, key) => sum + (counters.get(key) ?? 0n), 0n)))
    })
  }
  counter(
    'ovs_datapath_lookups_total',
    'Packets whose flow a datapath found, asked for, or lost',
    ['datapath', 'result'],
    show => {
      for (const [datapath, lookups] of judge.observed.lookups ?? [])
        for (const [result, count] of Object.entries(lookups)) show({ datapath, result }, Number(count))
    }
  )
  const durations = new Histogram({
    name: 'ovs_agent_call_duration_seconds',
    help: 'How long a daemon took to answer, or to fail',
    labelNames: ['peer', 'call'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10],
    registers
  })
  const reconnects = new Counter({
    name: 'ovs_agent_reconnects_total',
    help: 'Connections made anew',
    labelNames: ['peer'],
    registers
  })
  return {
    timed: async (peer, call, work) => {
      const end = durations.startTimer({ peer, call })
      try {
        return await work()
      } finally {
        end()
      }
    },
    connection: peer => {
      let known = false
      return ({ state }) => {
        if (state !== 'connected') return
        if (known) reconnects.inc({ peer })
        known = true
      }
    },
    diagnostics: new Counter({
      name: 'ovs_agent_diagnostics_total',
      help: 'Troubleshooting requests',
      labelNames: ['kind', 'verdict'],
      registers
    }),
    events: new Counter({
      name: 'ovs_agent_events_total',
      help: 'Events: queued, then sent or failed, each try anew',
      labelNames: ['type', 'result'],
      registers
    })
  }
}

const interfaceCounters = {
  ovs_interface_receive_packets_total: ['rx_packets'],
  ovs_interface_receive_bytes_total: ['rx_bytes'],
  ovs_interface_transmit_packets_total: ['tx_packets'],
  ovs_interface_transmit_bytes_total: ['tx_bytes'],
  ovs_interface_drops_total: ['rx_dropped', 'tx_dropped'],
  ovs_interface_errors_total: ['rx_errors', 'tx_errors']
} as const
