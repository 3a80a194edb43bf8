// Reports of one server are one incident until it has its end (HA-12, T-29). Pure.
import { createHash } from 'node:crypto'
import type { Policy } from './policy.ts'
import { isReboot, type FaultKind, type Heard, type Report } from './heard.ts'
import type { Domain, Incident } from './seen.ts'

export const iso = (ms: number): string => new Date(ms).toISOString()
export const ms = (text: string | undefined): number => Date.parse(text ?? '')

const mostIncidents = 500
const longestText = 256

/** The later in this list says more about the same fault. libvirt may lose its way into a domain only because that ends. */
const ranks: readonly FaultKind[] = [
  ...(['controlLost', 'stoppedUnknown', 'stoppedByGuest', 'stoppedByHost', 'destroyed', 'disk', 'apiError'] as const),
  ...(['rebooted', 'watchdog', 'memory', 'crashloaded', 'crashed', 'postcopy'] as const)
]
const rank = (kind: string): number => ranks.indexOf(kind as FaultKind)

/** The same report always gives the same id, in whatever process. */
export const idOf = (host: string, about: string, atMs: number): string =>
  createHash('sha256').update(`${host}\n${about}\n${atMs}`).digest('hex').slice(0, 12)

export const isOver = ({ state }: Incident): boolean => ['Recovered', 'Reported', 'Blocked', 'Closed'].includes(state)
const underWay = (state: Incident['state']): boolean => ['Resuming', 'Restarting', 'Proving', 'Moving'].includes(state)

/** All incidents after what was heard, in the order it came. */
export function fold(
  host: string,
  before: readonly Incident[],
  heard: readonly Heard[],
  policy: Policy,
  nowMs: number
): Incident[] {
  const all = new Map(before.map(incident => [incident.server, incident]))
  for (const one of heard) {
    if (one.about === 'host') continue
    const known = all.get(one.server)
    // the agent's own list is compared by the tick: it comes up again
    if (!known && all.size >= mostIncidents && !makeRoom(all)) continue
    all.set(one.server, known ? join(host, known, one, policy, nowMs) : open(host, one, nowMs))
  }
  return [...all.values()].sort((a, b) => (a.server < b.server ? -1 : 1))
}

/** Who has had its end for longest goes, who was left down after all others. What counts for a ladder, is under way or was given up stays. */
function makeRoom(all: Map<string, Incident>): boolean {
  const order = ({ state, since = '' }: Incident): string => `${state === 'Reported' ? 1 : 0} ${since}`
  const ended = [...all.values()].filter(one => isOver(one) && one.state !== 'Blocked' && !one.attempts)
  const [first] = ended
  if (!first) return false
  return all.delete(ended.reduce((a, b) => (order(b) < order(a) ? b : a), first).server)
}

function open(host: string, heard: Exclude<Heard, { about: 'host' }>, nowMs: number, earlier?: Incident): Incident {
  const { server, name, kind, event, atMs, storage, trace } = heard
  const counted = heard.about === 'count'
  const waitMs = counted ? 0 : heard.waitMs
  const id = idOf(host, server, atMs)
  return {
    server,
    name: name.slice(0, longestText),
    kind,
    state: counted ? 'Closed' : 'Checking',
    // opened again by a second report of the same millisecond: the first decision was announced as closed under its own id
    decisionId: earlier?.decisionId === id ? idOf(host, `${server} ${kind}`, atMs) : id,
    event: event.slice(0, longestText),
    eventAt: iso(atMs),
    noticedAt: iso(nowMs),
    since: iso(nowMs),
    count: 1,
    ...(storage !== undefined && { storage }),
    ...(trace !== undefined && { trace }),
    ...(earlier?.attempts && { attempts: earlier.attempts }),
    // counted from the event, but no sooner than the agent can have written it down
    ...(counted
      ? { rule: 'CountedOnly' }
      : { nextCheckAt: iso(Math.max(atMs + waitMs, Math.min(nowMs + waitMs, atMs + 2 * waitMs))) })
  }
}

/** A report about a server that is known: the same fault, old news, or a new fault. */
function join(host: string, known: Incident, heard: Exclude<Heard, { about: 'host' }>, policy: Policy, nowMs: number): Incident {
  const knownMs = ms(known.eventAt)
  const gapMs = heard.atMs - knownMs
  const near = Math.abs(gapMs) <= policy.vm.burstSeconds * 1000
  const counted: Incident = { ...known, count: (known.count ?? 1) + (gapMs === 0 && heard.event === known.event ? 0 : 1) }
  if (heard.about === 'count') return isOver(known) && gapMs > 0 && !near ? open(host, heard, nowMs, known) : counted
  // T-27: nothing that comes later makes a broken post-copy a common crash
  if (known.kind === 'postcopy' && heard.kind !== 'postcopy') return counted
  if (heard.kind === 'postcopy' && known.kind !== 'postcopy') return open(host, heard, nowMs, known)
  if (gapMs < 0 && !near) return known // delivered late: judged already, by what was then the present
  // of before the server ran again: a stop of our own restart, delivered late. What came while it was being proven is a new fault.
  const provenFromMs = ms(known.since) - (known.plan?.provenSeconds ?? 0) * 1000
  if (known.state === 'Recovered' && heard.atMs <= provenFromMs) return known
  if (underWay(known.state)) return duringRestart(known, counted, heard)
  if (near) return sameFault(known, counted, heard, host, nowMs)
  if (isOver(known) || isReboot(known) || known.kind === 'disk') return open(host, heard, nowMs, known)
  return sameFault(known, counted, heard, host, nowMs)
}

/** A stop that belongs to our own hard reboot is no news; one after it has run is the next fault of the ladder. */
function duringRestart(known: Incident, counted: Incident, { atMs, event, kind }: Report): Incident {
  const last = known.attempts?.at(-1)
  if (known.state !== 'Proving' || atMs <= ms(known.since) || isReboot({ kind, event })) return known
  return { ...counted, event, kind, waitingFor: 'failed again', nextCheckAt: iso(Math.max(atMs, ms(last?.at))) }
}

/** Whatever comes first gives the time and the id; what says most gives the kind. */
function sameFault(known: Incident, counted: Incident, heard: Report, host: string, nowMs: number): Incident {
  const says = rank(heard.kind) > rank(known.kind)
  if (!says) return counted
  // it was only counted, or called harmless by the lesser word: looked at with the new one
  const reopened = known.state === 'Closed' || known.state === 'Reported'
  if (isOver(known)) return reopened ? { ...open(host, heard, nowMs, known), count: counted.count ?? 1 } : counted
  const { kind, event, waitMs, storage } = heard
  const dueMs = heard.atMs + waitMs
  const at = kind === 'crashloaded' ? dueMs : Math.max(nowMs, Math.min(ms(known.nextCheckAt), dueMs))
  return { ...counted, kind, event, nextCheckAt: iso(at), ...(storage !== undefined && { storage }) }
}

/** T-5: what no event told of, but the agent's own list shows. Only what nobody has looked at, and not what is just being told. */
export function missed(domains: readonly Domain[], incidents: readonly Incident[], policy: Policy, nowMs: number): Report[] {
  const graceMs = 20_000
  const known = new Map(incidents.map(incident => [incident.server, incident]))
  return domains.flatMap(({ id, name, state = '', since }) => {
    const sinceMs = ms(since)
    const ageMs = nowMs - sinceMs
    const incident = known.get(id)
    const told = incident !== undefined && ms(incident.eventAt) >= sinceMs - policy.vm.burstSeconds * 1000
    if (!['off', 'crashed'].includes(state) || told || !(ageMs >= graceMs && ageMs <= policy.vm.check.missedSeconds * 1000))
      return []
    const kind: FaultKind = state === 'crashed' ? 'crashed' : 'stoppedUnknown'
    const report: Report = {
      about: 'server',
      server: id,
      name: name ?? '',
      kind,
      event: `${state}/not told`,
      atMs: sinceMs,
      waitMs: 0,
      trace: undefined
    }
    return incident && !isOver(incident) ? [] : [report]
  })
}
