// HV-48: maintenance that goes through a group of hosts: so many at a time in each zone and aggregate, and none after one that failed. Pure.
import { findCondition, isTrue } from '../../shared/kube/conditions.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'

/** On a host: the roll that took it, by its uid; on the ConfigMap of a roll, as a label: that it is one. */
export const rollMark = 'kvm.cloud.sap/rolling-maintenance'

export interface Roll {
  name: string
  uid: string
  reason: string
  maxUnavailable: number
  /** The operating system that the hosts shall run. Without it whoever does the work clears the maintenance. */
  version: string | undefined
}

export interface Plan {
  start: string[]
  /** Drained, and running what it shall run: the maintenance is over. */
  clear: string[]
  done: string[]
  underWay: string[]
  waiting: string[]
  failed: { host: string; why: string }[]
}

/** A roll from its ConfigMap, or what is wrong with it. */
export function readRoll(name: string, uid: string, data: Record<string, string> = {}): Roll | { problem: string } {
  const { reason = '', maxUnavailable = '1', version } = data
  const limit = Number(maxUnavailable)
  if (!data['selector']) return { problem: 'selector is missing: every host would be meant' }
  if (!Number.isInteger(limit) || limit < 1) return { problem: `maxUnavailable is ${maxUnavailable}, not a number from 1` }
  if (version === 'latest') return { problem: 'version is latest: nobody can tell whether a host runs it, so name one' }
  return { name, uid, reason, maxUnavailable: limit, version: version || undefined }
}

export const reasonOf = ({ name, reason }: Roll): string => `rolling ${name}${reason ? `: ${reason}` : ''}`

const isTaken = ({ metadata }: Hypervisor, { uid }: Roll): boolean => metadata.annotations?.[rollMark] === uid
const isAway = (host: Hypervisor): boolean => !isTrue(host, 'Ready') || Boolean(host.spec.maintenance)
const nameOf = ({ metadata }: Hypervisor): string => metadata.name

function failureOf(host: Hypervisor): string | undefined {
  const evicting = findCondition(host, 'Evicting')
  if (host.spec.maintenance && evicting?.status === 'True' && (evicting.reason === 'Failed' || evicting.reason === 'Blocked'))
    return `it could not be emptied: ${evicting.message || evicting.reason}`
  const update = findCondition(host, 'OperatingSystemUpdate')
  return update?.status === 'False' && host.status?.updateStatus?.retry === 0
    ? 'its operating system could not be updated'
    : undefined
}

const runsWanted = ({ status }: Hypervisor, { version }: Roll): boolean =>
  version !== undefined && status?.operatingSystem?.version === version

const isDrained = (host: Hypervisor): boolean =>
  host.status?.evicted === true && findCondition(host, 'Evicting')?.status === 'False'

/** The groups in which too few hosts may be left: its zone, and each of its aggregates. */
const groupsOf = ({ metadata, status }: Hypervisor): string[] => [
  `zone ${metadata.labels?.['topology.kubernetes.io/zone'] ?? ''}`,
  ...(status?.aggregates ?? []).map(({ name }) => `aggregate ${name}`)
]

/** `all` tells who is away already, also of those that the roll does not mean. */
export function decide(roll: Roll, selected: readonly Hypervisor[], all: readonly Hypervisor[]): Plan {
  const hosts = selected.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const taken = hosts.filter(host => isTaken(host, roll))
  const failed = taken.flatMap(host => {
    const why = failureOf(host)
    return why === undefined ? [] : [{ host: nameOf(host), why }]
  })
  const waiting = hosts.filter(host => !isTaken(host, roll) && !(runsWanted(host, roll) && isTrue(host, 'Ready')))
  const clear = taken.filter(host => host.spec.maintenance === 'auto' && isDrained(host) && runsWanted(host, roll))
  const start = failed.length > 0 ? [] : startable(waiting, all, roll.maxUnavailable)
  const underWay = taken.filter(isAway)
  return {
    start: start.map(nameOf),
    clear: clear.map(nameOf),
    done: hosts.filter(host => !waiting.includes(host) && !underWay.includes(host)).map(nameOf),
    underWay: underWay.map(nameOf),
    waiting: waiting.filter(host => !start.includes(host)).map(nameOf),
    failed
  }
}

function startable(waiting: readonly Hypervisor[], all: readonly Hypervisor[], limit: number): Hypervisor[] {
  const away = new Map<string, number>()
  const leave = (host: Hypervisor): void => groupsOf(host).forEach(group => away.set(group, (away.get(group) ?? 0) + 1))
  all.filter(isAway).forEach(leave)
  return waiting.filter(host => {
    const mayGo = !isAway(host) && groupsOf(host).every(group => (away.get(group) ?? 0) < limit)
    if (mayGo) leave(host)
    return mayGo
  })
}

/** For people: an annotation of the ConfigMap. */
export function sayPlan({ start, done, underWay, waiting, failed }: Plan): string {
  const [first] = failed
  const count = done.length + underWay.length + waiting.length + start.length
  const at = [...underWay, ...start].join(', ')
  const progress = `${done.length} of ${count} done${at ? `, under way: ${at}` : ''}`
  return first ? `stopped by ${first.host}: ${first.why}; ${progress}` : progress
}
