// Whether the host may take new servers, and whether it is emptied: from its signals, and never against somebody else's will (HV-32). Pure.
import { disabledBy, disabledReason } from '../../shared/openstack/compute-service.ts'
import { verdictOf } from '../../shared/openstack/eviction-verdict.ts'
import { idOf, iso, ms } from './incident.ts'
import type { Call, Decision, Ha, Modes, News, Seen, Signal } from './seen.ts'

export const manager = 'drover-ha'

export interface Scheduled {
  calls: Call[]
  decisions: Decision[]
  news: News[]
  evictionRef: { name: string } | undefined
  waitingFor: string | undefined
  nextCheckMs: number | undefined
}

const nothing: Scheduled = {
  calls: [],
  decisions: [],
  news: [],
  evictionRef: undefined,
  waitingFor: undefined,
  nextCheckMs: undefined
}

const wants = ({ effect }: Signal): boolean => effect === 'disable' || effect === 'drain'
const words = ({ kind, object }: Signal): string => (object ? `${kind} ${object}` : kind)

export function schedule(seen: Seen, signals: readonly Signal[], modes: Modes, nowMs: number): Scheduled {
  const { hypervisor, service, policy } = seen
  const before = hypervisor.status?.ha
  const mine = disabledBy(service?.disabledReason) === manager && service?.status === 'disabled'
  const acting = modes.signals === 'drover'
  const wanted = signals.filter(wants)
  const drained = modes.signals === 'observe' ? kept(before) : drainOf(seen, acting ? signals : [], nowMs)
  const rest = { ...nothing, ...drained }

  if (wanted.length > 0 && service?.status === 'enabled') {
    const why = wanted.map(words).join(', ')
    const reason = disabledReason({ by: manager, why: `ha: ${why}` })
    const decision = decisionOf(seen, wanted, acting ? 'Disabled' : 'WouldDisable', 'disable scheduling', nowMs)
    if (!acting) return withNew(rest, decision, before?.history)
    const note = `No new servers: ${wanted.map(({ message }) => message).join(' ')}`
    return {
      ...rest,
      calls: [{ do: 'disable', reason }, ...rest.calls],
      decisions: [decision, ...rest.decisions],
      news: [{ type: 'Warning', reason: 'SchedulingDisabled', note, decision }, ...rest.news]
    }
  }
  // HV-8: who only observes undoes nothing either
  if (!mine || modes.signals === 'observe' || (wanted.length > 0 && acting)) return rest
  // healed, or no longer ours to answer: only what was disabled here is enabled, and not into somebody's maintenance
  if (hypervisor.spec.maintenance || drained.evictionRef) return { ...rest, waitingFor: 'the end of maintenance or drain' }
  const wellSince = ms(before?.since) || nowMs
  const dueMs = (before?.state === 'Healing' ? wellSince : nowMs) + policy.host.enableSeconds * 1000
  if (nowMs < dueMs && acting) return { ...rest, waitingFor: `being well until ${iso(dueMs)}`, nextCheckMs: dueMs - nowMs }
  const decision = decisionOf(seen, [], 'Enabled', 'enable scheduling', nowMs)
  return {
    ...rest,
    calls: [{ do: 'enable' }, ...rest.calls],
    decisions: [decision, ...rest.decisions],
    news: [
      { type: 'Normal', reason: 'SchedulingEnabled', note: 'The host is well again and takes servers.', decision },
      ...rest.news
    ]
  }
}

const kept = (before: Ha | undefined): Partial<Scheduled> =>
  before?.evictionRef?.name ? { evictionRef: { name: before.evictionRef.name } } : {}

/** In observe mode the same thing would be written with each look. */
function withNew(rest: Scheduled, decision: Decision, history: readonly Decision[] = []): Scheduled {
  const known = history.some(({ decisionId }) => decisionId === decision.decisionId)
  return known ? rest : { ...rest, decisions: [decision, ...rest.decisions] }
}

/** HA-1: a planned drain, the host is alive. One Eviction for one cause; nobody's maintenance is doubled. */
function drainOf({ hypervisor, eviction, service }: Seen, signals: readonly Signal[], nowMs: number): Partial<Scheduled> {
  const { name } = hypervisor.metadata
  const cause = signals.find(({ effect }) => effect === 'drain')
  const ref = hypervisor.status?.ha?.evictionRef
  if (cause && !hypervisor.spec.maintenance && !ref) {
    // first no new servers, then the old ones
    if (service?.status !== 'disabled') return { nextCheckMs: 1000 }
    const id = idOf(name, cause.kind, ms(cause.since))
    const eviction = `${name}-ha-${id.slice(0, 8)}`
    const decision: Decision = {
      decisionId: id,
      kind: cause.kind,
      state: 'Draining',
      action: `drain ${eviction}`,
      rule: cause.kind,
      reason: cause.message ?? '',
      inputs: { object: cause.object ?? '', since: cause.since ?? '' },
      startedAt: iso(nowMs),
      finishedAt: iso(nowMs)
    }
    const note = `The host is emptied: ${cause.message}`
    return {
      calls: [{ do: 'drain', name: eviction, reason: `ha: ${words(cause)}` }],
      decisions: [decision],
      news: [{ type: 'Warning', reason: 'DrainStarted', note, decision }],
      evictionRef: { name: eviction }
    }
  }
  if (!ref?.name) return {}
  if (cause) return { evictionRef: { name: ref.name } }
  if (!eviction) return {} // it is gone
  const over = verdictOf(eviction) !== undefined || eviction.status?.startedAt === undefined
  if (!over && eviction.spec.cancel) return { evictionRef: { name: ref.name }, waitingFor: 'running moves to end' }
  return { calls: [{ do: 'stop-drain', name: ref.name, over }], ...(!over && { evictionRef: { name: ref.name } }) }
}

function decisionOf(
  { hypervisor, service }: Seen,
  signals: readonly Signal[],
  state: string,
  action: string,
  nowMs: number
): Decision {
  const { name } = hypervisor.metadata
  const all = hypervisor.status?.ha?.signals ?? []
  const quiet = all
    .filter(signal => !wants(signal))
    .map(({ kind, object, message }) => `${kind}${object ? ` ${object}` : ''}: ${message}`)
  const cause = signals.map(words).join(', ') || 'well'
  const first = signals.map(({ since }) => ms(since)).sort((a, b) => a - b)[0] ?? nowMs
  return {
    decisionId: idOf(name, `${action} ${cause}`, first),
    kind: 'scheduling',
    state,
    action,
    rule: cause,
    reason: signals.map(({ message }) => message).join(' ') || 'No signal asks for it any more.',
    passedOver: quiet,
    inputs: {
      service: service
        ? `${service.status} ${service.state}${service.disabledReason ? `: ${service.disabledReason}` : ''}`
        : 'unknown',
      ...Object.fromEntries(signals.map(signal => [words(signal), `since ${signal.since}`]))
    },
    startedAt: iso(first),
    finishedAt: iso(nowMs)
  }
}
