// What is done about one server: the fault check, then the recovery ladder (HA-13), each step from what is seen now. Pure.
import { answerFor } from './answer.ts'
import { answered, attemptsWithin, failedOf, lastAsked, lost, novasWords, planned, withoutLast } from './attempts.ts'
import { checkFault, type Checked } from './check.ts'
import { block, end, explained, keep, postcopy, recovered } from './endings.ts'
import { isReboot } from './heard.ts'
import { iso, ms } from './incident.ts'
import { mayResume, resumeMs } from './resume.ts'
import type { Attempt, Incident } from './seen.ts'
import { goOn, isUp, order, pausedMs, stuck, stuckMs, toProve, unseen, wait } from './steps.ts'
import type { Judged, View } from './view.ts'

export function judge(incident: Incident, view: View): Judged {
  if (incident.kind === 'postcopy') return postcopy(incident, view)
  switch (incident.state) {
    case 'Resuming':
      return resuming(incident, view)
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
    if (checked.rule === 'DomainNotKnown') return wait(incident, checked, nowMs, pausedMs)
    if (nowMs < limitMs)
      return wait(incident, checked, nowMs, checked.rule === 'NotSeenYet' ? untilSeen(incident, view) : undefined)
    return end(incident, 'Reported', checked, view, { state: 'NotConfirmed', action: 'reported' }, 'Warning')
  }
  if (checked.finding === 'none') return end(incident, 'Closed', checked, view, { state: checked.rule, action: 'none' })
  const untilMs = ms(incident.eventAt) + policy.vm.rebootSeconds * 1000
  if (isReboot(incident) && nowMs < untilMs)
    return wait(incident, { ...checked, rule: 'StillRebooting', reason: `It has until ${iso(untilMs)} to run again.` }, nowMs)
  return answer(incident, checked, view)
}

/** The agent writes within 2 s of what it saw: as long as that can still be on its way, it is looked for often. */
const untilSeen = ({ noticedAt }: Incident, { policy: { vm }, nowMs }: View): number | undefined =>
  nowMs < ms(noticedAt) + (vm.check.waitSeconds + writtenSeconds) * 1000 ? 500 : undefined
const writtenSeconds = 2

/** A proven fault: what the policy says of it, and whether now is the time. */
function answer(incident: Incident, checked: Checked, view: View): Judged {
  const { server } = view.evidence
  const { answer, words } = answerFor(incident.kind, server, view.aggregates, view.policy)
  const found: Checked = { ...checked, passedOver: [...checked.passedOver], reason: `${checked.reason} ${words}` }
  if (mayResume(incident, view)) {
    const found = { ...checked, reason: `${checked.reason} Its disk paused it: it is resumed once.` }
    if (view.modes.vm === 'drover') return order(planned(incident, view), 'resume', 'Resuming', found, view)
    if (view.modes.vm === 'observe') return wouldBe('resumed', 'WouldResume', incident, checked, view)
  }
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
  if (modes.vm === 'observe') return wouldBe('restarted', 'WouldRestart', incident, found, view)
  return restart(planned(incident, view), found, view)
}

function wouldBe(done: string, state: string, incident: Incident, checked: Checked, view: View): Judged {
  const found = { ...checked, rule: 'Observed', reason: `${checked.reason} Mode is observe: it would be ${done}.` }
  return end(incident, 'Reported', found, view, { state, action: 'none' }, 'Warning')
}

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

function resuming(incident: Incident, view: View): Judged {
  const { nowMs, domain, domainKnown } = view
  const sinceMs = ms(incident.attempts?.at(-1)?.at)
  if (!domainKnown) return unseen(incident, nowMs)
  if (isUp(view) && ms(domain?.since) >= Math.floor(sinceMs / 1000) * 1000) return toProve(incident, nowMs)
  if (nowMs - sinceMs < resumeMs) return goOn(incident, nowMs)
  return checking({ ...answered(incident, { outcome: 'did not run in time' }), state: 'Checking' }, view)
}

function restarting(given: Incident, view: View): Judged {
  const { nowMs, host, evidence, domain } = view
  const request = lastAsked(given, evidence.actions, view.policy)?.requestId
  const incident = request === undefined ? given : answered(given, { request })
  const last = incident.attempts?.at(-1)
  const sinceMs = ms(last?.at)
  const { server } = evidence
  if (!server || (server.host !== null && server.host !== host) || !['active', 'stopped', 'error'].includes(server.vmState ?? ''))
    return checking(incident, view) // deleted, moved, suspended meanwhile: somebody else's now
  if (!view.domainKnown) return unseen(incident, nowMs)
  const began = ms(domain?.since) >= Math.floor(sinceMs / 1000) * 1000
  if (isUp(view) && (began || request !== undefined)) return toProve(incident, nowMs)
  // the same try once more: it is not counted twice
  if (lost(incident, view)) return checking({ ...withoutLast(incident), state: 'Checking' }, view)
  const refused = last?.outcome?.startsWith('refused') ?? false
  const words = novasWords(incident, view)
  const over = words !== undefined || nowMs - sinceMs >= (incident.plan?.restartSeconds ?? 0) * 1000
  if (refused || (over && server.taskState === null)) {
    const outcome = last?.outcome ?? (words === undefined ? 'did not run in time' : failedOf(words))
    return checking({ ...answered(incident, { outcome }), state: 'Checking' }, view)
  }
  if (nowMs - sinceMs >= stuckMs) return block(incident, stuck(incident, server.taskState), view)
  return goOn(incident, nowMs)
}

function proving(incident: Incident, view: View): Judged {
  const { nowMs } = view
  if (!view.domainKnown) return unseen(incident, nowMs)
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
  const request = lastAsked(given, evidence.actions, view.policy)?.requestId
  const incident = request === undefined ? given : answered(given, { request })
  const last = incident.attempts?.at(-1)
  if (!server) return checking(incident, view)
  if (last && lost(incident, view)) return movedAgain(withoutLast(incident), last.action, view)
  const idle = server.taskState === null
  if (idle && server.status === 'VERIFY_RESIZE' && last?.action !== 'confirm')
    return order(incident, 'confirm', 'Moving', keep(incident), view)
  if (idle && server.host !== host && server.host !== null && server.status === 'SHUTOFF' && last?.action !== 'start')
    return order(incident, 'start', 'Moving', keep(incident), view)
  if (idle && server.host !== host && server.host !== null && server.status === 'ACTIVE') return recovered(incident, view)
  const refused = last?.outcome?.startsWith('refused') ?? false
  if (refused) return block(incident, keep(incident), view)
  const words = idle ? novasWords(incident, view) : undefined
  if (words !== undefined) return block(answered(incident, { outcome: failedOf(words) }), keep(incident), view)
  if (nowMs - ms(last?.at) >= stuckMs) return block(incident, stuck(incident, server.taskState), view)
  return goOn(incident, nowMs)
}

const movedAgain = (incident: Incident, what: Attempt['action'], view: View): Judged =>
  what === 'move' ? order(incident, 'move', 'Moving', keep(incident), view) : moving(incident, view)
