// Whether the flows of the integration bridge can be trusted (spec/ovs.md §5.4). Pure. A count of zero packets or a great age of a flow
// is never taken for a sign (OV-47).
import type { Model } from './model.ts'
import type { Observed } from './observed.ts'

export type FlowFault =
  | { readonly kind: 'Frozen'; readonly because: 'not-connected' | 'not-running' }
  /** Undefined when only the times are known, not the numbers. */
  | { readonly kind: 'Lagging'; readonly behind: bigint | undefined }
  | { readonly kind: 'Wiped'; readonly flows: number; readonly before: number }

/** What the polls of the integration bridge, 5 s apart, have shown so far. */
export interface FlowTrend {
  /** The last count that was no sudden fall. */
  readonly stable: number
  readonly previous?: number
  readonly last: number
}

export const fallen = (count: number, stable: number): boolean => count === 0 || count < stable / 10

export function trendOf(before: FlowTrend | undefined, flows: number): FlowTrend {
  if (before === undefined) return { stable: flows, last: flows }
  return { stable: fallen(flows, before.stable) ? before.stable : flows, previous: before.last, last: flows }
}

export function flowFaults(model: Model, { ovn, southbound, flowTrend }: Observed): FlowFault[] {
  const faults: FlowFault[] = []
  // a controller that is gone follows the southbound database as little as one that is cut off from it
  if (model.ovn.remote !== undefined && (ovn === 'not-connected' || ovn === 'not-running'))
    faults.push({ kind: 'Frozen', because: ovn })
  const lag = ovn === 'connected' && lagOf(model, southbound?.nbCfg)
  if (lag) faults.push({ kind: 'Lagging', ...lag })
  if (ovn === 'connected' && flowTrend && isWiped(flowTrend))
    faults.push({ kind: 'Wiped', flows: flowTrend.last, before: flowTrend.stable })
  return faults
}

/** Two polls, since a restarted vswitchd has no flows for a moment. */
const isWiped = ({ stable, previous, last }: FlowTrend): boolean =>
  previous !== undefined && fallen(last, stable) && fallen(previous, stable)

interface Progress {
  readonly nbCfg: bigint
  /** When its flows were installed. */
  readonly atMs: number | undefined
  /** When the southbound database got it; newer OVN tells. */
  readonly wantedAtMs: number | undefined
}

export function nbCfgOf(model: Model): Progress | undefined {
  const ids = model.bridges.find(({ name }) => name === model.ovn.integrationBridge)?.external_ids
  const text = ids?.get('ovn-nb-cfg')
  if (text === undefined || !/^\d+$/.test(text)) return undefined
  const time = (id: string) => {
    const at = Number(ids?.get(id))
    return Number.isFinite(at) && at > 0 ? at : undefined
  }
  return { nbCfg: BigInt(text), atMs: time('ovn-nb-cfg-ts'), wantedAtMs: time('ovn-nb-cfg-sb-ts') }
}

/** By the numbers of the southbound database; without access to it (OV-44) by the times that the controller itself notes, if it does. */
function lagOf(model: Model, wanted: bigint | undefined): { behind: bigint | undefined } | undefined {
  const own = nbCfgOf(model)
  if (own === undefined) return undefined
  if (wanted !== undefined) return wanted > own.nbCfg ? { behind: wanted - own.nbCfg } : undefined
  const { atMs, wantedAtMs } = own
  return atMs !== undefined && wantedAtMs !== undefined && wantedAtMs > atMs ? { behind: undefined } : undefined
}
