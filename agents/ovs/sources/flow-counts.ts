// Counts of flows: of the integration bridge every five seconds, of all bridges and tables at each heartbeat (OV-24).
import type { Daemons } from '../daemons.ts'
import { type FlowTrend, fallen, trendOf } from '../flows.ts'
import { poll } from '../inbox.ts'
import { modelOf } from '../model.ts'
import type { BridgeFlows, Fact, Observed } from '../observed.ts'
import { OpenFlowError } from '../wire/openflow-frames.ts'
import { aggregate, tables } from '../wire/openflow-statistics.ts'

export interface FlowCountOptions {
  readonly daemons: Daemons
  readonly everyMs: number
  readonly heartbeatMs: number
  readonly current: () => Observed
  readonly now: () => number
}

const settlingMs = 10_000 // a vswitchd that restarted has no flows for up to eight seconds (spec/ovs.md §4)

const sumOf = (counted: BridgeFlows | undefined): number | undefined =>
  counted?.perTable?.reduce((sum, { flows }) => sum + flows, 0)

export function flowCounts(options: FlowCountOptions, signal: AbortSignal): AsyncGenerator<Fact> {
  const { daemons, everyMs, heartbeatMs, current, now } = options
  let flows = new Map<string, BridgeFlows>()
  let trend: FlowTrend | undefined
  let fullAt = 0
  let settledAt = 0
  let pid: number | undefined

  const count = async (bridge: string, full: boolean): Promise<BridgeFlows | undefined> => {
    try {
      const known = flows.get(bridge)
      if (!full) {
        const [{ flows: total }] = await daemons.statistics(bridge, [aggregate])
        if (total === sumOf(known)) return { ...known, total }
      } // the tables are asked too when their sum is no longer the total
      const [{ flows: total }, perTable] = await daemons.statistics(bridge, [aggregate, tables])
      return { total, perTable: perTable.filter(table => table.flows > 0) }
    } catch (error) {
      if (!(error instanceof OpenFlowError)) throw error
      return error.code === 'version' ? { unavailable: true } : undefined
    }
  }

  return poll(
    () => everyMs,
    signal,
    async () => {
      const rows = current().tables
      if (!rows) return {}
      const { bridges, ovn } = modelOf(rows)
      const known = bridges.some(({ name }) => !flows.has(name))
      const full = now() >= fullAt || known
      if (full) fullAt = now() + heartbeatMs
      const asked = full ? bridges.map(({ name }) => name) : [ovn.integrationBridge]
      const next = new Map([...flows].filter(([name]) => bridges.some(bridge => bridge.name === name)))
      for (const bridge of asked) {
        const counted = await count(bridge, full)
        if (counted) next.set(bridge, counted)
        else next.delete(bridge)
      }
      flows = next
      const life = await daemons.pid('ovs-vswitchd')
      if (pid !== undefined && life !== pid) settledAt = now() + settlingMs // it may have been away between two polls
      pid = life
      const total = flows.get(ovn.integrationBridge)?.total
      if (total === undefined) {
        settledAt = now() + settlingMs
        trend = trend && { stable: trend.stable, last: trend.stable }
      } else if (now() >= settledAt || !fallen(total, trend?.stable ?? 0)) trend = trendOf(trend, total)
      return { flows, flowTrend: trend }
    }
  )
}
