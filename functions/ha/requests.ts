// Who asked for what, by Nova's own record of a server (HA-10, HA-11, HA-14). Pure.
import type { InstanceAction } from 'openstack-sdk-lite'
import { novaTimeMs } from '../../shared/openstack/nova-time.ts'
import type { Facts } from './check.ts'
import type { Policy } from './policy.ts'
import type { Incident } from './seen.ts'

/** HA-10 */
export const requestTasks =
  /^(powering-off|rebooting|reboot_pending|reboot_started|deleting|soft-deleting|suspending|shelving|resize_|migrating|rebuild|rescuing)/
const requests = new Set(
  'stop reboot delete suspend shelve shelveOffload resize migrate live-migration evacuate rebuild rescue resetState pause'.split(
    ' '
  )
)
/** These explain no stop, but whoever asks for them after it has taken it up: it is left to them. */
const takenUp = new Set(['start', 'confirmResize', 'revertResize', 'softDelete', 'restore', 'resume', 'unpause', 'unshelve'])
/** HA-14: what tells whether a server was meant to run before */
const power = new Set(['stop', 'start', 'reboot', 'create', 'rebuild', 'resume', 'unpause', 'unshelve', 'restore', 'evacuate'])

const eventMs = ({ incident }: Facts): number => Date.parse(incident.eventAt ?? incident.noticedAt ?? '')
const skewMs = ({ policy }: Facts): number => policy.vm.check.skewSeconds * 1000
const startMs = ({ started }: InstanceAction): number => novaTimeMs(started) ?? 0

/** So long after its note an order may still be sent; later it is left to the next look. */
export const sendMs = 5000
/** Until then it may still reach Nova: what is sent waits 30 s for its answer. */
export const arrivesMs = sendMs + 30_000 + 5000

/** What Drover itself asked for in this incident is nobody's request. */
export function isOwn({ attempts = [] }: Incident, action: InstanceAction, toleranceMs: number): boolean {
  const names: Record<string, string> = { restart: 'reboot', move: 'migrate', start: 'start', confirm: 'confirmResize' }
  return attempts.some(
    ({ action: tried, at, request }) =>
      request === action.requestId ||
      (request === undefined &&
        names[tried] === action.action &&
        startMs(action) >= Date.parse(at) - toleranceMs &&
        startMs(action) <= Date.parse(at) + arrivesMs)
  )
}

const ofOthers = (facts: Facts): InstanceAction[] =>
  facts.evidence.actions.filter(action => !isOwn(facts.incident, action, skewMs(facts)))

/** HA-10, HA-11: began shortly before or later, or is under way still; and somebody asked for it. */
export function requestBehind(facts: Facts): InstanceAction | undefined {
  const fromMs = eventMs(facts) - facts.policy.vm.check.requestSeconds * 1000 - skewMs(facts)
  return ofOthers(facts).find(action => {
    if (action.userId === null) return false
    if (takenUp.has(action.action)) return startMs(action) >= eventMs(facts) - skewMs(facts)
    if (!requests.has(action.action)) return false
    const steps = facts.evidence.steps.get(action.requestId)
    return startMs(action) >= fromMs || (steps?.some(({ finished }) => finished === null) ?? false)
  })
}

/** The last time that somebody, or Nova itself, switched it on or off before the event. */
export function lastPower(facts: Facts): InstanceAction | undefined {
  const before = facts.evidence.actions.filter(
    action => power.has(action.action) && startMs(action) < eventMs(facts) - skewMs(facts)
  )
  return before.toSorted((a, b) => startMs(b) - startMs(a))[0]
}

/** Of actions that began before the window, those that may be under way still: their steps are asked for. */
export function maybeUnfinished(incident: Incident, actions: readonly InstanceAction[], policy: Policy): InstanceAction[] {
  const { requestSeconds, skewSeconds } = policy.vm.check
  const fromMs = Date.parse(incident.eventAt ?? '') - (requestSeconds + skewSeconds) * 1000
  const hourMs = 3_600_000
  return actions
    .filter(
      action =>
        requests.has(action.action) &&
        action.userId !== null &&
        startMs(action) < fromMs &&
        startMs(action) >= fromMs - hourMs &&
        !isOwn(incident, action, skewSeconds * 1000)
    )
    .slice(0, 3)
}
