// What is done about one server: the fault check, then the recovery ladder (HA-13), each step from what is seen now. Pure.
import type { Server } from 'openstack-sdk-lite'
import { novaTimeMs } from '../../shared/openstack/nova-time.ts'
import { checkFault, isOwn, type Checked, type Facts } from './check.ts'
import { iso, ms } from './incident.ts'
import { answerFor } from './answer.ts'
import type { Attempt, Call, Decision, Incident, Modes, News } from './seen.ts'

/** Why no server of this host is restarted now: the fault may be the host's, the storage's or the fleet's. */
export interface Hold {
  kind: 'HostSuspect' | 'SeveralHosts' | 'FleetFault' | 'StorageOutage'
  words: string
}

export interface View extends Omit<Facts, 'incident'> {
  modes: Modes
  hold: Hold | undefined
  aggregates: readonly { name: string; metadata?: Record<string, string> | undefined }[]
}

export interface Judged {
  incident: Incident
  call?: Call
  decision?: Decision
  news?: News
}

const soonMs = 2000
const pausedMs = 10_000

export function judge(incident: Incident, view: View): Judged {
  if (incident.kind === 'postcopy') return postcopy(incident, view)
  switch (incident.state) {
    case 'Restarting':
      return restarting(incident, view)
    case 'Proving':
      return proving(incident, view)
    case 'Moving':
      return moving(incident, view)
    default:
      return checking(incident, view)
  }
}

function checking(incident: Incident, view: View): Judged {
  const checked = checkFault({ ...view, incident })
  const { policy, nowMs } = view
  const limitMs = ms(incident.noticedAt) + policy.vm.check.limitSeconds * 1000
  if (checked.finding === 'wait') {
    if (nowMs < limitMs || checked.rule === 'DomainNotKnown') return wait(incident, checked, nowMs)
    return end(incident, 'Reported', checked, view, { state: 'NotConfirmed', action: 'reported' }, 'Warning')
  }
  if (checked.finding === 'none') return end(incident, 'Closed', checked, view, { state: checked.rule, action: 'none' })
  const untilMs = ms(incident.eventAt) + policy.vm.rebootSeconds * 1000
  if (incident.kind === 'rebooted' && nowMs < untilMs)
    return wait(incident, { ...checked, rule: 'StillRebooting', reason: `It has until ${iso(untilMs)} to run again.` }, nowMs)
  return answer(incident, checked, view)
}

const wait = (incident: Incident, { rule, reason }: Pick<Checked, 'rule' | 'reason'>, nowMs: number): Judged => ({
  incident: { ...incident, state: 'Checking', rule, reason, waitingFor: reason, nextCheckAt: iso(nowMs + soonMs) }
})

/** A proven fault: what the policy says of it, and whether now is the time. */
function answer(incident: Incident, checked: Checked, view: View): Judged {
  const { server } = view.evidence
  const { answer, words } = answerFor(incident.kind, server, view.aggregates, view.policy)
  const found: Checked = { ...checked, passedOver: [...checked.passedOver], reason: `${checked.reason} ${words}` }
  if (answer === 'record') return end(incident, 'Closed', found, view, { state: 'Recorded', action: 'none' })
  if (answer === 'report') {
    const state = incident.kind === 'destroyed' ? 'OutOfBand' : 'Reported'
    return end(incident, 'Reported', found, view, { state, action: 'reported' }, 'Warning')
  }
  const { modes, hold, nowMs } = view
  if (modes.vm === 'external' || modes.vm === 'off')
    return end(incident, 'Closed', { ...found, rule: 'NotOurs', reason: `${found.reason} Mode is ${modes.vm}.` }, view, {
      state: 'NotOurs',
      action: 'none'
    })
  if (hold?.kind === 'FleetFault' || hold?.kind === 'StorageOutage')
    return end(
      incident,
      'Reported',
      { ...found, rule: hold.kind, reason: `${found.reason} ${hold.words}` },
      view,
      { state: hold.kind, action: 'reported' },
      'Warning'
    )
  if (hold)
    return {
      incident: {
        ...explained(incident, { ...found, rule: hold.kind, reason: `${found.reason} ${hold.words}` }),
        ...(incident.state === 'Paused' ? {} : { since: iso(nowMs) }),
        state: 'Paused',
        waitingFor: hold.words,
        nextCheckAt: iso(nowMs + pausedMs)
      }
    }
  if (modes.vm === 'observe')
    return end(
      incident,
      'Reported',
      { ...found, rule: 'Observed', reason: `${found.reason} Mode is observe: it would be restarted.` },
      view,
      {
        state: 'WouldRestart',
        action: 'none'
      }
    )
  return restart(planned(incident, view), found, view)
}

/** A change of the policy never alters what was decided before: the plan is kept with the incident. */
const planned = (incident: Incident, { policy: { vm } }: View): Incident => ({
  ...incident,
  plan: incident.plan ?? {
    restarts: vm.restarts,
    windowSeconds: vm.windowSeconds,
    waitsSeconds: [...vm.waitsSeconds],
    provenSeconds: vm.provenSeconds,
    restartSeconds: vm.restartSeconds,
    move: vm.moveOnRepeat
  }
})

export const attemptsWithin = ({ attempts = [], plan }: Incident, nowMs: number): Attempt[] =>
  attempts.filter(({ action, at }) => action === 'restart' && ms(at) > nowMs - (plan?.windowSeconds ?? 0) * 1000)

/** The next rung: restart, after its wait; then move once, if it may; then a person. */
function restart(incident: Incident, checked: Checked, view: View): Judged {
  const { nowMs } = view
  const tried = attemptsWithin(incident, nowMs)
  const { restarts = 0, waitsSeconds = [0], move = false } = incident.plan ?? {}
  if (tried.length >= restarts) return move ? moveOnce(incident, checked, view) : block(incident, checked, view)
  const waitSeconds = waitsSeconds[tried.length] ?? waitsSeconds.at(-1) ?? 0
  const lastMs = ms(tried.at(-1)?.at)
  const dueMs = tried.length === 0 ? nowMs : lastMs + waitSeconds * 1000
  if (nowMs < dueMs)
    return {
      incident: {
        ...explained(incident, checked),
        state: 'Checking',
        waitingFor: `restart ${tried.length + 1} of ${restarts}, after ${waitSeconds} s`,
        nextCheckAt: iso(dueMs)
      }
    }
  return order(incident, 'restart', 'Restarting', checked, view)
}

function moveOnce(incident: Incident, checked: Checked, view: View): Judged {
  if (incident.attempts?.some(({ action }) => action === 'move')) return block(incident, checked, view)
  return order(incident, 'move', 'Moving', checked, view)
}

/** Written down before it is asked for, so that whoever comes back knows of it. */
function order(incident: Incident, what: Attempt['action'], state: Incident['state'], checked: Checked, { nowMs }: View): Judged {
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
    call: { do: what, server, decisionId, trace }
  }
}

const isUp = ({ domain, evidence: { server } }: View): boolean =>
  ['running', 'blocked'].includes(domain?.state ?? '') && server?.status === 'ACTIVE' && server.taskState === null

/** Whether Nova knows of what was last asked for: a process may have died between the note and the call. */
function asked(incident: Incident, { evidence, policy }: View): string | undefined {
  const last = incident.attempts?.at(-1)
  const toleranceMs = policy.vm.check.skewSeconds * 1000
  const only = { ...incident, attempts: last ? [last] : [] }
  return evidence.actions.find(
    action => isOwn(only, action, toleranceMs) && (novaTimeMs(action.started) ?? 0) >= ms(last?.at) - toleranceMs
  )?.requestId
}

function answered(incident: Incident, more: Partial<Attempt>): Incident {
  const { attempts = [] } = incident
  const last = attempts.at(-1)
  return last ? { ...incident, attempts: [...attempts.slice(0, -1), { ...last, ...more }] } : incident
}

function restarting(given: Incident, view: View): Judged {
  const { nowMs, host, evidence, domain } = view
  const request = asked(given, view)
  const incident = request === undefined ? given : answered(given, { request })
  const last = incident.attempts?.at(-1)
  const sinceMs = ms(last?.at)
  const { server } = evidence
  if (!server || (server.host !== null && server.host !== host) || !['active', 'stopped', 'error'].includes(server.vmState ?? ''))
    return checking(incident, view) // deleted, moved, suspended meanwhile: somebody else's now
  const began = ms(domain?.since) >= Math.floor(sinceMs / 1000) * 1000
  if (isUp(view) && (began || request !== undefined))
    return {
      incident: {
        ...answered(incident, { outcome: 'runs' }),
        state: 'Proving',
        since: iso(nowMs),
        waitingFor: `${incident.plan?.provenSeconds ?? 0} s of running`,
        nextCheckAt: iso(nowMs + (incident.plan?.provenSeconds ?? 0) * 1000)
      }
    }
  const lostMs = 10_000
  if (request === undefined && last?.outcome === undefined && server.taskState === null && nowMs - sinceMs >= lostMs)
    return again(incident, view) // Nova never heard of it
  const refused = last?.outcome?.startsWith('refused') ?? false
  const over = nowMs - sinceMs >= (incident.plan?.restartSeconds ?? 0) * 1000
  if (refused || (over && server.taskState === null))
    return checking({ ...answered(incident, { outcome: last?.outcome ?? 'did not run in time' }), state: 'Checking' }, view)
  return { incident: { ...incident, nextCheckAt: iso(nowMs + soonMs) } }
}

/** The same try once more: it is not counted twice. */
function again(incident: Incident, view: View): Judged {
  const attempts = (incident.attempts ?? []).slice(0, -1)
  return checking({ ...incident, state: 'Checking', attempts }, view)
}

function proving(incident: Incident, view: View): Judged {
  const { nowMs } = view
  if (isUp(view) && ms(view.domain?.since) <= ms(incident.since) + 1000) {
    const provenMs = ms(incident.since) + (incident.plan?.provenSeconds ?? 0) * 1000
    if (nowMs < provenMs) return { incident: { ...incident, waitingFor: 'running long enough', nextCheckAt: iso(provenMs) } }
    return recovered(incident, view)
  }
  // HA-13: it did not run for long enough; whether somebody stopped it is asked again
  const {
    host,
    evidence: { server }
  } = view
  if (!server || (server.host !== null && server.host !== host)) return checking(incident, view)
  return checking(
    {
      ...answered(incident, { outcome: 'stopped again' }),
      state: 'Checking',
      eventAt: iso(laterEvent(incident, view)),
      noticedAt: iso(nowMs)
    },
    view
  )
}

/** The second fault is judged by requests around its own time. */
const laterEvent = (incident: Incident, { domain, nowMs }: View): number =>
  Math.min(nowMs, Math.max(ms(incident.since), ms(domain?.since) || nowMs))

function moving(given: Incident, view: View): Judged {
  const { nowMs, host, evidence } = view
  const { server } = evidence
  const request = asked(given, view)
  const incident = request === undefined ? given : answered(given, { request })
  const last = incident.attempts?.at(-1)
  if (!server) return checking(incident, view)
  const idle = server.taskState === null
  if (idle && server.status === 'VERIFY_RESIZE' && last?.action !== 'confirm')
    return order(incident, 'confirm', 'Moving', keep(incident), view)
  if (idle && server.host !== host && server.host !== null && server.status === 'SHUTOFF' && last?.action !== 'start')
    return order(incident, 'start', 'Moving', keep(incident), view)
  if (idle && server.host !== host && server.host !== null && server.status === 'ACTIVE') return recovered(incident, view)
  const refused = last?.outcome?.startsWith('refused') ?? false
  const over = nowMs - ms(last?.at) >= 10 * 60_000 && idle
  if (refused || over) return block(incident, keep(incident), view)
  return { incident: { ...incident, nextCheckAt: iso(nowMs + soonMs) } }
}

const keep = ({ rule = '', reason = '', passedOver = [], inputs = {} }: Incident): Checked => ({
  finding: 'fault',
  rule,
  reason,
  passedOver: [...passedOver],
  inputs
})

function recovered(incident: Incident, view: View): Judged {
  const action = (incident.attempts ?? []).map(({ action }) => action).join(', ')
  const where = view.evidence.server?.host === view.host ? '' : ` on ${view.evidence.server?.host}`
  const checked = { ...keep(incident), reason: `${incident.reason ?? ''} It runs again${where}.` }
  const ended = end(incident, 'Recovered', checked, view, { state: 'Recovered', action })
  return {
    ...ended,
    news: newsOf(ended, 'Normal', 'ServerRecovered', `Server ${incident.server} runs again${where} (${action}).`, 'recovered')
  }
}

function block(incident: Incident, checked: Checked, view: View): Judged {
  const tries = attemptsWithin(incident, view.nowMs).length
  const found = { ...checked, rule: 'GivenUp', reason: `${checked.reason} ${tries} restarts did not help: a person is needed.` }
  const ended = end(incident, 'Blocked', found, view, { state: 'Blocked', action: 'reported' })
  return { ...ended, news: newsOf(ended, 'Warning', 'ServerBlocked', `Server ${incident.server}: ${found.reason}`, 'blocked') }
}

/** T-27: neither side is started, destroyed or moved by Drover. */
function postcopy(incident: Incident, view: View): Judged {
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

const explained = (incident: Incident, { rule, reason, passedOver, inputs }: Checked): Incident => ({
  ...incident,
  rule,
  reason: reason.slice(0, 1024),
  passedOver,
  inputs
})

/** The incident has its end, and the history its line. */
function end(
  incident: Incident,
  state: Incident['state'],
  checked: Checked,
  { nowMs }: View,
  { state: verdict, action }: { state: string; action: string },
  tell?: 'Warning'
): Judged {
  const { nextCheckAt: _, waitingFor: __, ...rest } = explained(incident, checked)
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

export type { Server }
