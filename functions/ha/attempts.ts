// What was tried for a server, by which plan, and whether Nova heard of it. Pure.
import { novaTimeMs } from '../../shared/openstack/nova-time.ts'
import { ms } from './incident.ts'
import { arrivesMs, isOwn } from './requests.ts'
import type { Attempt, Incident } from './seen.ts'
import type { View } from './view.ts'

/** A change of the policy never alters what was decided before: the plan is kept with the incident. */
export const planned = (incident: Incident, { policy: { vm } }: View): Incident => ({
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

/** Whether Nova knows of what was last asked for: a process may have died between the note and the call. */
export function asked(incident: Incident, { evidence, policy }: View): string | undefined {
  const last = incident.attempts?.at(-1)
  const toleranceMs = policy.vm.check.skewSeconds * 1000
  const only = { ...incident, attempts: last ? [last] : [] }
  return evidence.actions.find(
    action => isOwn(only, action, toleranceMs) && (novaTimeMs(action.started) ?? 0) >= ms(last?.at) - toleranceMs
  )?.requestId
}

export function answered(incident: Incident, more: Partial<Attempt>): Incident {
  const { attempts = [] } = incident
  const last = attempts.at(-1)
  return last ? { ...incident, attempts: [...attempts.slice(0, -1), { ...last, ...more }] } : incident
}

export const withoutLast = (incident: Incident): Incident => ({ ...incident, attempts: (incident.attempts ?? []).slice(0, -1) })

/** What was noted and surely never reached Nova: it was not sent, or it should long be in Nova's record, read after that. */
export function lost(incident: Incident, { evidence: { server }, askedMs }: View): boolean {
  const last = incident.attempts?.at(-1)
  if (last?.request !== undefined) return false
  if (last?.outcome !== undefined) return last.outcome.startsWith(notSent)
  return server?.taskState === null && askedMs - ms(last?.at) >= arrivesMs
}

export const notSent = 'not sent'
