// What the network of a host asks for (AG-14, spec/ha.md §2): from the issues of its OVSNode as they are now. Pure.
import { findCondition } from '../../../shared/kube/conditions.ts'
import type { Fleet } from '../fleet.ts'
import type { Policy } from '../policy.ts'
import type { Seen } from '../seen.ts'
import { sinceOf, type Found } from './found.ts'

type Issue = NonNullable<NonNullable<NonNullable<Seen['ovsNode']>['status']>['issues']>[number]

/** Which of the OVS agent's words for an issue is which signal here; the others are none. */
const kinds: Readonly<Record<string, string>> = {
  BondMemberDown: 'NetworkDegraded',
  LacpNotCurrent: 'NetworkDegraded',
  BondDown: 'BondLost',
  BridgeMissing: 'BridgeLost',
  VswitchdLost: 'VswitchdLost',
  OvsdbLost: 'OvsdbLost',
  OvnControllerDisconnected: 'OvnDisconnected',
  FlowsFrozen: 'FlowsOutdated',
  FlowsLagging: 'FlowsOutdated',
  FlowsWiped: 'FlowsOutdated',
  LinkFlapping: 'LinkFlapping'
}

/** What the OVS agent says now. While it is silent, what it last said stands: what nobody knows changes nothing. */
export function ofNetwork(seen: Seen, nowMs: number): Found[] {
  const { ovsNode, fleet, policy, hypervisor } = seen
  const issues = ovsNode?.status?.issues ?? []
  const lost = issues.filter(({ type }) => type === 'BondDown').map(({ object = '' }) => object)
  const found = issues.flatMap(issue => ofIssue(seen, issue, lost, nowMs))
  const silent = findCondition(ovsNode, 'Ready')?.reason === 'AgentSilent'
  const quiet: Found[] = silent
    ? [
        {
          kind: 'OvsAgentLost',
          sinceMs: sinceOf(seen, { kind: 'OvsAgentLost' }, ovsNode?.status?.observedAt, nowMs),
          message: 'The OVS agent is silent; what it last said is not news.'
        }
      ]
    : []
  return [...found.map(one => fleetRule(one, hypervisor.metadata.name, fleet, policy)), ...quiet]
}

function ofIssue(
  seen: Seen,
  { type = '', object = '', message, detectedAt }: Issue,
  lost: readonly string[],
  nowMs: number
): Found[] {
  const kind = kinds[type]
  if (kind === undefined) return []
  const about = { object, sinceMs: sinceOf(seen, { kind, object }, detectedAt, nowMs) }
  const { network: rules } = seen.policy
  switch (kind) {
    case 'NetworkDegraded': {
      const works = lost.includes(object.split('/')[0] ?? '') ? '' : ' The host still works: it is not drained.'
      return [{ kind, ...about, message: `${message}${works}` }]
    }
    case 'BondLost':
      return [bond(about, lost, rules)]
    case 'OvnDisconnected': {
      const disableAtMs = about.sinceMs + rules.ovnSeconds * 1000
      return [{ kind, ...about, disableAtMs, message: `${message} Flows stay: it is never drained for this.` }]
    }
    case 'FlowsOutdated':
    case 'LinkFlapping':
      return [{ kind, ...about, message }]
    default:
      return [outage(kind, about, message, rules)]
  }
}

const outage = (kind: string, about: { object: string; sinceMs: number }, message: string, rules: Policy['network']): Found => ({
  kind,
  ...about,
  disableAtMs: about.sinceMs + rules.bridgeSeconds * 1000,
  drain: rules.bridgeDrain,
  message
})

function bond(given: { object: string; sinceMs: number }, lost: readonly string[], rules: Policy['network']): Found {
  const about = { kind: 'BondLost', ...given }
  const { object, sinceMs } = given
  if (rules.managementBonds.includes(object))
    return { ...about, message: `Bond ${object} of the management network has no usable member: alert only.` }
  const migrationKnown = rules.migrationBonds.length > 0
  const migrationWorks = migrationKnown && !rules.migrationBonds.some(name => lost.includes(name))
  const why = !rules.bondDrain
    ? 'The policy does not drain.'
    : !migrationKnown
      ? 'It is not known which bonds migration needs: not drained.'
      : migrationWorks
        ? 'The migration network works: drained.'
        : 'The migration network is lost too: a drain could not work.'
  return {
    ...about,
    disableAtMs: sinceMs + rules.bondSeconds * 1000,
    drain: rules.bondDrain && migrationWorks,
    message: `Bond ${object} has no usable member. ${why}`
  }
}

/** The same on many hosts is a fault of the control plane: to disable them all would help nobody. */
function fleetRule(found: Found, host: string, fleet: Fleet, { network: { fleetPercent, fleetHosts } }: Policy): Found {
  if (found.kind !== 'OvnDisconnected') return found
  const affected = fleet.filter(({ name, signals }) => name !== host && signals.includes(found.kind)).length + 1
  const total = Math.max(fleet.length, 1)
  if (affected < fleetHosts || affected * 100 <= fleetPercent * total) return found
  const { disableAtMs: _, ...rest } = found
  return {
    ...rest,
    message: `${found.message} So on ${affected} of ${total} hosts, more than ${fleetPercent} %: the control plane is at fault, alert only.`
  }
}
