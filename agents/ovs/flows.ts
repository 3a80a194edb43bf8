// Whether the flows of the integration bridge can be trusted (spec/ovs.md §5.4). Pure. A count of zero packets or a great age of a flow
// is never taken for a sign (OV-47).
import type { Model } from './model.ts'
import type { Observed } from './observed.ts'

export type FlowFault =
  | { readonly kind: 'Frozen' }
  | { readonly kind: 'Lagging'; readonly behind: bigint }
  | { readonly kind: 'Wiped'; readonly flows: number; readonly before: number }

/** What the polls of the integration bridge, 5 s apart, have shown so far. */
export interface FlowTrend {
  /** The last count that was no sudden fall. */
  readonly stable: number
  readonly previous?: number
  readonly last: number
}

const fallen = (count: number, stable: number): boolean => count === 0 || count < stable / 10

export function trendOf(before: FlowTrend | undefined, flows: number): FlowTrend {
  if (before === undefined) return { stable: flows, last: flows }
  return { stable: fallen(flows, before.stable) ? before.stable : flows, previous: before.last, last: flows }
}

export function flowFaults(model: Model, { ovn, southbound, flowTrend }: Observed): FlowFault[] {
  const faults: FlowFault[] = []
  if (model.ovn.remote !== undefined && ovn === 'not-connected') faults.push({ kind: 'Frozen' })
  const lag = lagOf(model, southbound?.nbCfg)
  if (lag > 0n && ovn === 'connected') faults.push({ kind: 'Lagging', behind: lag })
  const { stable = 0, previous, last } = flowTrend ?? {}
  // two polls, since a restarted vswitchd has no flows for a moment
  const wiped = last !== undefined && previous !== undefined && fallen(last, stable) && fallen(previous, stable)
  if (wiped && ovn === 'connected') faults.push({ kind: 'Wiped', flows: last, before: stable })
  return faults
}

export function nbCfgOf(model: Model): { nbCfg: bigint; atMs: number | undefined } | undefined {
  const ids = model.bridges.find(({ name }) => name === model.ovn.integrationBridge)?.external_ids
  const text = ids?.get('ovn-nb-cfg')
  if (text === undefined || !/^\d+$/.test(text)) return undefined
  const at = Number(ids?.get('ovn-nb-cfg-ts'))
  return { nbCfg: BigInt(text), atMs: Number.isFinite(at) && at > 0 ? at : undefined }
}

function lagOf(model: Model, wanted: bigint | undefined): bigint {
  const own = nbCfgOf(model)
  return own === undefined || wanted === undefined ? 0n : wanted - own.nbCfg
}
