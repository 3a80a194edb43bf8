// The agent's own fields of Hypervisor.status (spec §1.3). Pure. What this process has not learned yet is kept as it was written before: an
// apply that leaves a field out would delete it, and a host whose libvirt is away has not lost its servers (NA-9).
import { conditionSet } from '../../../shared/kube/conditions.ts'
import { agentFacts, isAgentCondition, isUnitCondition } from '../../../shared/schema/hypervisor-agent-fields.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { Domains, Instance } from '../domains.ts'
import type { Known } from '../known.ts'
import { amounts, unplaced } from './amounts.ts'
import { ownHistory } from './history.ts'
import { unitVerdicts } from './units.ts'

type Status = NonNullable<Hypervisor['status']>

export function statusOf(known: Known, live: Hypervisor, now: Date): Partial<Status> {
  const before: Partial<Status> = live.status ?? {}
  const kept = Object.fromEntries(agentFacts.flatMap(name => (before[name] === undefined ? [] : [[name, before[name]]])))
  return {
    ...kept,
    numInstances: before.numInstances ?? 0,
    ...linkFields(known),
    ...(known.domains && instances(known.domains, before.instances)),
    ...(known.link?.host && amounts(known, live.spec?.overcommit ?? {})),
    ...(known.os && { operatingSystem: { ...hardwareOf(before), ...known.os } }),
    ...(known.update && { updateStatus: known.update.status }),
    agent: agentFields(known),
    conditions: conditions(known, live, now),
    ...ownHistory(known, live, now)
  }
}

const ofHardware = [
  'hardwareVendor',
  'hardwareModel',
  'hardwareSerial',
  'firmwareVersion',
  'firmwareVendor',
  'firmwareDate'
] as const

/** While the bus is away hostnamed cannot say it; the machine is the same. */
const hardwareOf = ({ operatingSystem: os = {} }: Partial<Status>) =>
  Object.fromEntries(ofHardware.flatMap(name => (os[name] === undefined ? [] : [[name, os[name]]])))

const linkFields = ({ link }: Known) => ({
  ...(link?.libvirtVersion && { libVirtVersion: link.libvirtVersion }),
  ...(link?.hypervisorVersion && { hypervisorVersion: link.hypervisorVersion }),
  ...(link?.domainCapabilities && { domainCapabilities: link.domainCapabilities })
})

/** Since when a domain is what it is outlives this process in the object: else every restart would make old stops new ones. */
function instances(domains: Domains, told: Status['instances'] = []) {
  const before = new Map(told.map(instance => [instance.id, instance]))
  const list = [...domains.values()].map(instance => entryOf(instance, before.get(instance.id)))
  return { instances: list, numInstances: list.length }
}

type Entry = NonNullable<Status['instances']>[number]

function entryOf({ id, name, active, state, since, already, control }: Instance, before: Entry | undefined): Entry {
  const kept = already && before?.state === state ? before.since : undefined
  return { id, name, active, state, since: kept || since, ...(control && { control }) }
}

export function agentFields(known: Known): NonNullable<Status['agent']> {
  const { version, bootId, lastHeartbeat, sequence, uptimeSeconds, libvirtUri, shutdownBudgetSeconds } = known
  return {
    version,
    bootId,
    lastHeartbeat,
    sequence,
    uptimeSeconds,
    libvirtUri,
    degraded: [...known.problems.values(), ...unplaced(known)].sort(),
    ...(shutdownBudgetSeconds !== undefined && { shutdownBudgetSeconds })
  }
}

function conditions(known: Known, live: Hypervisor, now: Date) {
  const told = [known.connection, known.update?.condition, known.certificate, ...unitVerdicts(known.units)].filter(
    verdict => verdict !== undefined
  )
  const kept = (live.status?.conditions ?? []).filter(
    ({ type }) => isAgentCondition(type) && !isUnitCondition(type) && !told.some(verdict => verdict.type === type)
  )
  return [...conditionSet(live.status?.conditions, told, now, live.metadata?.generation), ...kept].sort((a, b) =>
    a.type < b.type ? -1 : 1
  )
}
