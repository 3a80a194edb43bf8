// The next step on a host's way out of OpenStack (spec/hypervisor.md §3.5). Pure.
import { conditionSet, findCondition, isFalse, isTrue, timestamp, type Verdict } from '../../shared/kube/conditions.ts'
import { historyAfter, type Action } from '../../shared/openstack/audit.ts'
import { matchHost, namesOf } from '../../shared/openstack/host.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'

export const manager = 'drover-offboarding'

export interface Options {
  nameForms: readonly string[]
  firstWaitMs: number
  longestWaitMs: number
}

interface Listed {
  id: string
  hostname: string
  service: { id: string; host: string }
}

/** What OpenStack still has of the host. */
export interface Remains {
  hosts: readonly Listed[]
  /** Aggregates that hold it. */
  aggregates: readonly string[]
  /** Servers on it, by exact host (HV-57: lists, no counts). */
  servers: readonly string[]
  /** Migrations that have not ended; a `finished` resize waits for its confirmation. */
  migrations: readonly string[]
  /** The compute service with the stored id; undefined when it is gone. */
  service: { id: string; host: string } | undefined
  /** The resource provider with the stored id; undefined when it is gone. */
  provider: { id: string } | undefined
  /** Who takes from the provider, and whether also from others. */
  consumers: readonly { id: string; elsewhere: boolean }[]
}

export type Step =
  | { do: 'wait'; step: Stage; waitingFor: string }
  | { do: 'block'; step: Stage; why: string }
  | { do: 'delete-service'; id: string }
  | { do: 'clean-provider'; id: string; consumers: readonly string[] }
  | { do: 'finish' }

export type Stage = 'Empty' | 'AgentsGone' | 'Verify' | 'DeleteService' | 'CleanProvider' | 'Finish'

export const isLeaving = (hypervisor: Hypervisor): boolean =>
  hypervisor.spec.lifecycleEnabled &&
  hypervisor.spec.maintenance === 'termination' &&
  !isTrue(hypervisor, 'Onboarding') &&
  !isTrue(hypervisor, 'Offboarded')

/** What the object alone says: whether OpenStack is to be looked at yet. */
export function waitOf(hypervisor: Hypervisor): Extract<Step, { do: 'wait' }> | undefined {
  if (!hypervisor.status?.serviceId && !hypervisor.status?.hypervisorId) return undefined // HV-55: never had ids
  const evicting = findCondition(hypervisor, 'Evicting')
  if (!(isFalse(hypervisor, 'Evicting') && evicting?.reason === 'Succeeded'))
    return { do: 'wait', step: 'Empty', waitingFor: `the host to be empty${evicting?.message ? `: ${evicting.message}` : ''}` }
  const agents = findCondition(hypervisor, 'AgentPodsEvicted')
  if (agents?.status !== 'True')
    return { do: 'wait', step: 'AgentsGone', waitingFor: `the agents to leave${agents?.message ? `: ${agents.message}` : ''}` }
  return undefined
}

export function decide(hypervisor: Hypervisor, remains: Remains, { nameForms }: Options): Step {
  const { serviceId, hypervisorId, nova } = hypervisor.status ?? {}
  const { service, provider, consumers } = remains
  const names = namesOf(hypervisor, nameForms)
  const same = matchHost(remains.hosts, names)
  const isKnown = same.found !== undefined || same.reason === 'AmbiguousHost'
  if (!serviceId && !hypervisorId)
    return isKnown
      ? { do: 'block', step: 'Finish', why: 'Nova knows a host of this name, although no id was ever recorded' }
      : { do: 'finish' }
  const left = leftOn(remains)
  if (left) return { do: 'block', step: 'Verify', why: left }
  if (service) {
    // HV-52: the stored id must still be this host's
    const isOurs = nova?.host === undefined ? names.includes(service.host) : service.host === nova.host
    if (!isOurs) return { do: 'block', step: 'DeleteService', why: `the stored service id is now that of ${service.host}` }
    return { do: 'delete-service', id: service.id }
  }
  if (provider) {
    const elsewhere = consumers.filter(consumer => consumer.elsewhere).map(({ id }) => id)
    if (elsewhere.length > 0)
      return { do: 'block', step: 'CleanProvider', why: `allocations are shared with other providers: ${elsewhere.join(', ')}` }
    return { do: 'clean-provider', id: provider.id, consumers: consumers.map(({ id }) => id) }
  }
  if (isKnown) return { do: 'block', step: 'Finish', why: 'Nova knows a host of this name again: nova-compute still runs' }
  return { do: 'finish' }
}

function leftOn({ servers, migrations, aggregates }: Remains): string | undefined {
  if (servers.length > 0) return `servers are on the host: ${servers.slice(0, 5).join(', ')}`
  if (migrations.length > 0) return `migrations have not ended: ${migrations.slice(0, 5).join(', ')}`
  return aggregates.length > 0 ? `the host is still in aggregates: ${aggregates.join(', ')}` : undefined
}

/** HV-56: 5 s, 10 s, … 5 min after the last try, also when it says the same. */
export function isDue({ status }: Hypervisor, now: Date, { firstWaitMs, longestWaitMs }: Options): boolean {
  const { attempts = 0, startedAt } = status?.offboarding ?? {}
  if (attempts === 0 || startedAt === undefined) return true
  return now.getTime() >= Date.parse(startedAt) + Math.min(firstWaitMs * 2 ** (attempts - 1), longestWaitMs)
}

export function reflect(hypervisor: Hypervisor, step: Step, problem: string | undefined, now: Date, extended: boolean) {
  const { status, metadata } = hypervisor
  const why = problem ?? (step.do === 'block' ? step.why : undefined)
  const isOver = step.do === 'finish' && problem === undefined
  const before = status?.offboarding
  const stage = 'step' in step ? step.step : stages[step.do]
  const waitingFor = step.do === 'wait' ? step.waitingFor : undefined
  const history = historyAfter(status?.history, manager, problem === undefined ? actionsOf(step) : [], now)
  return {
    conditions: conditionSet(status?.conditions, [verdictOf(step, why)], now, metadata.generation),
    ...(extended && {
      offboarding: {
        attempts: why === undefined ? 0 : (before?.attempts ?? 0) + 1,
        startedAt: why === undefined && before?.attempts === 0 && before.startedAt ? before.startedAt : timestamp(now),
        step: isOver ? 'Offboarded' : stage,
        ...(waitingFor && { waitingFor }),
        ...(why && { lastError: why })
      },
      ...(history.length > 0 && { history })
    })
  }
}

/** HV-67: what the step changed, when it could be done. */
export function actionsOf(step: Step): Action[] {
  const reason = 'the host leaves OpenStack'
  if (step.do === 'delete-service') return [{ kind: 'compute service', from: step.id, to: 'deleted', reason }]
  if (step.do === 'finish') return [{ kind: 'offboarding', to: 'Offboarded', reason: 'service and provider are gone' }]
  if (step.do !== 'clean-provider') return []
  const allocations = step.consumers.map(id => ({ kind: `allocations of ${id}`, to: 'deleted', reason }))
  return [...allocations, { kind: 'resource provider', from: step.id, to: 'deleted', reason }]
}

const stages = {
  'delete-service': 'DeleteService',
  'clean-provider': 'CleanProvider',
  finish: 'Finish'
} as const

function verdictOf(step: Step, why: string | undefined): Verdict {
  const type = 'Offboarded'
  if (why !== undefined) return { type, status: 'False', reason: 'Blocked', message: why }
  if (step.do === 'finish')
    return { type, status: 'True', reason: 'Offboarded', message: 'Service and resource provider are gone.' }
  const deleted = step.do === 'delete-service' ? 'compute service' : 'resource provider'
  const message = step.do === 'wait' ? `Waiting for ${step.waitingFor}.` : `The ${deleted} was deleted.`
  return { type, status: 'False', reason: 'Offboarding', message }
}
