// Whether faults of many servers are one fault: of the host, of the storage, of the fleet (HA-15, HA-16). Pure.
import type { Fault, Fleet, FleetHost } from './fleet.ts'
import type { Policy } from './policy.ts'
import { mayBeShared } from './storage.ts'

export type Verdict =
  /** nothing that servers have in common */
  | 'single'
  | 'host'
  /** too many hosts for one, too few for all */
  | 'several'
  | 'fleet'
  | 'host-storage'
  | 'storage'

export interface Correlation {
  kind: string
  verdict: Verdict
  servers: readonly string[]
  hosts: readonly string[]
  words: string
}

/** Those whose row of the table counts for the host. A stop that somebody asked for, as with the shutdown of the host, is none. */
const correlated = new Set(['crashed', 'apiError', 'watchdog', 'disk', 'controlLost'])

/** Of each kind of fault that this host has at the moment. `self` is as it is now, the fleet as it was a moment ago. */
export function correlate(self: FleetHost, fleet: Fleet, policy: Policy, nowMs: number): Correlation[] {
  const recent = ({ atMs }: Fault): boolean => Math.abs(nowMs - atMs) <= policy.correlation.windowSeconds * 1000
  const mine = self.faults.filter(recent)
  const others = fleet.filter(({ name }) => name !== self.name)
  const kinds = [...new Set(mine.map(({ kind }) => kind))].filter(kind => correlated.has(kind)).sort()
  return kinds.map(kind => {
    const servers = [...new Set(mine.filter(fault => fault.kind === kind).map(({ server }) => server))].sort()
    const judge = kind === 'disk' ? ofDisks : ofServers
    const { verdict, hosts, words } = judge({ kind, servers, self, others, recent, policy })
    return { kind, servers, verdict, hosts: [self.name, ...hosts].sort(), words }
  })
}

/** Whether it is worth while to ask for the others. */
export const mayCorrelate = (self: FleetHost, policy: Policy, nowMs: number): boolean =>
  correlate(self, [], policy, nowMs).some(({ verdict }) => verdict !== 'single')

interface Case {
  kind: string
  servers: readonly string[]
  self: FleetHost
  others: Fleet
  recent: (fault: Fault) => boolean
  policy: Policy
}

interface Found {
  verdict: Verdict
  hosts: string[]
  words: string
}

function ofServers({ kind, servers, self, others, recent, policy: { correlation } }: Case): Found {
  const isClustered = (count: number, domains: number): boolean =>
    count >= correlation.vms && count * 100 >= correlation.percent * domains
  const mine = `${servers.length} of ${self.domains} servers ${kind} within ${correlation.windowSeconds} s`
  if (!isClustered(servers.length, self.domains))
    return {
      verdict: 'single',
      hosts: [],
      words: `${mine}: fewer than ${correlation.vms} or than ${correlation.percent} % of the host`
    }
  const hosts = others
    .filter(({ faults, domains }) => {
      const same = new Set(faults.filter(fault => fault.kind === kind && recent(fault)).map(({ server }) => server))
      return isClustered(same.size, domains)
    })
    .map(({ name }) => name)
  if (hosts.length === 0) return { verdict: 'host', hosts, words: `${mine}, all other hosts are quiet` }
  const all = hosts.length + 1
  if (all > correlation.hosts)
    return { verdict: 'fleet', hosts, words: `${mine}, and so on ${hosts.length} other hosts: more than ${correlation.hosts}` }
  return {
    verdict: 'several',
    hosts,
    words: `${mine}, and so on ${hosts.length} other hosts: no longer one host, not yet the fleet`
  }
}

function ofDisks({ servers, self, others, recent, policy: { correlation } }: Case): Found {
  const disks = self.faults.filter(fault => fault.kind === 'disk' && recent(fault))
  const mine = `I/O errors on ${servers.length} servers within ${correlation.windowSeconds} s`
  if (servers.length < correlation.vms) return { verdict: 'single', hosts: [], words: `${mine}: fewer than ${correlation.vms}` }
  const mounts = new Set(disks.map(({ storage }) => storage ?? '').filter(mayBeShared))
  const isSame = ({ kind, storage = '', ...fault }: Fault): boolean =>
    kind === 'disk' &&
    recent({ kind, storage, ...fault }) &&
    mayBeShared(storage) &&
    (mounts.has(storage) || mounts.has('') || storage === '') && // what nobody can tell apart counts as the same
    mounts.size > 0
  const hosts = others.filter(({ faults }) => faults.some(isSame)).map(({ name }) => name)
  return hosts.length === 0
    ? { verdict: 'host-storage', hosts, words: `${mine}, no other host has any on the same storage` }
    : {
        verdict: 'storage',
        hosts,
        words: `${mine}, and on ${hosts.length} other hosts of the same storage: moving would not help`
      }
}
