// What to do next for one host: its servers and its signals, from what was seen. The same input always gives the same (HA-8). Pure.
import { isDeepStrictEqual } from 'node:util'
import { findCondition } from '../../shared/kube/conditions.ts'
import { novaHost } from '../../shared/openstack/host.ts'
import { attemptsWithin } from './attempts.ts'
import { correlate } from './correlate.ts'
import { faultsOf, type FleetHost } from './fleet.ts'
import { fold, isOver, iso, missed, ms } from './incident.ts'
import { judge } from './ladder.ts'
import { closedIfLeft, mayHaveLeft } from './left.ts'
import type { Mode, Policy } from './policy.ts'
import { schedule, type Scheduled } from './scheduling.ts'
import type { Call, Decision, Ha, Incident, Modes, News, Seen, Signal } from './seen.ts'
import { signalsOf } from './signals.ts'
import { shutdownsCalledOff } from './signals/told.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Hold, Judged, View } from './view.ts'

export interface Step {
  ha: Ha
  calls: Call[]
  decisions: Decision[]
  news: News[]
  nextCheckMs: number | undefined
}

/** HA-4, HA-5: off for a host whose spec says so; what another service answers for is only read. */
export function modesOf({ spec }: Hypervisor, { mode, signals }: Policy, observed: boolean): Modes {
  const off = !(spec.highAvailability ?? true) || mode === 'off'
  const vm: Mode = off ? 'off' : observed && mode === 'drover' ? 'observe' : mode
  if (off || mode === 'external') return { vm, signals: vm }
  return { vm, signals: observed && signals === 'drover' ? 'observe' : signals }
}

const isDue = ({ nextCheckAt }: Incident, nowMs: number): boolean => nextCheckAt !== undefined && ms(nextCheckAt) <= nowMs

/** Everything that was reported, also what no event told of. */
export function incidentsOf({ hypervisor, heard, policy }: Seen, nowMs: number): Incident[] {
  const { instances = [], ha } = hypervisor.status ?? {}
  const { name } = hypervisor.metadata
  const told = fold(name, ha?.incidents ?? [], heard, policy, nowMs)
  const untold = isSettled(hypervisor) ? missed(instances, told, policy, nowMs) : []
  return fold(name, told, untold, policy, nowMs).filter(incident => isKept(incident, hypervisor, policy, nowMs))
}

/** In Nova, and past its tests: before that nobody's servers are on it. */
const isSettled = (hypervisor: Hypervisor): boolean =>
  novaHost(hypervisor) !== undefined && findCondition(hypervisor, 'Onboarding')?.status !== 'True'

const dayMs = 86_400_000

/** Kept as long as it counts: for the ladder, and so that the same report is not taken for a new one. */
function isKept(incident: Incident, { status }: Hypervisor, policy: Policy, nowMs: number): boolean {
  if (!isOver(incident)) return true
  if (attemptsWithin(incident, nowMs).length > 0) return true
  const ageMs = nowMs - ms(incident.since)
  if (incident.state !== 'Blocked') return ageMs < (policy.vm.check.missedSeconds + 60) * 1000
  const domain = status?.instances?.find(({ id }) => id === incident.server)
  const runs = domain?.state === 'running' && ms(domain.since) > ms(incident.since)
  return !runs && ageMs < dayMs
}

/** Whose evidence is needed: the look asks Nova for these alone. */
export function dueServers(seen: Seen, nowMs: number): Incident[] {
  const { hypervisor } = seen
  if (!isSettled(hypervisor)) return []
  const isAsked = (one: Incident): boolean => (isDue(one, nowMs) && one.kind !== 'postcopy') || mayHaveLeft(one, hypervisor)
  return incidentsOf(seen, nowMs).filter(isAsked)
}

export const selfOf = ({ hypervisor }: Seen, incidents: readonly Incident[]): FleetHost => ({
  name: hypervisor.metadata.name,
  domains: hypervisor.status?.instances?.length ?? hypervisor.status?.numInstances ?? 0,
  faults: faultsOf(incidents),
  signals: []
})

export function decide(seen: Seen, nowMs: number): Step {
  const { hypervisor, policy, fleet, observed } = seen
  const modes = modesOf(hypervisor, policy, observed)
  const incidents = incidentsOf(seen, nowMs)
  const correlations = correlate(selfOf(seen, incidents), fleet, policy, nowMs)
  const signals = signalsOf(seen, correlations, nowMs)
  const judged = incidents.map(incident => one(incident, seen, { signals, modes, nowMs }))
  const scheduled = schedule(seen, signals, modes, nowMs)
  const ofServers = judged.flatMap(({ decision }) => decision ?? [])
  const decisions = [...shutdownsCalledOff(seen, nowMs), ...ofServers, ...scheduled.decisions]
  const calls = [...scheduled.calls, ...judged.flatMap(({ call }) => call ?? [])]
  const news = [...judged.flatMap(({ news }) => news ?? []), ...scheduled.news, ...alerts(seen, signals)]
  const open = judged.flatMap(({ incident: { nextCheckAt } }) => (nextCheckAt === undefined ? [] : [ms(nextCheckAt)]))
  const pending = signals.flatMap(({ effect, dueAt }) => (effect === 'alert' && dueAt !== undefined ? [ms(dueAt)] : []))
  const own = ownChecks(seen, signals, scheduled, nowMs)
  const calm = holdEnds(signals, policy, nowMs)
  const unasked = !seen.nova && incidents.some(incident => mayHaveLeft(incident, hypervisor)) ? [nowMs] : []
  const nextMs = Math.min(...open, ...pending, ...own, ...calm, ...unasked)
  const nextCheckMs = Number.isFinite(nextMs) ? Math.max(0, nextMs - nowMs) : undefined
  const ha = statusOf(seen, { modes, signals, judged, decisions, scheduled, nextMs, nowMs })
  return { ha, calls, decisions, news, nextCheckMs }
}

/** When the host itself is to be looked at again, its servers apart. */
function ownChecks(
  seen: Seen,
  signals: readonly Signal[],
  { calls, nextCheckMs, evictionRef }: Scheduled,
  nowMs: number
): number[] {
  const state = stateOf(seen, signals)
  const isNovas = state === 'Unschedulable' || state === 'Healing' || evictionRef !== undefined
  return [
    ...(nextCheckMs === undefined ? [] : [nowMs + nextCheckMs]),
    ...(isNovas && !seen.nova ? [nowMs] : []),
    ...(isNovas && seen.outage !== undefined ? [nowMs + outageMs] : []),
    // whoever asks for something may die before: somebody looks whether it was done
    ...(calls.length > 0 ? [nowMs + proofMs] : [])
  ]
}

interface Scene {
  signals: readonly Signal[]
  modes: Modes
  nowMs: number
}

function one(incident: Incident, seen: Seen, { signals, modes, nowMs }: Scene): Judged {
  const { hypervisor, evidence, outage, policy } = seen
  if (!isDue(incident, nowMs)) {
    const gone = mayHaveLeft(incident, hypervisor) ? evidence.get(incident.server) : undefined
    return { incident: closedIfLeft(incident, gone, novaHost(hypervisor), nowMs) }
  }
  if (!isSettled(hypervisor)) return { incident: closedBy(incident, 'NotOnboarded', 'The host is not in service yet.', nowMs) }
  const found = evidence.get(incident.server)
  if (!found && incident.kind !== 'postcopy') {
    if (outage === undefined) return { incident } // came up since the look; the next one asks
    const waitingFor = `OpenStack: ${outage}`
    return { incident: { ...incident, waitingFor, nextCheckAt: iso(nowMs + outageMs) } }
  }
  const { instances, aggregates = [] } = hypervisor.status ?? {}
  const lost = signals.some(({ kind }) => kind === 'LibvirtLost' || kind === 'AgentSilent')
  const view: View = {
    host: novaHost(hypervisor) ?? '',
    domain: instances?.find(({ id }) => id === incident.server),
    domainKnown: instances !== undefined && !lost,
    shuttingDown: signals.some(({ kind }) => kind === 'ShutdownRequested'),
    evidence: found ?? { server: undefined, actions: [], steps: new Map() },
    policy,
    nowMs,
    askedMs: seen.askedMs,
    modes,
    hold: holdOf(incident, signals),
    aggregates
  }
  return judge(incident, view)
}

const outageMs = 15_000
const proofMs = 5000
const holds = ['FleetFault', 'StorageOutage', 'SeveralHosts', 'HostSuspect'] as const

/** HA-15, HA-16: of the kinds of fault that are suspected, the ladders wait. */
function holdOf({ kind }: Incident, signals: readonly Signal[]): Hold | undefined {
  for (const hold of holds) {
    const found = signals.find(signal => signal.kind === hold && signal.object === kind)
    if (found) return { kind: hold, words: `${hold}: ${found.message ?? ''}` }
  }
  return undefined
}

/** A suspicion ends by time alone. */
const holdEnds = (signals: readonly Signal[], { correlation }: Policy, nowMs: number): number[] =>
  signals.flatMap(({ kind, lastSeen }) =>
    [...holds, 'StorageSuspect'].includes(kind) ? [Math.max(nowMs, ms(lastSeen) + correlation.calmSeconds * 1000)] : []
  )

function closedBy(given: Incident, rule: string, reason: string, nowMs: number): Incident {
  const { nextCheckAt: _, ...incident } = given
  return { ...incident, state: 'Closed', since: iso(nowMs), rule, reason }
}

/** Each signal is told when it begins and when it is over. */
function alerts({ hypervisor }: Seen, signals: readonly Signal[]): News[] {
  const name = ({ kind, object }: Signal): string => `${kind} ${object ?? ''}`.trim()
  const before = new Set((hypervisor.status?.ha?.signals ?? []).map(name))
  const after = new Set(signals.map(name))
  const began = signals.filter(signal => !before.has(name(signal)))
  const over = [...before].filter(one => !after.has(one))
  return [
    ...began.map(({ kind, object, message }): News => ({
      type: 'Warning',
      reason: kind,
      note: `${object ? `${object}: ` : ''}${message ?? kind}`
    })),
    ...over.map((one): News => ({ type: 'Normal', reason: one.split(' ')[0] ?? one, note: `${one}: over` }))
  ]
}

interface Outcome extends Scene {
  judged: readonly Judged[]
  decisions: readonly Decision[]
  scheduled: Scheduled
  nextMs: number
}

function statusOf(seen: Seen, { modes, signals, judged, decisions, scheduled, nextMs, nowMs }: Outcome): Ha {
  const before = seen.hypervisor.status?.ha
  const state = stateOf(seen, signals)
  const since = before?.state === state && before.since ? before.since : iso(nowMs)
  const incidents = judged.map(({ incident }) => incident)
  const history = historyOf(before?.history ?? [], decisions)
  return {
    mode: modes.vm,
    state,
    since,
    ...(signals.length > 0 && { signals: [...signals] }),
    ...(incidents.length > 0 && { incidents }),
    ...(scheduled.evictionRef && { evictionRef: scheduled.evictionRef }),
    ...(scheduled.waitingFor && { waitingFor: scheduled.waitingFor }),
    ...(Number.isFinite(nextMs) && { nextCheckAt: iso(nextMs) }),
    ...(history.length > 0 && { history })
  }
}

/** Later the verdict of host-failure detection (HA §4) takes this place when it is worse. */
function stateOf({ hypervisor, service }: Seen, signals: readonly Signal[]): string {
  if (signals.some(({ effect }) => effect === 'disable' || effect === 'drain')) return 'Unschedulable'
  if (service?.status === 'disabled' && service.disabledReason?.endsWith('drover-ha)')) return 'Healing'
  // Nova was not asked, or did not answer: what was disabled here is still to be enabled
  const before = hypervisor.status?.ha?.state
  if (!service && (before === 'Unschedulable' || before === 'Healing')) return 'Healing'
  return signals.length > 0 ? 'Degraded' : 'Healthy'
}

const kept = 10

/** The newest of each decision; where there is no room, what led to nothing goes first. */
export function historyOf(before: readonly Decision[], added: readonly Decision[]): Decision[] {
  const all = [...new Map([...before, ...added].map(one => [`${one.decisionId} ${one.kind}`, one])).values()]
  while (all.length > kept) {
    const idle = all.findIndex(({ action }) => action === 'none')
    all.splice(idle >= 0 && idle < all.length - 1 ? idle : 0, 1)
  }
  return all
}

/** Whether it says more than what is written, but for the time of the next look and what only Nova could tell. */
export function saysMore(before: Ha | undefined, after: Ha): boolean {
  const rest = (ha: Ha): Ha => ({ ...ha, nextCheckAt: '', waitingFor: '' })
  return !isDeepStrictEqual(rest(before ?? {}), rest(after))
}
