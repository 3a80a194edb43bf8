// look → decide → act → reflect for one Eviction. Everything is read anew each time: a process that dies between two lines loses nothing.
import type { Logger } from 'pino'
import { OpenStackError } from 'openstack-sdk-lite'
import type { Eviction } from '../../shared/schema/eviction.ts'
import { timestamp } from '../../shared/kube/conditions.ts'
import { act, type Hands } from './act.ts'
import { decide } from './decide.ts'
import type { Step } from './step.ts'
import { look, type Eyes } from './look.ts'
import { reflect, type Answers } from './reflect.ts'
import type { Options, Peer, Seen, Status } from './seen.ts'

export interface PassDeps extends Eyes, Hands {
  clock: () => Date
  log: Pick<Logger, 'info' | 'warn'>
  options: Options
  /** HV-8: what would be done is only told */
  observe: boolean
  /** Writes the status if nobody else wrote since this pass began to look: of several processes one is let through. */
  claim: (status: Status) => Promise<boolean>
}

export interface Passed {
  status: Status
  /** when it is worth looking again, if no event comes before */
  nextCheckMs: number
  /** ends that leave no lane idle: moves that Nova keeps in its own queue (EV-16); all, when nobody waits */
  reserve: number
  /** servers for which Nova was asked for something */
  acted: ReadonlySet<string>
  /** another process is at it: nothing was done, and nothing is to be written */
  superseded?: true
}

const outageMs = 15_000
const learnMs = 1000
const nothing: Answers = { started: new Map(), called: new Map() }

export async function pass(eviction: Eviction, peers: readonly Peer[], deps: PassDeps): Promise<Passed> {
  let seen: Seen
  try {
    seen = await look(eviction, peers, deps.clock().getTime(), deps)
  } catch (err) {
    if (!(err instanceof OpenStackError)) throw err
    return outage(eviction, err, deps)
  }
  const decided = decide(seen, deps.clock().getTime(), deps.options)
  const step = mustClaim(decided, eviction, deps) ? { ...decided, starts: decided.starts.slice(0, decided.free) } : decided
  if (step !== decided && !(await deps.claim(reflect(seen, step, asIfAsked(step), deps.clock(), deps.progress))))
    return { status: eviction.status ?? {}, nextCheckMs: learnMs, reserve: 0, acted: new Set(), superseded: true }
  const answers = deps.observe ? nothing : await act(seen, step, deps)
  const { name } = eviction.metadata
  for (const { server, how } of step.starts.filter(({ server }) => answers.started.has(server))) {
    deps.log.info({ eviction: name, server, how, outcome: answers.started.get(server) }, 'move')
  }
  for (const call of step.calls) deps.log.info({ eviction: name, ...call }, deps.observe ? 'would ask Nova' : 'asked Nova')
  const status = reflect(seen, step, answers, deps.clock(), deps.progress)
  const told =
    deps.observe && step.verdict === undefined ? { ...status, waitingFor: `observe mode: would ${wish(step)}` } : status
  const started = [...answers.started.values()].filter(({ ok }) => ok).length
  const underWay = step.moving.length + started
  return {
    status: told,
    nextCheckMs: started > 0 ? Math.min(step.nextCheckMs, afterStartMs(seen, underWay, deps)) : step.nextCheckMs,
    reserve: step.starts.length > answers.started.size ? Math.max(0, underWay - (seen.novaLimit ?? underWay)) : Infinity,
    acted: new Set([...answers.started.keys(), ...answers.called.keys()])
  }
}

/**
 * HA-34: of two orders to move a server Nova refuses the second by its task, but it takes any number of orders to rescue one, and would start it on
 * two hosts. So it is written down who is rescued before Nova is asked.
 */
const mustClaim = ({ starts, free }: Step, { spec }: Eviction, { observe }: PassDeps): boolean =>
  spec.mode === 'evacuate' && !observe && starts.length > 0 && free > 0

const asIfAsked = ({ starts }: Step): Answers => ({
  started: new Map(starts.map(({ server }) => [server, { ok: true }])),
  called: new Map()
})

/** EV-16: whether Nova queues shows only before the first of them ends; looked at once for a host. */
function afterStartMs({ host = '', novaLimit }: Seen, underWay: number, { memory }: PassDeps): number {
  if (novaLimit !== undefined || underWay < 2 || memory.askedLimit.has(host)) return outageMs
  memory.askedLimit.add(host)
  return learnMs
}

function wish({ calls, starts, free }: Step): string {
  const moves = starts.slice(0, free).map(({ server, how }) => `${how} ${server}`)
  return [...calls.map(call => ('server' in call ? `${call.do} ${call.server}` : call.do)), ...moves].join(', ') || 'wait'
}

/** Nova is away, or does not let us in: nothing that was said before is taken back, and the next look comes soon. */
function outage(eviction: Eviction, err: OpenStackError, { clock, log }: PassDeps): Passed {
  const now = clock()
  const words = err.words ?? err.code
  log.warn({ eviction: eviction.metadata.name, err }, 'Nova could not be asked')
  const before = eviction.status ?? {}
  const conditions = (before.conditions ?? []).filter(({ type }) => ours.has(type))
  const message = `Waiting for OpenStack: ${words}`
  const evicting = { type: 'Evicting', status: 'True', reason: 'Running', message, lastTransitionTime: timestamp(now) } as const
  const known = conditions.some(({ type }) => type === 'Evicting')
  const status: Status = {
    outstandingRamMb: 0,
    ...before,
    startedAt: before.startedAt ?? timestamp(now),
    conditions: known
      ? conditions.map(one => (one.type === 'Evicting' && one.status === 'True' ? { ...one, message } : one))
      : [...conditions, evicting],
    phase: before.phase ?? 'Preflight',
    waitingFor: `OpenStack: ${words}`,
    nextCheckAt: timestamp(new Date(now.getTime() + outageMs))
  }
  return { status, nextCheckMs: outageMs, reserve: 0, acted: new Set() }
}

const ours = new Set([
  'Evicting',
  'PreflightChecksSucceeded',
  'MigratingInstance',
  'HypervisorReEnabled',
  'IncomingMigrationsSettled'
])
