// What is wrong with a host, from its objects as they are now; what only an event can tell is remembered from it. Pure.
import { findCondition } from '../../shared/kube/conditions.ts'
import type { Correlation } from './correlate.ts'
import type { Fleet } from './fleet.ts'
import { iso, ms } from './incident.ts'
import type { Policy } from './policy.ts'
import type { Heard } from './reactions.ts'
import type { Seen, Signal } from './seen.ts'

type Effect = NonNullable<Signal['effect']>

export interface Found {
  kind: string
  object?: string
  sinceMs: number
  /** from when on scheduling is disabled for it; left out: never */
  disableAtMs?: number
  drain?: boolean
  message: string
  count?: number
  times?: string[]
  lastSeen?: string
}

/** All signals of the host; the order is fixed (HV-7). */
export function signalsOf(seen: Seen, correlations: readonly Correlation[], nowMs: number): Signal[] {
  const found = [
    ...network(seen, nowMs),
    ...libvirtAndAgent(seen, nowMs),
    ...node(seen),
    ...remembered(seen, nowMs),
    ...correlated(seen, correlations, nowMs)
  ]
  return found.map(one => signal(one, nowMs)).sort((a, b) => key(a).localeCompare(key(b), 'en'))
}

const key = ({ kind, object = '' }: Signal): string => `${kind}/${object}`

function signal({ sinceMs, disableAtMs, drain = false, ...rest }: Found, nowMs: number): Signal {
  const due = disableAtMs !== undefined && nowMs >= disableAtMs
  const effect: Effect = due ? (drain ? 'drain' : 'disable') : 'alert'
  return { ...rest, since: iso(sinceMs), effect, ...(disableAtMs !== undefined && { dueAt: iso(disableAtMs) }) }
}

type Issue = NonNullable<NonNullable<NonNullable<Seen['ovsNode']>['status']>['issues']>[number]

/** What the OVS agent says now. While it is silent, what it last said stands: what nobody knows changes nothing. */
function network({ ovsNode, fleet, policy, hypervisor }: Seen, nowMs: number): Found[] {
  const issues = ovsNode?.status?.issues ?? []
  const lost = issues.filter(({ type }) => type === 'BondDown').map(({ object = '' }) => object)
  const found = issues.flatMap(issue => ofIssue(issue, lost, policy, nowMs))
  const silent = findCondition(ovsNode, 'Ready')?.reason === 'AgentSilent'
  const quiet: Found[] = silent
    ? [
        {
          kind: 'OvsAgentLost',
          sinceMs: ms(ovsNode?.status?.observedAt) || nowMs,
          message: 'The OVS agent is silent; what it last said is not news.'
        }
      ]
    : []
  return [...found.map(one => fleetRule(one, hypervisor.metadata.name, fleet, policy)), ...quiet]
}

function ofIssue(
  { type, object = '', message, detectedAt }: Issue,
  lost: readonly string[],
  policy: Policy,
  nowMs: number
): Found[] {
  const sinceMs = ms(detectedAt) || nowMs
  const about = { object, sinceMs }
  const { network: rules } = policy
  switch (type) {
    case 'BondMemberDown':
    case 'LacpNotCurrent':
      return [{ kind: 'NetworkDegraded', ...about, message: `${message} The host still works: it is not drained.` }]
    case 'BondDown':
      return [bond(object, sinceMs, lost, rules)]
    case 'BridgeMissing':
      return [outage('BridgeLost', about, message, rules)]
    case 'VswitchdLost':
      return [outage('VswitchdLost', about, message, rules)]
    case 'OvsdbLost':
      return [outage('OvsdbLost', about, message, rules)]
    case 'OvnControllerDisconnected':
      return [
        {
          kind: 'OvnDisconnected',
          ...about,
          disableAtMs: sinceMs + rules.ovnSeconds * 1000,
          message: `${message} Flows stay: it is never drained for this.`
        }
      ]
    case 'FlowsFrozen':
    case 'FlowsLagging':
    case 'FlowsWiped':
      return [{ kind: 'FlowsOutdated', ...about, message }]
    case 'LinkFlapping':
      return [{ kind: 'LinkFlapping', ...about, message }]
    default:
      return []
  }
}

const outage = (kind: string, about: { object: string; sinceMs: number }, message: string, rules: Policy['network']): Found => ({
  kind,
  ...about,
  disableAtMs: about.sinceMs + rules.bridgeSeconds * 1000,
  drain: rules.bridgeDrain,
  message
})

function bond(object: string, sinceMs: number, lost: readonly string[], rules: Policy['network']): Found {
  const about = { kind: 'BondLost', object, sinceMs }
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

function libvirtAndAgent({ hypervisor, policy }: Seen, nowMs: number): Found[] {
  const found: Found[] = []
  const link = findCondition(hypervisor, 'LibVirtConnection')
  if (link && link.status !== 'True') {
    const sinceMs = ms(link.lastTransitionTime) || nowMs
    found.push({
      kind: 'LibvirtLost',
      sinceMs,
      disableAtMs: sinceMs + policy.host.libvirtSeconds * 1000,
      message: `${link.message} Servers keep running: nothing is done to them, and the host is never fenced for this.`
    })
  }
  const last = hypervisor.status?.agent?.lastHeartbeat
  if (last !== undefined && nowMs - ms(last) > policy.host.agentSeconds * 1000)
    found.push({
      kind: 'AgentSilent',
      sinceMs: ms(last),
      message: 'The agent of the host is silent: one channel of several. Alert only.'
    })
  return found
}

function node({ node, policy }: Seen): Found[] {
  if (!node) return []
  const found: Found[] = []
  if (node.ready === false)
    found.push({ kind: 'NodeNotReady', sinceMs: ms(node.since), message: 'The node is not ready: a slow sign, alert only.' })
  if (node.pressure) {
    const sinceMs = ms(node.pressure.since)
    found.push({
      kind: 'NodePressure',
      object: node.pressure.type,
      sinceMs,
      ...(policy.host.pressure && { disableAtMs: sinceMs }),
      message: `The node is under ${node.pressure.type}: it takes no new servers.`
    })
  }
  return found
}

/** Only an event tells these: they are kept in the status until they are over. */
function remembered({ hypervisor, heard, policy }: Seen, nowMs: number): Found[] {
  const before = hypervisor.status?.ha?.signals ?? []
  const told = heard.filter(one => one.about === 'host')
  return [
    ...shutdown(before, told, hypervisor.status?.agent?.bootId),
    ...memory(before, told, policy, nowMs),
    ...kernel(before, told, nowMs)
  ]
}

type ToldOfHost = Extract<Heard, { about: 'host' }>

/** Ends when it is called off, or when the host has booted anew. */
function shutdown(before: readonly Signal[], told: readonly ToldOfHost[], bootId: string | undefined): Found[] {
  const known = before.find(({ kind }) => kind === 'ShutdownRequested')
  let atMs = known && { at: ms(known.since), boot: known.object ?? '' }
  for (const one of told) {
    if (one.kind === 'ShutdownRequested' && one.atMs >= (atMs?.at ?? 0)) atMs = { at: one.atMs, boot: one.bootId }
    if (one.kind === 'ShutdownCancelled' && one.atMs >= (atMs?.at ?? 0)) atMs = undefined
  }
  if (!atMs || (bootId !== undefined && bootId !== atMs.boot)) return []
  return [
    {
      kind: 'ShutdownRequested',
      object: atMs.boot,
      sinceMs: atMs.at,
      message: 'The host was asked to shut down: it is drained within its budget, and stops by the host belong to it.'
    }
  ]
}

function memory(before: readonly Signal[], told: readonly ToldOfHost[], { memory: rules }: Policy, nowMs: number): Found[] {
  const known = before.find(({ kind }) => kind === 'MemoryFailing')
  const fresh = told.filter(one => one.kind === 'MemoryFailing')
  const times = [...new Set([...(known?.times ?? []), ...fresh.map(({ atMs }) => iso(atMs))])]
    .filter(at => ms(at) > nowMs - rules.windowSeconds * 1000)
    .sort()
    .slice(-20)
  const fatal = fresh.find(one => one.fatal)
  // once it is enough it stays enough: a module does not heal
  const was = known?.dueAt !== undefined
  const last = times.at(-1) ?? known?.lastSeen
  if (last === undefined) return []
  if (times.length === 0 && !was) return []
  const enough = was || fatal !== undefined || times.length >= rules.failures
  const sinceMs = known?.since ? ms(known.since) : ms(times[0])
  return [
    {
      kind: 'MemoryFailing',
      sinceMs,
      count: times.length,
      times,
      lastSeen: last,
      ...(enough && { disableAtMs: ms(was ? known?.dueAt : last), drain: rules.drain }),
      message: enough
        ? `Memory of the host fails (${times.length} in ${rules.windowSeconds} s${fatal ? ', one fatal' : ''}): it is alive, so it is emptied in time.`
        : `${times.length} of ${rules.failures} memory failures that are needed within ${rules.windowSeconds} s.`
    }
  ]
}

const kernelMs = 3_600_000

function kernel(before: readonly Signal[], told: readonly ToldOfHost[], nowMs: number): Found[] {
  const known = before.find(({ kind }) => kind === 'KernelCrashed')
  const atMs = Math.max(ms(known?.since) || 0, ...told.filter(({ kind }) => kind === 'KernelCrashed').map(one => one.atMs))
  if (atMs === 0 || nowMs - atMs > kernelMs) return []
  return [{ kind: 'KernelCrashed', sinceMs: atMs, message: 'A kernel dump of this host was found.' }]
}

const suspicion: Readonly<Record<string, string>> = {
  host: 'HostSuspect',
  several: 'SeveralHosts',
  fleet: 'FleetFault',
  'host-storage': 'StorageSuspect',
  storage: 'StorageOutage'
}

/** A suspicion holds until it has been calm for a while: the faults that led to it are soon too old to be counted. */
function correlated({ hypervisor, policy }: Seen, correlations: readonly Correlation[], nowMs: number): Found[] {
  const calmMs = policy.correlation.calmSeconds * 1000
  const before = (hypervisor.status?.ha?.signals ?? []).filter(
    ({ kind, lastSeen }) => Object.values(suspicion).includes(kind) && nowMs - ms(lastSeen) < calmMs
  )
  const now = correlations.flatMap(({ kind, verdict, words, servers }) => {
    const is = suspicion[verdict]
    return is === undefined ? [] : [{ kind: is, object: kind, words, count: servers.length }]
  })
  const all = new Map(before.map(one => [key(one), one]))
  const found = now.map(({ kind, object, words, count }) => {
    const known = all.get(`${kind}/${object}`)
    // what is now known to be larger is no longer taken for the host alone
    for (const other of Object.values(suspicion)) all.delete(`${other}/${object}`)
    return { kind, object, count, message: words, sinceMs: ms(known?.since) || nowMs, lastSeen: iso(nowMs) }
  })
  const kept = [...all.values()].map(({ kind, object = '', count = 0, message = '', since, lastSeen = '' }) => ({
    kind,
    object,
    count,
    message,
    sinceMs: ms(since),
    lastSeen
  }))
  const { drain, drainStorage, settleSeconds } = policy.correlation
  const answer = (one: Found): Found => {
    const disableAtMs = one.sinceMs + settleSeconds * 1000
    if (one.kind === 'HostSuspect') return { ...one, disableAtMs, drain }
    if (one.kind === 'StorageSuspect') return { ...one, disableAtMs, drain: drainStorage }
    return one
  }
  return [...found, ...kept].map(answer)
}
