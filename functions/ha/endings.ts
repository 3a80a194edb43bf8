// How an incident ends: closed, reported, recovered, given up; each with its line in the history and what is told of it. Pure.
import type { Checked } from './check.ts'
import { attemptsWithin } from './attempts.ts'
import { iso } from './incident.ts'
import type { Decision, Incident, News } from './seen.ts'
import type { Judged, View } from './view.ts'

export const keep = ({ rule = '', reason = '', passedOver = [], inputs = {} }: Incident): Checked => ({
  finding: 'fault',
  rule,
  reason,
  passedOver: [...passedOver],
  inputs
})

export function recovered(incident: Incident, view: View): Judged {
  const action = (incident.attempts ?? []).map(({ action }) => action).join(', ')
  const where = view.evidence.server?.host === view.host ? '' : ` on ${view.evidence.server?.host}`
  const checked = { ...keep(incident), reason: `${incident.reason ?? ''} It runs again${where}.` }
  const ended = end(incident, 'Recovered', checked, view, { state: 'Recovered', action })
  return {
    ...ended,
    news: newsOf(ended, 'Normal', 'ServerRecovered', `Server ${incident.server} runs again${where} (${action}).`, 'recovered')
  }
}

export function block(incident: Incident, checked: Checked, view: View): Judged {
  const tries = attemptsWithin(incident, view.nowMs).length
  const { action, outcome } = incident.attempts?.at(-1) ?? {}
  const last = outcome === undefined ? '' : ` The last ${action}: ${outcome}.` // T-14: in Nova's own words
  const reason = `${checked.reason} ${tries} restarts did not help: a person is needed.${last}`
  const found = { ...checked, rule: 'GivenUp', reason }
  const ended = end(incident, 'Blocked', found, view, { state: 'Blocked', action: 'reported' })
  return { ...ended, news: newsOf(ended, 'Warning', 'ServerBlocked', `Server ${incident.server}: ${found.reason}`, 'blocked') }
}

/** T-27: neither side is started, destroyed or moved by Drover. */
export function postcopy(incident: Incident, view: View): Judged {
  if (incident.state === 'Blocked') return { incident }
  const checked: Checked = {
    finding: 'fault',
    rule: 'PostcopyFailed',
    reason: 'A post-copy migration broke: its memory is in two halves. To start, destroy or move either side would lose it.',
    passedOver: [],
    inputs: { event: incident.event ?? '', eventAt: incident.eventAt ?? '' }
  }
  const ended = end(incident, 'Blocked', checked, view, { state: 'Blocked', action: 'reported' })
  return { ...ended, news: newsOf(ended, 'Warning', 'PostcopyFailed', `Server ${incident.server}: ${checked.reason}`, 'blocked') }
}

export const explained = (incident: Incident, { rule, reason, passedOver, inputs }: Checked): Incident => ({
  ...incident,
  rule,
  reason: reason.slice(0, 1024),
  passedOver,
  inputs
})

/** The incident has its end, and the history its line: what it was decided from is there alone, since hundreds may end at once (HA-17). */
export function end(
  incident: Incident,
  state: Incident['state'],
  checked: Checked,
  { nowMs }: View,
  { state: verdict, action }: { state: string; action: string },
  tell?: 'Warning'
): Judged {
  const { nextCheckAt: _, waitingFor: __, passedOver: ___, inputs: ____, ...rest } = explained(incident, checked)
  const ended: Incident = { ...rest, state, since: iso(nowMs) }
  const decision: Decision = {
    decisionId: incident.decisionId,
    kind: incident.kind,
    server: incident.server,
    state: verdict,
    action,
    rule: checked.rule,
    reason: checked.reason.slice(0, 1024),
    passedOver: checked.passedOver,
    inputs: checked.inputs,
    ...(incident.noticedAt && { startedAt: incident.noticedAt }),
    finishedAt: iso(nowMs)
  }
  const judged: Judged = { incident: ended, decision }
  return tell
    ? { ...judged, news: newsOf(judged, tell, verdict, `Server ${incident.server} (${incident.event}): ${checked.reason}`) }
    : judged
}

const newsOf = (
  { incident, decision }: Judged,
  type: News['type'],
  reason: string,
  note: string,
  event?: 'recovered' | 'blocked'
): News => ({
  type,
  reason,
  note,
  ...(event && { event: { kind: event, server: incident.server } }),
  ...(decision && { decision }),
  trace: incident.trace
})
