// What the mode of a host asks of its compute service and its Eviction (spec/hypervisor.md §3.4). Pure.
import type { ComputeService } from 'openstack-sdk-lite'
import { findCondition } from '../../shared/kube/conditions.ts'
import { disabledBy, disabledReason, isOfOperator, mayEnable } from '../../shared/openstack/compute-service.ts'
import { verdictOf } from '../../shared/openstack/eviction-verdict.ts'
import { setBy } from '../../shared/rules/maintenance-stamp.ts'
import type { Eviction } from '../../shared/schema/eviction.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'

export const manager = 'drover-maintenance'
export const emergencyAnnotation = 'kvm.cloud.sap/emergency'
export const bootAnnotation = 'kvm.cloud.sap/boot-id'

export type Mode = '' | 'manual' | 'auto' | 'ha' | 'termination' | 'shutdown'

export interface Seen {
  hypervisor: Hypervisor
  /** the one of the host's name; others are not ours to touch */
  eviction: Eviction | undefined
  /** undefined: Nova has none, or the host was never registered */
  service: ComputeService | undefined
  /** HV-32: whether a disabling by others may be undone */
  takeover: boolean
  /** HV-4: whether the installed CRDs know Drover's own fields */
  extended: boolean
}

export type ServiceStep =
  | { do: 'leave' }
  | { do: 'disable'; reason: string }
  | { do: 'enable' }
  /** somebody else disabled it or forced it down: drift, and left so */
  | { do: 'report'; actual: string }

export type EvictionStep =
  | { do: 'leave' }
  | { do: 'ensure'; retryToken: string | undefined }
  /** HV-47: stop it first; it is deleted when it has ended */
  | { do: 'cancel'; how: 'Finish' }
  | { do: 'delete' }

export interface Step {
  mode: Mode
  sinceMs: number
  service: ServiceStep
  eviction: EvictionStep
  waitingFor?: string
  /** HV-46: a server that appeared on the drained host */
  appeared?: string
}

const cancelLimitMs = 120_000

/** NA-21: a host that is about to shut down is drained without anybody setting a mode; a new boot ends it. */
export function modeOf({ spec, status }: Hypervisor, eviction: Eviction | undefined): Mode {
  if (spec.maintenance) return spec.maintenance
  const { annotations = {} } = eviction?.metadata ?? {}
  const sameBoot = annotations[bootAnnotation] === (status?.agent?.bootId ?? annotations[bootAnnotation])
  return annotations[emergencyAnnotation] === 'true' && sameBoot ? 'shutdown' : ''
}

/** HV-44: not while onboarding runs, whatever lifecycleEnabled says; mode `ha` belongs to the ha function. */
export const isOurs = (hypervisor: Hypervisor): boolean =>
  findCondition(hypervisor, 'Onboarding')?.status !== 'True' && hypervisor.spec.maintenance !== 'ha'

export function decide(seen: Seen, nowMs: number): Step {
  const { hypervisor, eviction } = seen
  const mode = modeOf(hypervisor, eviction)
  const before = hypervisor.status?.maintenance
  const sinceMs = before?.mode === mode && before.since ? Date.parse(before.since) : nowMs
  if (mode === '') return outOf(seen, sinceMs, nowMs)
  const appeared = appearedOn(hypervisor, eviction)
  const anew = appeared ?? givenUp(eviction)
  const step = { mode, sinceMs, service: disable(seen, mode), ...(appeared && { appeared }) }
  // without a token to begin it anew, another one is made
  if (anew && !seen.extended) return { ...step, eviction: { do: 'delete' } }
  const retryToken = anew ? `${eviction?.status?.finishedAt ?? ''}/${anew}` : eviction?.spec.retryToken
  return { ...step, eviction: { do: 'ensure', retryToken } }
}

function disable({ hypervisor, service }: Seen, mode: Mode): ServiceStep {
  if (!service || service.status === 'disabled') return { do: 'leave' }
  const { maintenanceReason } = hypervisor.spec
  const askedBy = hypervisor.metadata.annotations?.[setBy]
  return {
    do: 'disable',
    reason: disabledReason({
      by: manager,
      why: `maintenance=${mode}${maintenanceReason ? `: ${maintenanceReason}` : ''}`,
      askedBy
    })
  }
}

/** HV-47: the Eviction is stopped, ends, goes; only then is the host enabled, and only if we or the operator before us disabled it (HV-32). */
function outOf({ hypervisor, eviction, service, takeover, extended }: Seen, sinceMs: number, nowMs: number): Step {
  const step = { mode: '' as const, sinceMs, service: { do: 'leave' as const } }
  if (eviction && !isOwned(eviction)) return { ...step, eviction: { do: 'leave' } }
  if (eviction) {
    // an older CRD knows no word to cancel it: to delete it is to let running moves end (EV-25)
    const idle = verdictOf(eviction) !== undefined || eviction.status?.startedAt === undefined
    if (idle || !extended || nowMs - restsSinceMs(eviction, sinceMs, nowMs) >= cancelLimitMs)
      return { ...step, eviction: { do: 'delete' }, waitingFor: 'the Eviction to be gone' }
    return { ...step, eviction: { do: 'cancel', how: 'Finish' }, waitingFor: 'the Eviction to end' }
  }
  const none = { do: 'leave' as const }
  if (!service || (service.status === 'enabled' && !service.forcedDown)) return { ...step, eviction: none }
  const report = (actual: string): Step => ({ ...step, service: { do: 'report', actual }, eviction: none })
  if (isOfOtherFunction(service, hypervisor)) return { ...step, eviction: none }
  if (service.forcedDown) return report('forced down') // HA-41: maintenance forces nothing down
  if (mayEnable(service, { takeover })) return { ...step, service: { do: 'enable' }, eviction: none }
  return report(`disabled: ${service.disabledReason ?? 'no reason given'}`)
}

/** A status that says "moving" for longer was left by an evict function that is gone, or by a move that Nova never ends. */
const longestMoveMs = 2 * 3_600_000
const moving: ReadonlySet<string> = new Set(['Queued', 'Migrating', 'Confirming'])

/** HV-47: the verdict is awaited for two minutes beyond the last running move. */
function restsSinceMs({ status }: Eviction, sinceMs: number, nowMs: number): number {
  const { instances = [] } = status ?? {}
  if (instances.some(({ state }) => moving.has(state))) return Math.min(nowMs, sinceMs + longestMoveMs)
  return Math.max(sinceMs, ...instances.flatMap(({ finishedAt }) => (finishedAt ? [Date.parse(finishedAt)] : [])))
}

/** Made for the host by us or by the operator before us; one that a person made works alone, whatever its name (EV-2). */
const isOwned = ({ metadata }: Eviction): boolean =>
  metadata.ownerReferences?.some(({ kind, controller }) => kind === 'Hypervisor' && controller) ?? false

/** High availability has its own eye on its hosts (HA-31, HA-41); who asked for an Eviction by hand said in it whether the host is enabled at its end (EV-2). */
function isOfOtherFunction({ status, disabledReason }: ComputeService, { metadata }: Hypervisor): boolean {
  if (status !== 'disabled' || !disabledReason?.startsWith('drover:')) return isOfOperator(disabledReason, 'ha')
  const by = disabledBy(disabledReason)
  if (by === 'drover-evict') return !disabledReason.startsWith(`drover: eviction=${metadata.name}:`)
  return by !== manager
}

/** Cleared and set again while its Eviction was being stopped: the mode holds, so it begins anew. */
const givenUp = (eviction: Eviction | undefined): string | undefined =>
  eviction && isIdle(eviction) && verdictOf(eviction) === 'Cancelled' ? 'given up' : undefined

/** What it shows is its answer to the last token. */
const isIdle = ({ spec, status }: Eviction): boolean => (status?.retryToken ?? '') === (spec.retryToken ?? '')

/** HV-46: the agent sees a domain on a host that was found empty. */
function appearedOn({ status }: Hypervisor, eviction: Eviction | undefined): string | undefined {
  if (!eviction || !isIdle(eviction) || verdictOf(eviction) !== 'Succeeded') return undefined
  return status?.instances?.find(({ active }) => active)?.id
}

/** Whether time alone may move the host on: the fast tick looks at these. */
export function isOpen(hypervisor: Hypervisor, nowMs: number): boolean {
  const { spec, status } = hypervisor
  if (!isOurs(hypervisor)) return false
  const evicting = findCondition(hypervisor, 'Evicting')
  if ((spec.maintenance ?? '') !== '') return status?.maintenance?.mode !== spec.maintenance || evicting?.status !== 'False'
  if (evicting !== undefined || findCondition(hypervisor, 'HypervisorDisabled')?.status === 'True') return true
  return status?.ha?.signals?.some(one => isFresh(one, nowMs)) ?? false
}

const freshMs = 120_000

/** What `ha` has just asked of the compute service is to be seen here before the slow tick comes; whether it did, the first look tells. */
const isFresh = ({ effect, since, dueAt }: { effect?: string; since?: string; dueAt?: string }, nowMs: number): boolean =>
  effect !== 'alert' && nowMs - Date.parse(dueAt ?? since ?? '') < freshMs
