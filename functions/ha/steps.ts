// The small steps of the ladder: wait, go on, ask for something, prove that it runs. Pure.
import { answered } from './attempts.ts'
import type { Checked } from './check.ts'
import { explained, keep } from './endings.ts'
import { iso } from './incident.ts'
import type { Attempt, Incident } from './seen.ts'
import type { Judged, View } from './view.ts'

const soonMs = 2000
export const pausedMs = 10_000
export const stuckMs = 600_000

export const wait = (
  incident: Incident,
  { rule, reason }: Pick<Checked, 'rule' | 'reason'>,
  nowMs: number,
  forMs = soonMs
): Judged => ({
  incident: { ...incident, state: 'Checking', rule, reason, waitingFor: reason, nextCheckAt: iso(nowMs + forMs) }
})

/** Its step is under way, and nothing can be said of it yet. */
export const goOn = (incident: Incident, nowMs: number, forMs = soonMs): Judged => ({
  incident: { ...incident, nextCheckAt: iso(nowMs + forMs) }
})

/** Whose domain nobody sees now is neither running nor stopped (T-26). */
export const unseen = (incident: Incident, nowMs: number): Judged =>
  goOn({ ...incident, waitingFor: 'the agent to see the domain' }, nowMs, pausedMs)

/** Written down before it is asked for, so that whoever comes back knows of it. */
export function order(
  incident: Incident,
  what: Attempt['action'],
  state: Incident['state'],
  checked: Checked,
  { nowMs }: View
): Judged {
  const { server, decisionId, trace, attempts = [] } = incident
  return {
    incident: {
      ...explained(incident, checked),
      state,
      since: iso(nowMs),
      attempts: [...attempts, { action: what, at: iso(nowMs) }].slice(-20),
      waitingFor: 'the server to run',
      nextCheckAt: iso(nowMs + soonMs)
    },
    // the agent reads in the status what it is to resume
    ...(what !== 'resume' && { call: { do: what, server, decisionId, trace, atMs: nowMs } })
  }
}

export const isUp = ({ domain, evidence: { server } }: View): boolean =>
  ['running', 'blocked'].includes(domain?.state ?? '') && server?.status === 'ACTIVE' && server.taskState === null

export const toProve = (incident: Incident, nowMs: number): Judged => ({
  incident: {
    ...answered(incident, { outcome: 'runs' }),
    state: 'Proving',
    since: iso(nowMs),
    waitingFor: `${incident.plan?.provenSeconds ?? 0} s of running`,
    nextCheckAt: iso(nowMs + (incident.plan?.provenSeconds ?? 0) * 1000)
  }
})

/** Nova is at it for so long that only a person can tell why. */
export const stuck = (incident: Incident, task: string | null): Checked => {
  const checked = keep(incident)
  return { ...checked, reason: `${checked.reason} Nova does not come to an end with it: ${task ?? 'no task'}.` }
}
