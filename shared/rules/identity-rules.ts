// Who may say what about a host (HV-13), and what an agent may write (HV-14). Pure.
import { isDeepStrictEqual } from 'node:util'
import { agentFacts, agentManager, isAgentCondition } from '../schema/hypervisor-agent-fields.ts'
import type { Hypervisor } from '../schema/hypervisor.ts'
import { isAgent, notItsNode, type Asked } from './asked.ts'
import { breach, type Rule } from './rule.ts'

type HypervisorRule = Rule<Asked<Hypervisor>>

const begins = (mode: string, { object, old }: Asked<Hypervisor>): boolean =>
  object.spec?.maintenance === mode && old?.spec?.maintenance !== mode

const haOnly: HypervisorRule = {
  id: 'HV-13',
  weight: 'objected',
  what: 'maintenance: ha by another than the HA identity (not in ha.mode: external)',
  example: 'kubectl patch hypervisor h1 --type merge -p \'{"spec":{"maintenance":"ha"}}\'',
  fix: 'use manual or auto, or add the identity to HA_IDENTITIES',
  check(asked) {
    const { user, policy } = asked
    if (!user || policy.haMode === 'external' || !begins('ha', asked) || policy.haIdentities.includes(user.username)) return []
    return [breach('spec.maintenance', `ha is set by the HA service alone, not by ${user.username}`)]
  }
}

const terminationOnly: HypervisorRule = {
  id: 'HV-13',
  weight: 'objected',
  what: 'maintenance: termination by an identity that is not listed',
  example: 'maintenance: termination by a person',
  fix: 'use manual, or add the identity to TERMINATION_IDENTITIES: termination cannot be taken back (R1)',
  check(asked) {
    const { user, policy } = asked
    if (!user || !begins('termination', asked) || policy.terminationIdentities.includes(user.username)) return []
    return [breach('spec.maintenance', `termination cannot be taken back, and ${user.username} is not among those who set it`)]
  }
}

const agentFields: ReadonlySet<string> = new Set([...agentFacts, 'agent'])

type Fields = Record<string, unknown>
/** Judged line by line. */
const inLines: ReadonlySet<string> = new Set(['conditions', 'history'])

/** Those that were added, changed or taken away. */
function differing<T>(now: readonly T[] = [], before: readonly T[] = [], key: (one: T) => string): T[] {
  const byKey = (list: readonly T[]) => new Map(list.map(one => [key(one), one]))
  const [after, was] = [byKey(now), byKey(before)]
  return [...now, ...before].filter(one => !isDeepStrictEqual(after.get(key(one)), was.get(key(one))))
}

/** What an update would change of the status that is not the agent's. Of `history` everybody writes the lines that bear its own name (§1.3). */
function foreignChanges(now: Hypervisor['status'], before: Hypervisor['status']): string[] {
  const [after, was] = [(now ?? {}) as Fields, (before ?? {}) as Fields]
  const fields = new Set([...Object.keys(after), ...Object.keys(was)])
  const changed = [...fields].filter(
    field => !inLines.has(field) && !agentFields.has(field) && !isDeepStrictEqual(after[field], was[field])
  )
  const conditions = differing(now?.conditions, before?.conditions, ({ type }) => type).filter(
    ({ type }) => !isAgentCondition(type)
  )
  const lines = differing(now?.history, before?.history, ({ id }) => id).filter(({ actor }) => actor !== agentManager)
  return [
    ...changed.map(field => `status.${field}`),
    ...new Set(conditions.map(({ type }) => `status.conditions[${type}]`)),
    ...new Set(lines.map(({ id }) => `status.history[${id}]`))
  ]
}

/** managedFields, version and generation move with every write; the rest of the metadata is not an agent's. */
const bookkeeping: ReadonlySet<string> = new Set(['managedFields', 'resourceVersion', 'generation'])
const lasting = (metadata: Hypervisor['metadata']): Fields =>
  Object.fromEntries(Object.entries(metadata).filter(([field]) => !bookkeeping.has(field)))

const ownNode: HypervisorRule = {
  id: 'HV-14',
  weight: 'refused',
  what: 'A write by an agent to a Hypervisor other than the one named like the node that its token is bound to',
  example: 'the agent of node-a patches the status of node-b',
  fix: 'run the agent as a pod of that node; its token carries the node from Kubernetes 1.30 on',
  check: asked => notItsNode(asked, 'Hypervisor')
}

const ownFields: HypervisorRule = {
  id: 'HV-14',
  weight: 'refused',
  what: 'A write by an agent to anything but its own status fields',
  example: 'the agent of node-a sets spec.maintenance or the condition Ready of node-a',
  fix: 'leave that to the functions',
  check(asked) {
    if (!isAgent(asked)) return []
    const { operation, object, old } = asked
    if (operation !== 'UPDATE' || !old) return [breach('', `an agent may not ${operation.toLowerCase()} a Hypervisor`)]
    const parts = isDeepStrictEqual(object.spec, old.spec) ? [] : ['spec']
    if (!isDeepStrictEqual(lasting(object.metadata), lasting(old.metadata))) parts.push('metadata')
    return [...parts, ...foreignChanges(object.status, old.status)].map(path => breach(path, "is not the agent's to write"))
  }
}

export const identityRules: readonly HypervisorRule[] = [haOnly, terminationOnly]
export const agentRules: readonly HypervisorRule[] = [ownNode, ownFields]
