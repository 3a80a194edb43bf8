// What the faults of many servers at once say of their host, as long as it is remembered (HA-15, HA-16). Pure.
import type { Correlation } from '../correlate.ts'
import { iso, ms } from '../incident.ts'
import type { Seen } from '../seen.ts'
import { keyOf, type Found } from './found.ts'

const suspicion: Readonly<Record<string, string>> = {
  host: 'HostSuspect',
  several: 'SeveralHosts',
  fleet: 'FleetFault',
  'host-storage': 'StorageSuspect',
  storage: 'StorageOutage'
}

/**
 * A suspicion holds until it has been calm for a while: the faults that led to it are soon too old to be counted. One that has not settled
 * yet goes with them: they were looked at, and were none.
 */
export function ofCorrelations({ hypervisor, policy }: Seen, correlations: readonly Correlation[], nowMs: number): Found[] {
  const { drain, drainStorage, settleSeconds, calmSeconds } = policy.correlation
  const before = (hypervisor.status?.ha?.signals ?? []).filter(
    ({ kind, lastSeen }) => Object.values(suspicion).includes(kind) && nowMs - ms(lastSeen) < calmSeconds * 1000
  )
  const now = correlations.flatMap(({ kind, verdict, words, servers }) => {
    const is = suspicion[verdict]
    return is === undefined ? [] : [{ kind: is, object: kind, words, count: servers.length }]
  })
  const all = new Map(before.map(one => [keyOf(one), one]))
  const found = now.map(({ kind, object, words, count }) => {
    const known = all.get(`${kind}/${object}`)
    // what is now known to be larger is no longer taken for the host alone
    for (const other of Object.values(suspicion)) all.delete(`${other}/${object}`)
    return { kind, object, count, message: words, sinceMs: ms(known?.since) || nowMs, lastSeen: iso(nowMs) }
  })
  const settled = [...all.values()].filter(({ since }) => nowMs - ms(since) >= settleSeconds * 1000)
  const kept = settled.map(({ kind, object = '', count = 0, message = '', since, lastSeen = '' }) => ({
    kind,
    object,
    count,
    message,
    sinceMs: ms(since),
    lastSeen
  }))
  const answer = (one: Found): Found => {
    const disableAtMs = one.sinceMs + settleSeconds * 1000
    if (one.kind === 'HostSuspect') return { ...one, disableAtMs, drain }
    if (one.kind === 'StorageSuspect') return { ...one, disableAtMs, drain: drainStorage }
    return one
  }
  return [...found, ...kept].map(answer)
}
