// HV-43: what can be known of a host before it is enabled. Each check is recorded; the policy says whether it holds the host back. Pure.
import { findCondition, timestamp } from '../../shared/kube/conditions.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Test } from './smoke-test.ts'

export interface CheckRule {
  name: 'libvirt' | 'bridges' | 'storage'
  policy: 'fail' | 'warn'
}

export interface Check {
  name: string
  result: 'Passed' | 'Warned' | 'Failed'
  reason?: string
}

export const checkPattern = '^(libvirt|bridges|storage)=(fail|warn)$'

/** `libvirt=fail`; the form was checked with the configuration. */
export function parseCheckRule(text: string): CheckRule {
  const [name, policy] = text.split('=')
  return { name: name as CheckRule['name'], policy: policy === 'warn' ? 'warn' : 'fail' }
}

export interface Facts {
  hypervisor: Hypervisor
  minLibvirt: string
  /** As nova-compute reports its storage to Placement; undefined when it reports none. */
  diskGiB: number | undefined
}

export const checksOf = (rules: readonly CheckRule[], facts: Facts): Check[] =>
  rules.map(({ name, policy }): Check => {
    const problem = problems[name](facts)
    const result = policy === 'warn' ? 'Warned' : 'Failed'
    return problem === undefined
      ? { name: `check ${name}`, result: 'Passed' }
      : { name: `check ${name}`, result, reason: problem }
  })

const problems: Record<CheckRule['name'], (facts: Facts) => string | undefined> = {
  libvirt({ hypervisor, minLibvirt }) {
    const connection = findCondition(hypervisor, 'LibVirtConnection')
    if (connection?.status !== 'True') return connection?.message || 'no agent has reached libvirt'
    const version = hypervisor.status?.libVirtVersion ?? 'unknown'
    return minLibvirt !== '' && !isAtLeast(version, minLibvirt) ? `libvirt is ${version}, older than ${minLibvirt}` : undefined
  },
  bridges({ hypervisor }) {
    const network = findCondition(hypervisor, 'NetworkHealthy')
    if (network?.status === 'True' || network?.reason === 'NetworkDegraded') return undefined
    return network?.message || 'no agent reports on Open vSwitch'
  },
  storage: ({ diskGiB }) => (diskGiB ? undefined : 'nova-compute reports no storage to Placement')
}

function isAtLeast(version: string, least: string): boolean {
  const [have, want] = [version, least].map(text => text.split('.').map(Number))
  for (const [index, number] of (want ?? []).entries()) {
    const other = have?.[index] ?? 0
    if (other !== number) return other > number // false of what is no number
  }
  return true
}

/** The noted entries with the checks as they are now; what says the same as before keeps its time (HV-7). */
export function withChecks(noted: readonly Test[], checks: readonly Check[], now: Date): Test[] {
  const others = noted.filter(({ name }) => !checks.some(check => check.name === name))
  const entries = checks.map((check): Test => {
    const known = noted.find(
      ({ name, result, reason }) => name === check.name && result === check.result && reason === check.reason
    )
    return known ?? { ...check, finishedAt: timestamp(now) }
  })
  return [...entries, ...others]
}
