// What was tried for a server, by which plan, and whether Nova heard of it. Pure.
import type { InstanceAction } from 'openstack-sdk-lite'
import { novaTimeMs } from '../../shared/openstack/nova-time.ts'
import { ms } from './incident.ts'
import type { Policy } from './policy.ts'
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

/** What was last asked for, as Nova has it: a process may have died between the note and the call. */
export function lastAsked(
  incident: Incident,
  actions: readonly InstanceAction[],
  { vm: { check } }: Policy
): InstanceAction | undefined {
  const last = incident.attempts?.at(-1)
  const toleranceMs = check.skewSeconds * 1000
  const only = { ...incident, attempts: last ? [last] : [] }
  return actions.find(
    action => isOwn(only, action, toleranceMs) && (novaTimeMs(action.started) ?? 0) >= ms(last?.at) - toleranceMs
  )
}

/** T-14: why Nova could not do what it was last asked for and had taken, in its own words. Undefined: it did it, or is at it. */
export function novasWords(incident: Incident, { evidence: { server, actions, steps }, policy }: View): string | undefined {
  const action = lastAsked(incident, actions, policy)
  if (!action || action.message === null) return undefined
  const failed = steps.get(action.requestId)?.find(({ result, details }) => result === 'Error' && details !== null)
  return failed?.details ?? server?.fault?.message ?? action.message
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

export const failedOf = (words: string): string => `failed: ${words}`.slice(0, 512)
