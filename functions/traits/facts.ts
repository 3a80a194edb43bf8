// AG-14: traits that follow a fact, as CUSTOM_DEGRADED_NETWORK while the network is degraded, so that the scheduler can keep away. Pure.
import { findCondition } from '../../shared/kube/conditions.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'

export interface FactRule {
  trait: string
  condition: string
  status: 'True' | 'False'
  /** Any, when left out. */
  reason?: string
}

export const factPattern = '^CUSTOM_[A-Z0-9_]+=[A-Za-z][A-Za-z0-9.-]*:(True|False)(/[A-Za-z]+)?$'

/** `CUSTOM_DEGRADED_NETWORK=NetworkHealthy:False/NetworkDegraded`; the form was checked with the configuration. */
export function parseFactRule(text: string): FactRule {
  const [trait = '', fact = ''] = text.split('=')
  const [condition = '', state = ''] = fact.split(':')
  const [status, reason] = state.split('/')
  return { trait, condition, status: status === 'True' ? 'True' : 'False', ...(reason && { reason }) }
}

/** What nobody knows at the moment changes nothing: the trait stays if it is set. What was never told is no fact. */
export function factTraits(hypervisor: Hypervisor, rules: readonly FactRule[]): string[] {
  const { managedTraits = [] } = hypervisor.status ?? {}
  return rules
    .filter(({ trait, condition, status, reason }) => {
      const found = findCondition(hypervisor, condition)
      if (found?.status === 'Unknown') return managedTraits.includes(trait)
      return found?.status === status && (reason === undefined || found.reason === reason)
    })
    .map(({ trait }) => trait)
}
