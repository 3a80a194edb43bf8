// What is asked of the rules for hosts and switches: somebody wants to write an object, and this is what is known around it. Pure.
import type { User } from '../kube/reviews.ts'
import type { Eviction } from '../schema/eviction.ts'
import type { Violation } from '../schema/violation.ts'
import type { Host } from './fleet.ts'
import type { Known } from './machine-facts.ts'
import { breach } from './rule.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

/** Who may do what, and how strictly: configuration, not code. */
export interface Policy {
  /** HV-11…13: objections refuse instead of warning. */
  enforce: boolean
  /** HA-5: `external` leaves `maintenance: ha` to another service. */
  haMode: 'drover' | 'observe' | 'external' | 'off'
  haIdentities: readonly string[]
  terminationIdentities: readonly string[]
  agentIdentities: readonly string[]
  /** For aggregates that state none: a number of hosts or a share such as `25%`. */
  maxUnavailable?: string | undefined
}

export interface Asked<T> {
  operation: Operation
  subresource?: string | undefined
  /** What would be stored; what is deleted. */
  object: T
  old?: T | undefined
  /** Left out where nobody asks: a file is checked. */
  user?: User | undefined
  hosts: Known<readonly Host[]>
  /** Of all hosts, those that are not over. */
  evictions: Known<readonly Eviction[]>
  policy: Policy
}

export const defaultPolicy: Policy = {
  enforce: false,
  haMode: 'drover',
  haIdentities: ['system:serviceaccount:drover:ha'],
  terminationIdentities: ['system:serviceaccount:drover:hypervisor'],
  agentIdentities: ['system:serviceaccount:drover-agents:hypervisor-agent', 'system:serviceaccount:ovn-system:ovs-agent']
}

export const isAgent = ({ user, policy }: Pick<Asked<unknown>, 'user' | 'policy'>): boolean =>
  user !== undefined && policy.agentIdentities.includes(user.username)

/** The node that the caller's token is bound to: put there by the API server from the token's claims (Kubernetes 1.30 and later). */
const nodeOf = (user: User | undefined): string | undefined => user?.extra?.['authentication.kubernetes.io/node-name']?.[0]

/** HV-14, OV-5: an agent writes the object that is named like its node, and no other. */
export function notItsNode(asked: Asked<{ metadata: { name: string } }>, kind: string): Violation[] {
  if (!isAgent(asked)) return []
  const node = nodeOf(asked.user)
  if (node === asked.object.metadata.name) return []
  const message =
    node === undefined
      ? 'an agent must use the token of its pod: this one is bound to no node'
      : `the agent of ${node} may write the ${kind} ${node} alone`
  return [breach('metadata.name', message)]
}
