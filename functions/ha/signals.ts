// What is wrong with a host, from its objects as they are now; what only an event can tell is remembered from it. Pure.
import { findCondition } from '../../shared/kube/conditions.ts'
import type { Correlation } from './correlate.ts'
import { iso, ms } from './incident.ts'
import type { Seen, Signal } from './seen.ts'
import { ofCorrelations } from './signals/correlated.ts'
import { keyOf, sinceOf, type Found } from './signals/found.ts'
import { ofNetwork } from './signals/network.ts'
import { ofEvents } from './signals/told.ts'

type Effect = NonNullable<Signal['effect']>

/** All signals of the host; the order is fixed (HV-7). */
export function signalsOf(seen: Seen, correlations: readonly Correlation[], nowMs: number): Signal[] {
  const found = [
    ...ofNetwork(seen, nowMs),
    ...ofAgent(seen, nowMs),
    ...ofNode(seen, nowMs),
    ...ofEvents(seen, nowMs),
    ...ofCorrelations(seen, correlations, nowMs)
  ]
  return found.map(one => signal(one, nowMs)).sort((a, b) => keyOf(a).localeCompare(keyOf(b), 'en'))
}

function signal({ sinceMs, disableAtMs, drain = false, ...rest }: Found, nowMs: number): Signal {
  const due = disableAtMs !== undefined && nowMs >= disableAtMs
  const effect: Effect = due ? (drain ? 'drain' : 'disable') : 'alert'
  return { ...rest, since: iso(sinceMs), effect, ...(disableAtMs !== undefined && { dueAt: iso(disableAtMs) }) }
}

function ofAgent(seen: Seen, nowMs: number): Found[] {
  const { hypervisor, policy } = seen
  const found: Found[] = []
  const link = findCondition(hypervisor, 'LibVirtConnection')
  if (link && link.status !== 'True') {
    const sinceMs = sinceOf(seen, { kind: 'LibvirtLost' }, link.lastTransitionTime, nowMs)
    found.push({
      kind: 'LibvirtLost',
      sinceMs,
      disableAtMs: sinceMs + policy.host.libvirtSeconds * 1000,
      message: `${link.message} Servers keep running: nothing is done to them, and the host is never fenced for this.`
    })
  }
  const last = hypervisor.status?.agent?.lastHeartbeat
  if (last !== undefined && nowMs - ms(last) > policy.host.agentSeconds * 1000)
    found.push({
      kind: 'AgentSilent',
      sinceMs: ms(last),
      message: 'The agent of the host is silent: one channel of several. Alert only.'
    })
  return found
}

function ofNode(seen: Seen, nowMs: number): Found[] {
  const { node, policy } = seen
  const found: Found[] = []
  if (node?.ready === false) {
    const sinceMs = sinceOf(seen, { kind: 'NodeNotReady' }, node.since, nowMs)
    found.push({ kind: 'NodeNotReady', sinceMs, message: 'The node is not ready: a slow sign, alert only.' })
  }
  if (node?.pressure) {
    const about = { kind: 'NodePressure', object: node.pressure.type }
    const sinceMs = sinceOf(seen, about, node.pressure.since, nowMs)
    found.push({
      ...about,
      sinceMs,
      ...(policy.host.pressure && { disableAtMs: sinceMs }),
      message: `The node is under ${node.pressure.type}: it takes no new servers.`
    })
  }
  return found
}
