// Several processes may look after one Eviction. Pure.
import type { Entry, Status } from './seen.ts'

const superseded = new Set<Entry['state']>(['Waiting'])

/**
 * What another process has written meanwhile, with what this one did: that Nova was asked, and what it answered, is a fact. What this one concluded is
 * not, since it looked before the other: above all not that the host is empty.
 */
export function withFacts(newer: Status, own: Status, acted: ReadonlySet<string>): Status {
  const facts = new Map((own.instances ?? []).filter(({ id }) => acted.has(id)).map(entry => [entry.id, entry]))
  if (facts.size === 0) return newer
  const instances = (newer.instances ?? []).map(entry => (superseded.has(entry.state) ? (facts.get(entry.id) ?? entry) : entry))
  return { ...newer, instances }
}
