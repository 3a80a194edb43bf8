// What of Hypervisor.status is the node agent's (spec §1.3 and §1.4): the agent writes it, admission lets it write nothing else (HV-14).
import type { Hypervisor } from './hypervisor.ts'

/** Facts of the host. `agent`, the conditions below and the agent's own lines of `history` come beside them. */
export const agentFacts = [
  'libVirtVersion',
  'hypervisorVersion',
  'operatingSystem',
  'updateStatus',
  'instances',
  'numInstances',
  'capabilities',
  'domainCapabilities',
  'allocation',
  'capacity',
  'effectiveCapacity',
  'cells'
] as const satisfies ReadonlyArray<keyof NonNullable<Hypervisor['status']>>

const agentConditions: ReadonlySet<string> = new Set(['LibVirtConnection', 'OperatingSystemUpdate', 'TLSCertificateInstalled'])

/** A systemd unit is told under its own name, and which ones are told is configured (NA-16). */
const unit = /\.(?:service|socket|target|mount|path|timer)$/

export const isUnitCondition = (type: string): boolean => unit.test(type)
export const isAgentCondition = (type: string): boolean => agentConditions.has(type) || isUnitCondition(type)

/** Field manager, and actor in `history`. */
export const agentManager = 'drover-hypervisor-agent'
