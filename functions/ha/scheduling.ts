// Whether the host may take new servers, and whether it is emptied: from its signals, and never against somebody else's will (HV-32). Pure.
import { disabledBy, disabledReason } from '../../shared/openstack/compute-service.ts'
import { verdictOf } from '../../shared/openstack/eviction-verdict.ts'
import { idOf, iso, ms } from './incident.ts'
import type { Call, Decision, Modes, News, Seen, Signal } from './seen.ts'

export const manager = 'drover-ha'

export interface Scheduled {
  calls: Call[]
  decisions: Decision[]
  news: News[]
  evictionRef: { name: string; uid?: string } | undefined
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
  const drained = modes.signals === 'observe' ? kept(seen) : drainOf(seen, acting ? signals : [], nowMs)
  const rest = { ...nothing, ...drained }

  if (wanted.length > 0 && service?.status === 'enabled') {
    const why = wanted.map(words).join(', ')
    const reason = disabledReason({ by: manager, why: `ha: ${why}` })
    const decision = decisionOf(seen, signals, acting ? 'Disabled' : 'WouldDisable', 'disable scheduling', nowMs)
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
  const decision = decisionOf(seen, signals, 'Enabled', 'enable scheduling', nowMs)
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

/** With the uid as soon as it was seen: then it was made, and is not asked for again. */
function kept({ hypervisor, eviction }: Seen): Pick<Scheduled, 'evictionRef'> {
  const { name, uid = eviction?.metadata.uid } = hypervisor.status?.ha?.evictionRef ?? {}
  return { evictionRef: name === undefined ? undefined : { name, ...(uid !== undefined && { uid }) } }
}

/** In observe mode the same thing would be written with each look. */
function withNew(rest: Scheduled, decision: Decision, history: readonly Decision[] = []): Scheduled {
  const known = history.some(({ decisionId }) => decisionId === decision.decisionId)
  return known ? rest : { ...rest, decisions: [decision, ...rest.decisions] }
}

/** HA-1: a planned drain, the host is alive. One Eviction for one cause; nobody's maintenance is doubled. */
function drainOf(seen: Seen, signals: readonly Signal[], nowMs: number): Partial<Scheduled> {
  const { hypervisor, eviction, service } = seen
  const cause = signals.find(({ effect }) => effect === 'drain')
  const ref = hypervisor.status?.ha?.evictionRef
  if (!ref?.name) {
    if (!cause || hypervisor.spec.maintenance) return {}
    // first no new servers, then the old ones
    return service?.status === 'disabled' ? drain(hypervisor.metadata.name, cause, nowMs) : { nextCheckMs: 1000 }
  }
  const rest = kept(seen)
  if (eviction?.metadata.deletionTimestamp) return { ...rest, waitingFor: 'the drain to be gone', nextCheckMs: soonMs }
  const isNew = nowMs - notedMs(hypervisor, ref.name) < newMs
  if (!eviction && cause && ref.uid === undefined)
    // noted and not made: the process died in between, or the API said no
    return isNew ? { ...rest, nextCheckMs: soonMs } : { ...rest, calls: [callOf(ref.name, cause)] }
  if (cause) return rest
  // gone; but whoever noted it a moment ago may be about to make it
  if (!eviction) return ref.uid === undefined && isNew ? { ...rest, nextCheckMs: soonMs } : {}
  const over = verdictOf(eviction) !== undefined || eviction.status?.startedAt === undefined
  if (!over && eviction.spec.cancel) return { ...rest, waitingFor: 'running moves to end', nextCheckMs: movesMs }
  return { ...rest, calls: [{ do: 'stop-drain', name: ref.name, over }], nextCheckMs: soonMs }
}

const soonMs = 2000
const movesMs = 10_000
const newMs = 10_000

const callOf = (name: string, cause: Signal): Call => ({ do: 'drain', name, reason: `ha: ${words(cause)}` })

const notedMs = ({ status }: Seen['hypervisor'], name: string): number =>
  ms(status?.ha?.history?.findLast(({ action }) => action === `drain ${name}`)?.startedAt) || 0

function drain(host: string, cause: Signal, nowMs: number): Partial<Scheduled> {
  const id = idOf(host, cause.kind, ms(cause.since))
  const name = `${host}-ha-${id.slice(0, 8)}`
  const decision: Decision = {
    decisionId: id,
    kind: cause.kind,
    state: 'Draining',
    action: `drain ${name}`,
    rule: cause.kind,
    reason: cause.message ?? '',
    inputs: { object: cause.object ?? '', since: cause.since ?? '' },
    startedAt: iso(nowMs),
    finishedAt: iso(nowMs)
  }
  const note = `The host is emptied: ${cause.message}`
  return {
    calls: [callOf(name, cause)],
    decisions: [decision],
    news: [{ type: 'Warning', reason: 'DrainStarted', note, decision }],
    evictionRef: { name }
  }
}

function decisionOf(
  { hypervisor, service }: Seen,
  signals: readonly Signal[],
  state: string,
  action: string,
  nowMs: number
): Decision {
  const { name } = hypervisor.metadata
  const wanted = signals.filter(wants)
  const quiet = signals
    .filter(signal => !wants(signal))
    .map(({ kind, object, message }) => `${kind}${object ? ` ${object}` : ''}: ${message}`)
  const cause = wanted.map(words).join(', ') || 'well'
  const first = wanted.map(({ since }) => ms(since)).sort((a, b) => a - b)[0] ?? nowMs
  return {
    decisionId: idOf(name, `${action} ${cause}`, first),
    kind: 'scheduling',
    state,
    action,
    rule: cause,
    reason: wanted.map(({ message }) => message).join(' ') || 'No signal asks for it any more.',
    passedOver: quiet,
    inputs: {
      service: service
        ? `${service.status} ${service.state}${service.disabledReason ? `: ${service.disabledReason}` : ''}`
        : 'unknown',
      ...Object.fromEntries(wanted.map(signal => [words(signal), `since ${signal.since}`]))
    },
    startedAt: iso(first),
    finishedAt: iso(nowMs)
  }
}
