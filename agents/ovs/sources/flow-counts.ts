// Counts of flows: of the integration bridge every five seconds, of all bridges and tables at each heartbeat (OV-24).
import type { Daemons } from '../daemons.ts'
import { type FlowTrend, trendOf } from '../flows.ts'
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

export function flowCounts(options: FlowCountOptions, signal: AbortSignal): AsyncGenerator<Fact> {
  const { daemons, everyMs, heartbeatMs, current, now } = options
  let flows = new Map<string, BridgeFlows>()
  let trend: FlowTrend | undefined
  let fullAt = 0
  let settledAt = 0

  const count = async (bridge: string, full: boolean): Promise<BridgeFlows | undefined> => {
    try {
      if (!full) return { ...flows.get(bridge), total: (await daemons.statistics(bridge, [aggregate]))[0].flows }
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
      const total = flows.get(ovn.integrationBridge)?.total
      if (total === undefined) {
        settledAt = now() + settlingMs
        trend = trend && { stable: trend.stable, last: trend.stable }
      } else if (now() >= settledAt || total > 0) trend = trendOf(trend, total)
      return { flows, flowTrend: trend }
    }
  )
}
